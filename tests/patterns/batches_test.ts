// deno-lint-ignore-file camelcase -- names of the Message Batches API
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError, KitError } from "../../src/llm/mod.ts";
import { cancelBatch, consensusBatch, lookAtBatch, mapBatch } from "../../src/patterns/batches.ts";
import { manualPorts } from "../../src/testing/mod.ts";

type Outcome = string | { readonly text?: string; readonly stop: string };

/** An endpoint whose batch has ended: a text is an answer, a text in angle brackets another kind of result. */
function ended(kind: "map" | "consensus", outcomes: readonly Outcome[], over: object = {}) {
  const asked: string[] = [];
  const lines = outcomes.map((outcome, index) => {
    const { text = "", stop } = typeof outcome === "string"
      ? { text: outcome, stop: "end_turn" }
      : outcome;
    const other = /^<(.+)>$/.exec(text)?.[1];
    const message = {
      content: [{ type: "text", text }],
      stop_reason: stop,
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    const result = other === undefined ? { type: "succeeded", message } : { type: other };
    return JSON.stringify({ custom_id: `${kind}-${index}`, result });
  });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => {
    asked.push(`${init?.method} ${new URL(url).pathname}`);
    return Promise.resolve(
      String(url).endsWith("/results")
        ? new Response(lines.join("\n"))
        : Response.json({ id: "b1", processing_status: "ended", results_url: "/results", ...over }),
    );
  };
  const options = { apiKey: "correct-horse-1", model: "m", ports: { ...manualPorts(), fetch } };
  return { options, asked };
}

const unusable: [what: string, outcome: Outcome, problem: string][] = [
  ["refused", { stop: "refusal" }, "the model refused"],
  ["refused with a text", { text: "I will not", stop: "refusal" }, "the model refused"],
  ["empty", "", "the answer has no text"],
  ["blank", " \n", "the answer has no text"],
];
for (const [what, outcome, problem] of unusable) {
  Deno.test(`W9 mapBatch() does not take an entry that is ${what} for an answer, and charges it`, async () => {
    const { options } = ended("map", ["A", outcome, "C"]);
    const error = await assertRejects(() => mapBatch(["a", "b", "c"], options), KitError);
    assertEquals([error.code, error.usage.llmCalls, error.usage.outputTokens], ["pattern", 3, 6]);
    assertEquals(error.details["problems"], [{ id: "map-1", problem }]);
    assertEquals(error.partial, { values: ["A", null, "C"] });
  });
}

Deno.test("consensusBatch() below its quorum counts every answer that was paid for, and leaves them as partial", async () => {
  const { options } = ended("consensus", ["<expired>", "<expired>", "Paris"]);
  const error = await assertRejects(
    () => consensusBatch("Capital?", { ...options, numSamples: 3 }),
    KitError,
  );
  const partial = error.partial as {
    readonly tally: unknown;
    readonly values: unknown;
    readonly samples: { readonly [outcome: string]: number };
  };
  assertEquals([error.code, error.usage.outputTokens], ["no_consensus", 2]);
  assertEquals(partial.tally, [{ value: "Paris", count: 1 }]);
  assertEquals(partial.values, [null, null, "Paris"]);
  const { counted, failed, cancelled } = partial.samples;
  assertEquals([counted, failed, cancelled], [1, 2, 0]);
});

Deno.test("consensusBatch() refuses a vote that cannot be held before the batch is sent", async () => {
  const { options, asked } = ended("consensus", []);
  const bad = { ...options, strategy: "best" as "majority" };
  const error = await assertRejects(() => consensusBatch("Capital?", bad), ConfigError);
  assertEquals([error.code, asked], ["argument", []]);
});

Deno.test("a batch that has ended without results is an error that names it", async () => {
  for (
    const run of [
      () => mapBatch(["a"], ended("map", ["A"], { results_url: null }).options),
      () => consensusBatch("a?", ended("consensus", ["A"], { results_url: null }).options),
    ]
  ) {
    const error = await assertRejects(run, KitError);
    assertEquals([error.code, error.details["batchId"]], ["bad_response", "b1"]);
    assertStringIncludes(error.message, "results_url");
  }
});

const nameless = ended("map", ["A"]);
const withoutId: [what: string, run: () => Promise<unknown>][] = [
  ["lookAtBatch", () => lookAtBatch("", nameless.options)],
  ["cancelBatch", () => cancelBatch(" ", nameless.options)],
  ["mapBatch", () => mapBatch(["a"], { ...nameless.options, batchId: "" })],
  ["consensusBatch", () => consensusBatch("a?", { ...nameless.options, batchId: "" })],
];
for (const [what, run] of withoutId) {
  Deno.test(`${what}() refuses an empty id of a batch and sends nothing`, async () => {
    assertEquals((await assertRejects(run, ConfigError)).code, "argument");
    assertEquals(nameless.asked, []);
  });
}

for (const prompts of ["hello", null, undefined, 3, ["a", 3], ["a", ""], []]) {
  Deno.test(`mapBatch() refuses ${JSON.stringify(prompts)} as prompts and sends nothing`, async () => {
    const { options, asked } = ended("map", []);
    const run = () => mapBatch(prompts as unknown as string[], options);
    assertEquals((await assertRejects(run, ConfigError)).code, "argument");
    assertEquals(asked, []);
  });
}
