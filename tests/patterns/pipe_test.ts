import { assert, assertEquals, assertRejects } from "@std/assert";
import { KitError, LlmError } from "../../src/llm/mod.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import type { PatternOptions } from "../../src/patterns/options.ts";
import { pipe, type PipeStep } from "../../src/patterns/pipe.ts";
import { structured } from "../../src/patterns/structured.ts";
import { manualPorts, MockProvider, type MockReply } from "../../src/testing/mod.ts";

async function run(
  script: readonly MockReply[],
  steps: readonly PipeStep[],
  options: PatternOptions = {},
) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  return { model, result: await ports.clock.run(pipe(model, "in", { steps, ports, ...options })) };
}

function vote(numSamples: number): PipeStep {
  return {
    run: ({ provider, options }, input) => consensus(provider, input, { ...options, numSamples }),
  };
}

Deno.test("pipe() hands each value on and adds up the spending", async () => {
  const { result, model } = await run(["A", "A", "B"], [vote(2), vote(1)]);
  assertEquals([result.value, result.score, result.usage.llmCalls], ["B", 1, 3]);
  assertEquals(model.lastCall?.messages[0]?.content, "A");
  assertEquals(result.metadata.stepCount, 2);
  assertEquals(result.metadata.steps.map(({ name, usage }) => [name, usage.llmCalls]), [
    ["step 1", 2],
    ["step 2", 1],
  ]);
});

Deno.test("pipe() without steps gives its input and spends nothing", async () => {
  const { result } = await run([], []);
  assertEquals([result.value, result.usage.llmCalls, result.metadata.stepCount], ["in", 0, 0]);
});

Deno.test("W39b pipe() hands a value on as JSON text", async () => {
  const { model } = await run(['{"a": true}', "done"], [
    { run: ({ provider, options }, input) => structured(provider, input, options) },
    vote(1),
  ]);
  assertEquals(model.lastCall?.messages[0]?.content, '{"a":true}');
});

Deno.test("pipe() skips a step and selects what is handed on", async () => {
  const { result, model } = await run(["A", "B"], [
    { ...vote(1), name: "first", select: ({ value }) => `${value}!` },
    { ...vote(1), name: "never", when: (input) => input !== "A!" },
    vote(1),
  ]);
  assertEquals([result.value, model.lastCall?.messages[0]?.content], ["B", "A!"]);
  assertEquals(result.metadata.steps.map(({ skipped }) => skipped), [false, true, false]);
});

const dodges: [what: string, step: PipeStep][] = [
  ["takes the options", vote(10)],
  [
    "leaves the options out",
    {
      run: ({ provider }, input) =>
        consensus(provider, input, { numSamples: 10, ports: manualPorts() }),
    },
  ],
  [
    "has a budget of its own",
    {
      run: ({ provider }, input) =>
        consensus(provider, input, {
          numSamples: 10,
          budget: { maxCalls: 50 },
          ports: manualPorts(),
        }),
    },
  ],
  [
    "asks the model directly",
    {
      run: async ({ provider }, input) => {
        for (let call = 0; call < 10; call += 1) {
          await provider.complete([{ role: "user", content: input }]);
        }
        throw new Error("not reached");
      },
    },
  ],
];
for (const [what, step] of dodges) {
  Deno.test(`W40 pipe() holds its budget over a step that ${what}`, async () => {
    const ports = manualPorts();
    const model = new MockProvider(Array.from({ length: 20 }, () => "A"));
    const error = await assertRejects(
      () => pipe(model, "in", { steps: [vote(1), step], ports, budget: { maxCalls: 3 } }),
      KitError,
    );
    assertEquals([error.code, model.callCount, error.usage.llmCalls], ["budget", 3, 3]);
  });
}

Deno.test("pipe() counts a step that leaves the options out once, and tells that step its spending", async () => {
  let told = -1;
  const { result } = await run(["A", "A"], [{
    run: async ({ provider }, input) => {
      const inner = await consensus(provider, input, { numSamples: 2, ports: manualPorts() });
      told = inner.usage.llmCalls;
      return inner;
    },
  }]);
  assertEquals([result.usage.llmCalls, told], [2, 2]);
});

Deno.test("pipe() names the step that failed and keeps what came before it", async () => {
  const error = await assertRejects(
    () => run(["A", new LlmError("auth", "HTTP 401")], [vote(1), { ...vote(1), name: "second" }]),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls, error.details["step"]], ["auth", 2, "second"]);
  const partial = error.partial as {
    input: string;
    steps: readonly { usage: { llmCalls: number } }[];
  };
  assertEquals([partial.input, partial.steps.map(({ usage }) => usage.llmCalls)], ["A", [1, 1]]);
});

Deno.test("pipe() retries a failed request once and not once more for each layer", async () => {
  const failing = Array.from(
    { length: 3 },
    () => new LlmError("server", "HTTP 503", { retryable: true }),
  );
  const error = await assertRejects(() => run(failing, [vote(1)]), KitError);
  assertEquals([error.code, error.usage.llmCalls], ["server", 3]);
});

Deno.test("pipe() ends with its signal", async () => {
  const controller = new AbortController();
  controller.abort();
  const error = await assertRejects(
    () => run([], [vote(1)], { signal: controller.signal }),
    KitError,
  );
  assert(error.code === "aborted");
});
