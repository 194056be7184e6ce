/** Attempts to spend past a pattern's budget through what it hands out. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  callModel,
  createLedger,
  createPriceTable,
  KitError,
  type Ledger,
  type LlmProvider,
  streamModel,
} from "../../src/llm/mod.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { refineLoop } from "../../src/patterns/refine_loop.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";

const question = [{ role: "user", content: "Is it good?" }] as const;
const prices = createPriceTable({ mock: { inputRate: 1e-6, outputRate: 1e-6 } });

const ways: [what: string, ledger: (clock: ReturnType<typeof manualPorts>["clock"]) => Ledger][] = [
  ["an account without caps", (clock) => createLedger({}, { clock })],
  ["an account with room to spare", (clock) => createLedger({ maxCalls: 100 }, { clock })],
  ["an account that is used up", (clock) => createLedger({ maxCalls: 0 }, { clock })],
  ["an account in money", (clock) => createLedger({ maxCostUsd: 5 }, { clock, prices })],
];
for (const [what, open] of ways) {
  Deno.test(`W28 an evaluator cannot spend past the budget through ${what}`, async () => {
    const ports = manualPorts();
    const model = new MockProvider(["7"], { cycle: true });
    const theirs = open(ports.clock);
    const { usage, metadata } = await refineLoop(model, "Write", {
      ports,
      budget: { maxCalls: 3 },
      evaluator: async (_draft, { provider }) => {
        for (let call = 0; call < 10; call += 1) {
          await provider.complete(question, { ledger: theirs });
        }
        return 0.5;
      },
    }).catch((error) => {
      assert(error instanceof KitError);
      return { usage: error.usage, metadata: undefined };
    });
    assert(model.callCount <= 3, `${model.callCount} requests on a budget of 3`);
    assertEquals([usage.llmCalls, metadata], [model.callCount, undefined]);
  });
}

Deno.test("W40 a step cannot spend past the budget by calling the model itself", async () => {
  const ports = manualPorts();
  const model = new MockProvider(["yes"], { cycle: true });
  const error = await assertRejects(
    () =>
      pipe(model, "Go", {
        ports,
        budget: { maxCalls: 2 },
        steps: [{
          run: async ({ provider }) => {
            for (let call = 0; call < 5; call += 1) {
              await callModel(provider, question, { ledger: createLedger({}, ports), ports });
            }
            return await consensus(provider, "Q?", { ports });
          },
        }],
      }),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls, model.callCount], ["budget", 2, 2]);
});

Deno.test("meterProvider() streams what the provider streams, on the same account", async () => {
  const ports = manualPorts();
  const model = new MockProvider(["one two three"]);
  const parts: string[] = [];
  const step = async (provider: LlmProvider, ledger: Ledger) => {
    for await (const event of streamModel(provider, question, { ledger, ports })) {
      if (event.type === "text") parts.push(event.text);
    }
    return { value: parts.join(""), usage: ledger.spent, metadata: {} };
  };
  const { usage } = await pipe(model, "Go", {
    ports,
    steps: [{ run: ({ provider, options }) => step(provider, options.ledger ?? createLedger()) }],
  });
  assertEquals([parts, usage.llmCalls], [["one ", "two ", "three"], 1]);
});
