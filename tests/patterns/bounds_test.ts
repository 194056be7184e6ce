/** Every bound of the patterns, at its limit and one beyond. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { KitError } from "../../src/llm/mod.ts";
import { mapBatch } from "../../src/patterns/batches.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { mapReduce } from "../../src/patterns/map_reduce.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import { Workflow } from "../../src/patterns/workflow.ts";
import { manualPorts, MockProvider, mockToolCall } from "../../src/testing/mod.ts";

const silent = new MockProvider([]);

Deno.test("consensus() takes 1000 samples and not one more", async () => {
  const model = new MockProvider(["A"], { cycle: true });
  const ports = manualPorts();
  assertEquals((await consensus(model, "Q?", { numSamples: 1000, ports })).usage.llmCalls, 1000);
  const error = await assertRejects(
    () => consensus(silent, "Q?", { numSamples: 1001, ports }),
    KitError,
  );
  assertEquals([error.code, silent.callCount], ["argument", 0]);
});

Deno.test("Workflow takes 10,000 steps and not one more", async () => {
  const steps = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `s${index}`, run: () => index }));
  const { value } = await new Workflow(steps(10_000)).run(silent, {}, { ports: manualPorts() });
  assertEquals(Object.keys(value).length, 10_000);
  assertEquals(assertThrows(() => new Workflow(steps(10_001)), KitError).code, "workflow");
});

Deno.test("Workflow of 2,000 steps in a row keeps to their order", async () => {
  const seen: number[] = [];
  const steps = Array.from({ length: 2000 }, (_, index) => ({
    name: `s${index}`,
    dependsOn: index === 0 ? [] : [`s${index - 1}`],
    run: () => void seen.push(index),
  }));
  await new Workflow(steps.toReversed()).run(silent, {}, { ports: manualPorts() });
  assertEquals(seen, Array.from({ length: 2000 }, (_, index) => index));
});

Deno.test("mapReduce() refuses more than a million items", async () => {
  const options = { mapPrompt: "{item}", reducePrompt: "{mapped_outputs}", ports: manualPorts() };
  const error = await assertRejects(
    () => mapReduce(silent, new Array(1_000_001).fill("x"), options),
    KitError,
  );
  assertEquals([error.code, silent.callCount], ["argument", 0]);
});

Deno.test("mapBatch() refuses more than 100,000 prompts", async () => {
  const fetch = () => Promise.reject(new Error("nothing may be sent"));
  const options = { apiKey: "key-of-a-test", model: "m", ports: { ...manualPorts(), fetch } };
  const error = await assertRejects(
    () => mapBatch(new Array(100_001).fill("x"), options),
    KitError,
  );
  assertEquals(error.code, "argument");
});

Deno.test("a result tells at most 20 different warnings", async () => {
  let number = 0;
  const model = new MockProvider([() => ({ content: "A", warnings: [`warning ${++number}`] })], {
    cycle: true,
  });
  const { metadata } = await consensus(model, "Q?", { numSamples: 30, ports: manualPorts() });
  assertEquals(metadata.warnings?.length, 20);
});

Deno.test("reactLoop() cuts the name of a tool that the model made up at 64 characters", async () => {
  const model = new MockProvider([{ toolCalls: [mockToolCall("x".repeat(100_000))] }, "ok"]);
  const { metadata } = await reactLoop(model, "Q?", { ports: manualPorts() });
  assert((metadata.messages[2]?.content ?? "").length < 300);
  assertEquals(metadata.steps[0]?.tool.length, 64);
});

Deno.test("pipe() passes a value of many megabytes on", async () => {
  const long = "x".repeat(8 * 1024 * 1024);
  const usage = { inputTokens: 0, outputTokens: 0, llmCalls: 0, uncertainTokens: 0 };
  const lengths: number[] = [];
  await pipe(silent, "Go", {
    ports: manualPorts(),
    steps: [
      { run: () => Promise.resolve({ value: long, usage, metadata: {} }) },
      {
        run: (_context, input) => {
          lengths.push(input.length);
          return Promise.resolve({ value: "ok", usage, metadata: {} });
        },
      },
    ],
  });
  assertEquals(lengths, [long.length]);
});
