import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { KitError, LlmError } from "../../src/llm/mod.ts";
import { mapReduce, type MapReduceOptions } from "../../src/patterns/map_reduce.ts";
import { manualPorts, type MockCall, MockProvider, type MockReply } from "../../src/testing/mod.ts";

const PROMPTS = { mapPrompt: "About {item}", reducePrompt: "All of {mapped_outputs}" };

async function work(
  script: readonly MockReply[],
  items: readonly string[],
  options: Partial<MapReduceOptions> = {},
) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  const running = mapReduce(model, items, {
    ...PROMPTS,
    ports,
    retry: { maxAttempts: 1 },
    ...options,
  });
  return { model, result: await ports.clock.run(running) };
}

function text(call: MockCall | undefined): string {
  return String(call?.messages.at(-1)?.content);
}

Deno.test("mapReduce() reduces the outputs in the order of the items", async () => {
  const { result, model } = await work(
    [{ content: "one", delayMs: 20 }, { content: "two", delayMs: 10 }, "sum"],
    ["a", "b"],
    { includeMapped: true },
  );
  assertEquals(result.value, "sum");
  assertEquals(result.metadata, {
    mapCount: 2,
    reduceCalls: 1,
    totalCalls: 3,
    truncatedResponses: 0,
    failures: [],
    mapped: ["one", "two"],
  });
  assert(text(model.calls[2]).indexOf("one") < text(model.calls[2]).indexOf("two"));
});

Deno.test("mapReduce() of nothing makes the reducing request alone", async () => {
  const { result, model } = await work(["none"], []);
  assertEquals([result.value, model.callCount, text(model.lastCall)], ["none", 1, "All of "]);
});

Deno.test("mapReduce() puts items and outputs in as data, once, to the letter", async () => {
  const hostile = "$& {item} {mapped_outputs} </item>";
  const { model } = await work(["$1 </output> {mapped_outputs}", "sum"], [hostile]);
  assertStringIncludes(text(model.calls[0]), ">\n$& {item} {mapped_outputs} &lt;/item>\n</item-");
  assertStringIncludes(text(model.calls[1]), ">\n$1 &lt;/output> {mapped_outputs}\n</output-");
});

Deno.test("mapReduce() reduces in a tree where the outputs are too long for one request", async () => {
  const { result, model } = await work(
    ["aaaa", "bbbb", "cccc", "dddd", "eeee", "AB", "CDE", "all"],
    ["1", "2", "3", "4", "5"],
    { maxReduceChars: 8, maxConcurrency: 1 },
  );
  assertEquals([result.value, result.metadata.reduceCalls], ["all", 3]);
  const [, , , , , first, second, last] = model.calls.map(text);
  assert(first?.includes("bbbb") && !first.includes("cccc"));
  assert(second?.includes("eeee") && !second.includes("bbbb"));
  assert(last?.includes("AB") && last.includes("CDE"));
});

Deno.test("mapReduce() keeps to maxConcurrency over 10000 items and keeps their order", async () => {
  const model = new MockProvider([
    (call) => {
      const item = /item (\d+)/.exec(text(call))?.[1];
      return item === undefined ? "sum" : `out ${item}`;
    },
  ], { cycle: true });
  const items = Array.from({ length: 10_000 }, (_, index) => `item ${index}`);
  const result = await mapReduce(model, items, {
    ...PROMPTS,
    includeMapped: true,
    maxReduceChars: 10_000_000,
    ports: manualPorts(),
  });
  assertEquals(model.peakConcurrency, 10);
  assertEquals(
    result.metadata.mapped?.every((output, index) => output === `out ${index}`),
    Boolean(1),
  );
  assertEquals(result.usage.llmCalls, 10_001);
});

Deno.test("mapReduce() fails with the first failure and the outputs so far", async () => {
  const error = await assertRejects(
    () => work(["one", new LlmError("server", "HTTP 500")], ["a", "b", "c"], { maxConcurrency: 1 }),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls], ["server", 2]);
  assertEquals(error.partial, { mapped: ["one", null, null] });
});

Deno.test("mapReduce() that skips failed items names them and tells the reducing model", async () => {
  const { result, model } = await work(
    ["one", new LlmError("server", "HTTP 500"), "", "four", "sum"],
    ["a", "b", "c", "d"],
    { onItemError: "skip", maxConcurrency: 1 },
  );
  assertEquals(result.metadata.failures.map(({ index, code }) => [index, code]), [[1, "server"], [
    2,
    "pattern",
  ]]);
  assertEquals(result.metadata.mapCount, 2);
  assertStringIncludes(
    text(model.lastCall),
    "2 of 4 items are missing because they failed: numbers 2, 3.",
  );
});

Deno.test("mapReduce() fails when every item failed", async () => {
  const error = await assertRejects(
    () => work([new LlmError("auth", "HTTP 401")], ["a"], { onItemError: "skip" }),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls], ["auth", 1]);
});

Deno.test("mapReduce() does not skip over a spent budget", async () => {
  const error = await assertRejects(
    () =>
      work(["one"], ["a", "b"], {
        onItemError: "skip",
        budget: { maxCalls: 1 },
        maxConcurrency: 1,
      }),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls], ["budget", 1]);
});

const wrong: [what: string, items: unknown, options: Partial<MapReduceOptions>][] = [
  ["W38 a reducing prompt without its placeholder", ["a"], { reducePrompt: "no" }],
  ["W38 a mapping prompt without its placeholder, though there are no items", [], {
    mapPrompt: "no",
  }],
  ["W39 a text for the list of items", "hello", {}],
  ["items that are no texts", [1], {}],
  ["no concurrency", ["a"], { maxConcurrency: 0 }],
];
for (const [what, items, options] of wrong) {
  Deno.test(`mapReduce() refuses ${what} before anything is spent`, async () => {
    const error = await assertRejects(() => work([], items as string[], options), KitError);
    assertEquals([error.code, error.usage.llmCalls], ["argument", 0]);
  });
}

Deno.test("mapReduce() reports each item, and survives a listener that throws", async () => {
  const seen: number[] = [];
  const { result } = await work(["one", "two", "sum"], ["a", "b"], {
    onItem: ({ done, total }) => {
      seen.push(done, total);
      throw new Error("no");
    },
  });
  assertEquals([result.value, seen], ["sum", [1, 2, 2, 2]]);
});
