/** Whatever parallel work does with a tree of ledgers: no cap is passed, and everything is reported. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createLedger } from "../../src/llm/create_ledger.ts";
import { KitError } from "../../src/llm/errors.ts";
import type { Budget, Ledger, Reservation } from "../../src/llm/ledger.ts";
import { sumUsage, totalTokens, type Usage } from "../../src/llm/usage.ts";

const budget: fc.Arbitrary<Budget> = fc.record({
  maxCalls: fc.nat(12),
  maxInputTokens: fc.nat(200),
  maxOutputTokens: fc.nat(200),
  maxTokens: fc.nat(300),
}, { requiredKeys: [] });

const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom("reserve" as const, "acquire" as const, "acquire-abort" as const),
    ledger: fc.nat(4),
    inputTokens: fc.nat(40),
    outputTokens: fc.nat(60),
  }),
  fc.record({
    kind: fc.constantFrom(
      "settle" as const,
      "settle-unknown" as const,
      "refuse" as const,
      "abandon" as const,
      "release" as const,
    ),
    which: fc.nat(20),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);

interface Held {
  readonly reservation: Reservation;
  readonly ledger: number;
  readonly inputTokens: number;
}

/** Root, two children, a grandchild of each. */
function tree(budgets: readonly Budget[]): readonly Ledger[] {
  const root = createLedger(budgets[0]);
  const left = root.child(budgets[1]);
  const right = root.child(budgets[2]);
  return [root, left, right, left.child(budgets[3]), right.child(budgets[4])];
}

const PARENTS: readonly (number | undefined)[] = [undefined, 0, 0, 1, 2];

function passes(cap: number | undefined, amount: number): boolean {
  return cap === undefined || amount <= cap;
}

function checkCaps(ledgers: readonly Ledger[], budgets: readonly Budget[]): void {
  ledgers.forEach((ledger, index) => {
    const caps = budgets[index] ?? {};
    const both = sumUsage([ledger.spent, ledger.outstanding]);
    assertEquals(
      [
        passes(caps.maxCalls, both.llmCalls),
        passes(caps.maxInputTokens, both.inputTokens),
        passes(caps.maxOutputTokens, both.outputTokens),
        passes(caps.maxTokens, totalTokens(both)),
      ],
      [true, true, true, true],
    );
  });
}

async function play(
  budgets: readonly Budget[],
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
): Promise<void> {
  const ledgers = tree(budgets);
  const held: Held[] = [];
  const charged: [ledger: number, usage: Usage][] = [];
  const waiting: Promise<void>[] = [];
  const controllers: AbortController[] = [];
  for (const one of steps) {
    if ("ledger" in one) {
      const ledger = ledgers[one.ledger];
      if (ledger === undefined) continue;
      const keep = (reservation: Reservation): void => {
        held.push({ reservation, ledger: one.ledger, inputTokens: one.inputTokens });
      };
      if (one.kind === "reserve") {
        try {
          keep(ledger.reserve(one));
        } catch (error) {
          assertEquals(error instanceof KitError && error.code, "budget");
        }
      } else {
        const controller = new AbortController();
        controllers.push(controller);
        waiting.push(
          ledger.acquire(one, { signal: controller.signal }).then(keep, (error) => {
            assert(error instanceof KitError && ["budget", "aborted"].includes(error.code));
          }),
        );
        if (one.kind === "acquire-abort") controller.abort();
      }
    } else {
      const [ended] = held.splice(one.which % Math.max(1, held.length), 1);
      if (ended !== undefined) charged.push([ended.ledger, end(ended, one)]);
    }
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    checkCaps(ledgers, budgets);
  }
  for (const { reservation } of held) reservation.release();
  for (const controller of controllers) controller.abort();
  await Promise.all(waiting);
  for (const { reservation } of held) reservation.release();
  ledgers.forEach((ledger, index) => {
    const below = charged.filter(([from]) => isBelow(from, index)).map(([, usage]) => usage);
    assertEquals(ledger.spent, sumUsage(below));
    assertEquals(ledger.outstanding.llmCalls, 0);
  });
}

function isBelow(index: number | undefined, above: number): boolean {
  if (index === undefined) return false;
  return index === above || isBelow(PARENTS[index], above);
}

function end(
  { reservation, inputTokens }: Held,
  how: { readonly kind: string; readonly share: number },
): Usage {
  const { outputTokens } = reservation;
  const estimate = {
    inputTokens,
    outputTokens,
    llmCalls: 1,
    uncertainTokens: inputTokens + outputTokens,
  };
  const nothing = { inputTokens: 0, outputTokens: 0, llmCalls: 0, uncertainTokens: 0 };
  switch (how.kind) {
    case "settle": {
      const actual = {
        inputTokens: Math.floor(inputTokens * how.share),
        outputTokens: Math.floor(outputTokens * how.share),
      };
      reservation.settle(actual);
      return { ...actual, llmCalls: 1, uncertainTokens: 0 };
    }
    case "settle-unknown":
      reservation.settle();
      return estimate;
    case "abandon":
      reservation.abandon();
      return estimate;
    case "refuse":
      reservation.refuse();
      return { ...nothing, llmCalls: 1 };
    default:
      reservation.release();
      return nothing;
  }
}

Deno.test("a ledger is never over a cap and reports everything, in any interleaving", async () => {
  const budgets = fc.array(budget, { minLength: 5, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(budgets, fc.array(step, { maxLength: 40 }), play),
    { numRuns: 300 },
  );
});
