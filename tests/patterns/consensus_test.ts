import { assert, assertEquals, assertRejects } from "@std/assert";
import { consensus } from "../../src/patterns/consensus.ts";
import { KitError, LlmError } from "../../src/llm/mod.ts";
import { manualPorts, MockProvider, type MockReply } from "../../src/testing/mod.ts";
import type { ConsensusOptions } from "../../src/patterns/consensus_options.ts";

function serverError(status = 500): LlmError {
  return new LlmError(status >= 500 ? "server" : "bad_request", `HTTP ${status}`, {
    retryable: status >= 500,
    details: { status },
  });
}

async function vote(script: readonly MockReply[], options: ConsensusOptions = {}) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  const work = consensus(model, "Q?", {
    numSamples: script.length,
    ports,
    retry: { maxAttempts: 1 },
    ...options,
  });
  return { model, ports, result: await ports.clock.run(work) };
}

const golden: [
  what: string,
  script: string[],
  value: string,
  ratio: number,
  unique: number,
  tie: number,
][] = [
  ["three equal answers", ["yes", "yes", "yes"], "yes", 1, 1, 1],
  ["two of three", ["alpha", "alpha", "beta"], "alpha", 2 / 3, 2, 1],
  ["a tie, by the earliest sample", ["red", "blue"], "red", 0.5, 2, 2],
  [
    "W20 answers that differ in case and a final full stop",
    ["Paris", "paris", "Paris."],
    "Paris",
    1,
    1,
    1,
  ],
];
for (const [what, script, value, ratio, unique, tie] of golden) {
  Deno.test(`consensus() decides ${what}`, async () => {
    const { result } = await vote(script);
    assertEquals(result.value, value);
    assertEquals(result.score, ratio);
    assertEquals(result.metadata.agreementRatio, ratio);
    assertEquals(result.metadata.uniqueResponses, unique);
    assertEquals(result.metadata.tieCount, tie);
    assertEquals(result.usage.llmCalls, script.length);
  });
}

Deno.test("consensus() sends all samples together with the same messages", async () => {
  const { model, ports } = await vote(
    Array.from({ length: 9 }, () => ({ content: "x", delayMs: 200 })),
  );
  assertEquals(model.peakConcurrency, 9);
  assertEquals(ports.clock.monotonic(), 200);
  assertEquals(new Set(model.calls.map((call) => JSON.stringify(call.messages))).size, 1);
  assertEquals(model.lastCall?.options.temperature, 0.9);
  assertEquals(ports.clock.pending, 0);
});

Deno.test("consensus() keeps to maxConcurrency", async () => {
  const { model } = await vote(
    Array.from({ length: 6 }, () => ({ content: "x", delayMs: 10 })),
    { maxConcurrency: 2 },
  );
  assertEquals(model.peakConcurrency, 2);
});

Deno.test("consensus() counts order of request, not of arrival", async () => {
  const { result } = await vote([{ content: "slow", delayMs: 90 }, "fast"]);
  assertEquals(result.value, "slow");
});

Deno.test("W9 W21 consensus() does not let empty, refused, filtered and truncated samples vote", async () => {
  const { result } = await vote([
    "",
    { content: "no", finishReason: "refusal" },
    { content: "no", finishReason: "content_filter" },
    { content: "no", finishReason: "length" },
    { error: new LlmError("content_filter", "filtered") },
    "yes",
    "yes",
  ], { minValid: 2 });
  assertEquals(result.value, "yes");
  assertEquals(result.score, 2 / 7);
  assertEquals(result.metadata.samples, {
    requested: 7,
    counted: 2,
    empty: 1,
    refused: 1,
    filtered: 2,
    truncated: 1,
    unusable: 0,
    failed: 0,
    cancelled: 0,
  });
});

Deno.test("consensus() fails when half or fewer of the samples vote", async () => {
  const error = await assertRejects(() => vote(["A", "", "", "A"]), KitError);
  assertEquals(error.code, "no_consensus");
  assertEquals(error.usage.llmCalls, 4);
});

Deno.test("consensus() tolerates failed samples and names them", async () => {
  const { result } = await vote(["A", serverError(), "A", "B"]);
  assertEquals(result.value, "A");
  assertEquals(result.metadata.failures, [{ index: 1, code: "server", message: "HTTP 500" }]);
});

Deno.test("consensus() below the least of votes carries the first cause", async () => {
  const error = await assertRejects(
    () => vote(["A", serverError(503), serverError(), "A", serverError()], { minValid: 3 }),
    KitError,
  );
  assertEquals(error.code, "no_consensus");
  assert(error.cause instanceof LlmError && error.cause.message === "HTTP 503");
});

Deno.test("W1 consensus() of samples that all failed throws their error, the others beside it", async () => {
  const error = await assertRejects(
    () => vote([serverError(), serverError(400), serverError()], { minValid: 1 }),
    KitError,
  );
  assertEquals(error.code, "bad_request");
  assertEquals(error.others.length, 2);
  assertEquals(error.usage.llmCalls, 3);
});

Deno.test("consensus() in strict mode aborts the siblings of the first failure", async () => {
  const ports = manualPorts();
  const model = new MockProvider(
    ["A", "A", serverError(400), { content: "B", delayMs: 500 }, "A"],
    { clock: ports.clock },
  );
  const work = consensus(model, "Q?", { ports, onError: "strict" });
  const error = await assertRejects(() => ports.clock.run(work), KitError);
  assertEquals(error.code, "bad_request");
  assertEquals(error.usage.llmCalls, 5);
  assertEquals([model.callCount, model.inFlight, ports.clock.monotonic()], [5, 0, 0]);
});

Deno.test("W2b consensus() reports what a broken unanimous vote spent", async () => {
  const error = await assertRejects(
    () => vote(["A", "B", "A", "A"], { strategy: "unanimous" }),
    KitError,
  );
  assertEquals(error.code, "no_consensus");
  assertEquals(error.usage.llmCalls, 4);
  assert(error.usage.outputTokens > 0);
  assertEquals(error.details["tally"], [{ value: "A", count: 3 }, { value: "B", count: 1 }]);
  assertEquals(error.message, "Cannot agree: 2 distinct answers from 4 samples");
});

Deno.test("consensus() is not unanimous while a sample is missing", async () => {
  const error = await assertRejects(
    () => vote(["A", "A", ""], { strategy: "unanimous" }),
    KitError,
  );
  assertEquals(error.code, "no_consensus");
});

Deno.test("W1 consensus() past its budget sends no more than the cap and throws one budget error", async () => {
  const ports = manualPorts();
  const model = new MockProvider(["A", "A", "A", "A", "A"]);
  const error = await assertRejects(
    () => consensus(model, "Q?", { numSamples: 5, budget: { maxCalls: 2 }, ports }),
    KitError,
  );
  assertEquals(error.code, "budget");
  assertEquals(model.callCount, 2);
  assertEquals(error.usage.llmCalls, 2);
});

Deno.test("W2 consensus() never settles above its cap of output tokens", async () => {
  const ports = manualPorts();
  const model = new MockProvider(
    Array.from({ length: 5 }, () => (call) => ({
      content: "A",
      usage: { outputTokens: Math.min(50, call.options.maxTokens ?? 0) },
    })),
  );
  const error = await assertRejects(
    () => consensus(model, "Q?", { maxTokens: 50, budget: { maxOutputTokens: 100 }, ports }),
    KitError,
  );
  assertEquals(error.code, "budget");
  assert(error.usage.outputTokens <= 100, `${error.usage.outputTokens}`);
});

Deno.test("W3 consensus() charges the estimate where the endpoint reports no usage", async () => {
  const { result } = await vote([{ content: "A", usage: { known: false } }]);
  assert(result.metadata.usageMissing);
  assert(result.usage.outputTokens > 0 && result.usage.uncertainTokens > 0);
});

Deno.test("W3b consensus() with a budget of no calls sends nothing", async () => {
  const ports = manualPorts();
  const model = new MockProvider(["A"]);
  const error = await assertRejects(
    () => consensus(model, "Q?", { numSamples: 1, budget: { maxCalls: 0 }, ports }),
    KitError,
  );
  assertEquals([error.code, model.callCount, error.usage.llmCalls], ["budget", 0, 0]);
});

Deno.test("consensus() stops early once the rest cannot change the winner", async () => {
  const { result, model } = await vote(
    ["A", "A", "A", { content: "B", delayMs: 100 }, { content: "B", delayMs: 100 }],
    { earlyStop: true },
  );
  assertEquals(result.value, "A");
  assert(result.metadata.earlyStopped);
  assertEquals(result.metadata.samples.cancelled, 2);
  assertEquals(result.score, 1);
  assertEquals(model.inFlight, 0);
});

Deno.test("consensus() refuses a tie where the caller says so", async () => {
  const error = await assertRejects(() => vote(["A", "B"], { onTie: "error" }), KitError);
  assertEquals(error.code, "no_consensus");
});

Deno.test("consensus() refuses a winner below minAgreement", async () => {
  const error = await assertRejects(() => vote(["A", "A", "B"], { minAgreement: 0.7 }), KitError);
  assertEquals(error.code, "no_consensus");
  assertEquals((await vote(["A", "A", "B"], { minAgreement: 0.6 })).result.value, "A");
});

Deno.test("consensus() lets several providers vote in turn", async () => {
  const ports = manualPorts();
  const left = new MockProvider(["A", "A"], { model: "left" });
  const right = new MockProvider(["B"], { model: "right" });
  const result = await consensus([left, right], "Q?", {
    numSamples: 3,
    ports,
    includeSamples: true,
  });
  assertEquals(result.value, "A");
  assertEquals(result.metadata.answers?.map((answer) => answer.model), ["left", "right", "left"]);
});

Deno.test("consensus() reports each finished sample once, and survives a listener that throws", async () => {
  const seen: string[] = [];
  const { result } = await vote(["A", "", "A"], {
    onSample: ({ index, done, requested, outcome }) => {
      seen.push(`${index} ${done}/${requested} ${outcome}`);
      throw new Error("listener");
    },
  });
  assertEquals(result.value, "A");
  assertEquals(seen.toSorted(), ["0 1/3 counted", "1 2/3 empty", "2 3/3 counted"]);
});

Deno.test("W35 consensus() is not changed by a trace sink that throws", async () => {
  const { result } = await vote(["A"], {
    trace: {
      write: () => {
        throw new Error("sink");
      },
    },
  });
  assertEquals(result.value, "A");
});

Deno.test("consensus() aborts its requests with the caller's signal and tells the spending", async () => {
  const ports = manualPorts();
  const model = new MockProvider([{ content: "A", delayMs: 1000 }, "A"], { clock: ports.clock });
  const controller = new AbortController();
  const work = consensus(model, "Q?", { numSamples: 2, ports, signal: controller.signal });
  const caught = assertRejects(() => work, KitError);
  await ports.clock.advance(10);
  controller.abort();
  const error = await caught;
  assertEquals(error.code, "aborted");
  assertEquals(error.usage.llmCalls, 2);
  assertEquals([model.inFlight, ports.clock.pending], [0, 0]);
});

Deno.test("consensus() past its deadline fails with code budget", async () => {
  const ports = manualPorts();
  const model = new MockProvider([{ content: "A", delayMs: 5000 }], { clock: ports.clock });
  const work = consensus(model, "Q?", { numSamples: 1, ports, deadlineMs: 100 });
  const error = await assertRejects(() => ports.clock.run(work), KitError);
  assertEquals([error.code, ports.clock.monotonic(), ports.clock.pending], ["budget", 100, 0]);
});

Deno.test("consensus() tells what was odd about answers, each oddity once", async () => {
  const odd = { content: "A", warnings: ["scripted model"] };
  const { result } = await vote([odd, odd, "A"]);
  assertEquals(result.metadata.warnings, ["scripted model"]);
  assertEquals((await vote(["A"])).result.metadata.warnings, undefined);
});

Deno.test("W51 consensus() gives a result that cannot be changed", async () => {
  const { result } = await vote(["A"]);
  assert(Object.isFrozen(result) && Object.isFrozen(result.metadata.tally[0]));
});

const wrong: [what: string, options: ConsensusOptions][] = [
  ["no samples", { numSamples: 0 }],
  ["half a sample", { numSamples: 1.5 }],
  ["1001 samples", { numSamples: 1001 }],
  ["an unknown strategy", { strategy: "most" as "majority" }],
  ["W29 a temperature that is not a number", { temperature: NaN }],
  ["a temperature above 2", { temperature: 2.1 }],
  ["no tokens", { maxTokens: 0 }],
  ["no concurrency", { maxConcurrency: 0 }],
  ["more votes than samples", { numSamples: 2, minValid: 3 }],
  ["an agreement above 1", { minAgreement: 1.1 }],
  ["a choice without labels", { normalize: { choice: [] } }],
  ["a choice of the same label twice", { normalize: { choice: ["Yes", "yes."] } }],
];
for (const [what, options] of wrong) {
  Deno.test(`consensus() refuses ${what} before anything is spent`, async () => {
    const model = new MockProvider([]);
    const error = await assertRejects(
      () => consensus(model, "Q?", { ports: manualPorts(), ...options }),
      KitError,
    );
    assertEquals([error.code, model.callCount], ["argument", 0]);
  });
}
