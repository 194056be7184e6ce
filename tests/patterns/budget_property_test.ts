import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Budget, createLedger, KitError, LlmError, type Usage } from "../../src/llm/mod.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { mapReduce } from "../../src/patterns/map_reduce.ts";
import type { PatternOptions } from "../../src/patterns/options.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { structured } from "../../src/patterns/structured.ts";
import { manualPorts, MockProvider, type MockReply } from "../../src/testing/mod.ts";

/** What an endpoint may do with a request. An honest one keeps to `maxTokens`. */
const behaviours = fc.array(
  fc.record({
    kind: fc.constantFrom("answer", "answer", "answer", "silent", "refuse", "retry", "hang"),
    delayMs: fc.integer({ min: 0, max: 50 }),
    wanted: fc.integer({ min: 0, max: 80 }),
  }),
  { minLength: 1, maxLength: 12 },
);
type Behaviour = Parameters<Parameters<typeof behaviours.map>[0]>[0][number];

const budgets = fc.record({
  maxCalls: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
  maxOutputTokens: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
  maxInputTokens: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
  maxTokens: fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
}, { requiredKeys: [] });

function reply(behaviour: Behaviour): MockReply {
  const { kind, delayMs, wanted } = behaviour;
  return ({ options, messages }) => {
    const outputTokens = Math.min(wanted, options.maxTokens ?? 0);
    const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
    switch (kind) {
      case "answer":
        return { content: '{"a":1}', delayMs, usage: { inputTokens, outputTokens } };
      case "silent":
        return { content: '{"a":1}', delayMs, usage: { known: false } };
      case "refuse":
        return {
          delayMs,
          error: new LlmError("bad_request", "HTTP 400", { details: { status: 400 } }),
        };
      case "retry":
        return {
          delayMs,
          error: new LlmError("server", "HTTP 500", { retryable: true, details: { status: 500 } }),
        };
      default:
        return { delayMs: 1_000_000 };
    }
  };
}

const runs: Record<
  string,
  (model: MockProvider, options: PatternOptions) => Promise<{ usage: Usage }>
> = {
  consensus: (model, options) => consensus(model, "Q?", { ...options, numSamples: 4 }),
  structured: (model, options) => structured(model, "Q?", options),
  mapReduce: (model, options) =>
    mapReduce(model, ["a", "b", "c"], {
      ...options,
      mapPrompt: "{item}",
      reducePrompt: "{mapped_outputs}",
      onItemError: "skip",
    }),
  pipe: (model, options) =>
    pipe(model, "Q?", {
      ...options,
      steps: [
        {
          run: (context, input) =>
            consensus(context.provider, input, { ...context.options, numSamples: 2 }),
        },
        { run: (context, input) => structured(context.provider, input, context.options) },
      ],
    }),
};

function present(budget: { [Field in keyof Budget]?: number | undefined }): Budget {
  return Object.fromEntries(Object.entries(budget).filter(([, cap]) => cap !== undefined));
}

function within(spent: Usage, budget: Budget): boolean {
  const { inputTokens, outputTokens, llmCalls } = spent;
  return llmCalls <= (budget.maxCalls ?? Infinity) &&
    inputTokens <= (budget.maxInputTokens ?? Infinity) &&
    outputTokens <= (budget.maxOutputTokens ?? Infinity) &&
    inputTokens + outputTokens <= (budget.maxTokens ?? Infinity);
}

for (const [name, run] of Object.entries(runs)) {
  Deno.test(`W2 ${name}() never passes a cap and always tells what it spent, whatever happens`, async () => {
    await fc.assert(
      fc.asyncProperty(
        behaviours,
        budgets,
        fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined }),
        fc.integer({ min: 1, max: 1000 }),
        async (script, caps, abortAfterMs, seed) => {
          const ports = manualPorts({ seed });
          const budget = present(caps);
          const ledger = createLedger(budget, { clock: ports.clock });
          const model = new MockProvider(script.map(reply), { clock: ports.clock, cycle: true });
          const controller = new AbortController();
          const options: PatternOptions = {
            ports,
            ledger,
            maxTokens: 60,
            retry: { maxAttempts: 2, baseDelayMs: 10 },
            signal: controller.signal,
            deadlineMs: 2000,
          };
          if (abortAfterMs !== undefined) {
            void ports.clock.sleep(abortAfterMs).then(() => controller.abort());
          }
          const told = await ports.clock.run(
            run(model, options).then(({ usage }) => usage, (error) => {
              assert(error instanceof KitError, String(error));
              return error.usage;
            }),
          );
          assert(within(ledger.spent, budget), JSON.stringify([ledger.spent, budget]));
          assert(!ledger.overBudget);
          assertEquals(told, ledger.spent);
          assertEquals(ledger.spent.llmCalls, model.callCount);
          assertEquals(ledger.outstanding.llmCalls, 0);
          assertEquals(model.inFlight, 0);
        },
      ),
      { numRuns: 60 },
    );
  });
}
