import { assert, assertEquals, assertFalse, assertLess, assertStringIncludes } from "@std/assert";
import { validateSchema } from "../../src/json/mod.ts";
import { MAX_OUTPUT_BYTES } from "../../src/jsonrpc/mod.ts";
import { LlmError } from "../../src/llm/mod.ts";
import type { Progress } from "../../src/mcp/mod.ts";
import { MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { object, texts, toolRig } from "./harness.ts";

const USAGE = { inputTokens: 5, outputTokens: 2, known: true };

function voting(replies: readonly string[]) {
  return new MockProvider(replies.map((content) => ({ content, usage: USAGE })));
}

Deno.test("consensus votes three times by default and says how it went", async () => {
  const { call, tools } = toolRig({ model: voting(["alpha", "beta", "alpha"]) });
  const outcome = await call("consensus", { prompt: "which?" });
  const [text, json] = texts(outcome);
  assertEquals(
    text,
    "alpha\n\nagreement_ratio: 0.6666666666666666\nunique_responses: 2\n" +
      "cost: input_tokens=15 output_tokens=6 llm_calls=3",
  );
  const given = object(outcome);
  assertEquals(JSON.parse(json ?? ""), given);
  assertEquals([given["value"], given["tie_count"], given["strategy"]], ["alpha", 1, "majority"]);
  assertEquals(given["cost"], { input_tokens: 15, output_tokens: 6, llm_calls: 3 });
  assertEquals(given["tally"], [{ value: "alpha", count: 2 }, { value: "beta", count: 1 }]);
  const schema = tools[0]?.outputSchema ?? {};
  assertEquals(await validateSchema(schema, given), []);
});

Deno.test("consensus prints a whole ratio as a ratio", async () => {
  const { call } = toolRig({ model: voting(["yes", "yes"]) });
  const outcome = await call("consensus", { prompt: "?", n: 2 });
  assertStringIncludes(texts(outcome)[0] ?? "", "agreement_ratio: 1.0\n");
});

Deno.test("consensus passes on temperature, limit of tokens and system text", async () => {
  const model = voting(["a"]);
  const { call } = toolRig({ model });
  await call("consensus", { prompt: "?", n: 1, temperature: 0, max_tokens: 7, system: "be brief" });
  const [asked] = model.calls;
  assertEquals([asked?.options.temperature, asked?.options.maxTokens], [0, 7]);
  assertEquals(asked?.messages.map(({ role }) => role), ["system", "user"]);
});

Deno.test("consensus sends all samples at once and reports each", async () => {
  const seen: Progress[] = [];
  const { clock } = toolRig();
  const model = new MockProvider(
    Array.from({ length: 9 }, () => ({ content: "x", delayMs: 200 })),
    { clock },
  );
  const { call } = toolRig({ clock, model });
  await clock.run(
    call("consensus", { prompt: "?", n: 9 }, { progress: (report) => seen.push(report) }),
  );
  assertEquals(clock.monotonic(), 200);
  assertEquals(seen.length, 9);
  assertEquals(seen.at(-1), { progress: 9, total: 9, message: "sample 9 of 9" });
});

Deno.test("consensus says at least every ten seconds that it waits", async () => {
  const seen: Progress[] = [];
  const { clock } = toolRig();
  const replies = [{ content: "x", delayMs: 15_000 }, { content: "x", delayMs: 35_000 }];
  const { call } = toolRig({ clock, model: new MockProvider(replies, { clock }) });
  await clock.run(
    call("consensus", { prompt: "?", n: 2 }, { progress: (report) => seen.push(report) }),
  );
  assertEquals(seen.map(({ message }) => message), [
    "waiting for sample 1 of 2 · 10 s",
    "sample 1 of 2",
    "waiting for sample 2 of 2 · 20 s",
    "waiting for sample 2 of 2 · 30 s",
    "sample 2 of 2",
  ]);
  const numbers = seen.map(({ progress }) => progress);
  assert(numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0)), `${numbers}`);
  assertEquals(clock.pending, 0);
});

Deno.test("consensus answers isError with what to do, the code and the spend when nobody agrees", async () => {
  const { call } = toolRig({ model: voting(["a", "b", "c"]) });
  const outcome = await call("consensus", { prompt: "?", strategy: "unanimous" });
  assert(outcome.kind === "result" && outcome.isError);
  const [text] = texts(outcome);
  assertStringIncludes(text ?? "", "Vote failed: ");
  assertStringIncludes(text ?? "", "spent so far: 3 model calls, 21 tokens");
  assertFalse(text?.includes("\n"));
  assertEquals(outcome.meta?.["dev.kit/error"], {
    code: "no_consensus",
    retryable: false,
    cost: { input_tokens: 15, output_tokens: 6, llm_calls: 3 },
  });
  const given = object(outcome);
  assertEquals([given["status"], given["error"]], ["error", "no_consensus"]);
});

Deno.test("consensus says of a vote with too few voters why the first of the others failed", async () => {
  const refusal = () => new LlmError("bad_request", "the model is not served here");
  const model = new MockProvider([{ content: "a", usage: USAGE }, refusal(), refusal()]);
  const { call } = toolRig({ model });
  const outcome = await call("consensus", { prompt: "?" });
  const [text] = texts(outcome);
  assertStringIncludes(text ?? "", "1 of 3 samples voted, wanted at least 2");
  assertStringIncludes(text ?? "", "; the first failure: the model is not served here; ");
});

const silent: [what: string, first: MockReply, says: string, advises: string][] = [
  ["refused", { finishReason: "refusal", content: "no" }, "(2 refused)", "change the prompt"],
  ["filtered", new LlmError("content_filter", "x"), "(2 filtered)", "change the prompt"],
  ["truncated", { finishReason: "length", content: "a" }, "(2 truncated)", "raise max_tokens"],
  ["empty", { content: " " }, "(2 empty)", "ask more precisely; spent"],
];
for (const [what, reply, says, advises] of silent) {
  Deno.test(`consensus says of a vote without voters that they were ${what}, and what to do`, async () => {
    const { call } = toolRig({ model: new MockProvider([reply, reply]) });
    const [text = ""] = texts(await call("consensus", { prompt: "?", n: 2 }));
    assertStringIncludes(text, `0 of 2 samples voted, wanted at least 2 ${says}`);
    assertStringIncludes(text, advises);
    assertFalse(text.includes("strategy majority"));
  });
}

Deno.test("consensus names a refused key and does not retry it", async () => {
  const refusal = () => new LlmError("auth", "401 from http://h/v1", { details: { status: 401 } });
  const model = new MockProvider([refusal(), refusal(), refusal()]);
  const { call } = toolRig({ model });
  const outcome = await call("consensus", { prompt: "?" });
  assertStringIncludes(texts(outcome)[0] ?? "", "check the key");
  assertEquals(model.callCount, 3);
});

Deno.test("consensus tells how long the endpoint asks to wait", async () => {
  const busy = () => new LlmError("rate_limit", "429", { retryable: true, retryAfterMs: 90_000 });
  const { call, clock } = toolRig({ model: new MockProvider([busy(), busy(), busy()]) });
  const outcome = await clock.run(call("consensus", { prompt: "?" }));
  assert(outcome.kind === "result" && outcome.isError);
  assertStringIncludes(texts(outcome)[0] ?? "", "asks to wait 90 s");
  assertEquals(Reflect.get(Object(outcome.meta?.["dev.kit/error"]), "retry_after_ms"), 90_000);
});

Deno.test("consensus says what is missing where no model is configured", async () => {
  const { call } = toolRig();
  const outcome = await call("consensus", { prompt: "?" });
  assert(outcome.kind === "result" && outcome.isError);
  for (const name of ["EXECUTIONKIT_BASE_URL", "EXECUTIONKIT_MODEL"]) {
    assertStringIncludes(texts(outcome)[0] ?? "", name);
  }
  assertEquals(Reflect.get(Object(outcome.meta?.["dev.kit/error"]), "code"), "config");
});

Deno.test("consensus refuses a blank prompt before it spends", async () => {
  const model = voting([]);
  const outcome = await toolRig({ model }).call("consensus", { prompt: " \n " });
  assertEquals(texts(outcome)[0], "'prompt' is required and must be a non-empty string");
  assertEquals(model.callCount, 0);
});

Deno.test("consensus ends at its deadline, with the spend of what was asked", async () => {
  const { clock } = toolRig();
  const slow = Array.from({ length: 3 }, () => ({ content: "x", delayMs: 500_000 }));
  const { call } = toolRig({ clock, model: new MockProvider(slow, { clock }) });
  const outcome = await clock.run(call("consensus", { prompt: "?" }));
  assert(outcome.kind === "result" && outcome.isError);
  assert(clock.monotonic() <= 121_000, `${clock.monotonic()} ms`);
  assertStringIncludes(texts(outcome)[0] ?? "", "spent so far: 3 model calls");
});

Deno.test("consensus asks nobody any more once the process has spent its budget", async () => {
  const model = voting(["a", "a", "a", "a"]);
  const { call } = toolRig({ model, limits: { maxProcessCalls: 4 } });
  assert(!(await isError(call("consensus", { prompt: "?" }))));
  assert(await isError(call("consensus", { prompt: "?" })));
  assert(model.callCount <= 4);
});

Deno.test("consensus aborts its requests when the call is cancelled", async () => {
  const { clock } = toolRig();
  const slow = Array.from({ length: 3 }, () => ({ content: "x", delayMs: 60_000 }));
  const { call } = toolRig({ clock, model: new MockProvider(slow, { clock }) });
  const controller = new AbortController();
  const outcome = call("consensus", { prompt: "?" }, { signal: controller.signal });
  await clock.advance(10);
  controller.abort();
  assert(await isError(outcome));
  assertEquals(clock.pending, 0);
});

async function isError(outcome: Promise<unknown>): Promise<boolean> {
  return Reflect.get(Object(await outcome), "isError") === true;
}

Deno.test("consensus says that a scripted provider is no model", async () => {
  const outcome = await toolRig({ provider: "scripted" }).call("consensus", { prompt: "Hi" });
  assertStringIncludes(texts(outcome)[0] ?? "", "model: scripted (no model was asked)");
  assertEquals([object(outcome)["model"], object(outcome)["scripted"]], ["scripted", true]);
});

for (const tool of ["consensus", "react_loop"]) {
  for (const unit of ["a", "\u0001", "\u{1F600}", "\u20AC"]) {
    const code = unit.codePointAt(0)?.toString(16);
    Deno.test(`${tool} cuts an answer of U+${code} that no line could carry, and keeps its cost`, async () => {
      const content = unit.repeat(1_000_000);
      const { call } = toolRig({ model: new MockProvider([{ content, usage: USAGE }]) });
      const outcome = await call(tool, { prompt: "?", ...(tool === "consensus" ? { n: 1 } : {}) });
      const given = object(outcome);
      assert(given["truncated"]);
      assertEquals(String(given["value"]), content.slice(0, 200_000));
      assertEquals(given["cost"], { input_tokens: 5, output_tokens: 2, llm_calls: 1 });
      assertStringIncludes(texts(outcome)[0] ?? "", `the answer has ${content.length} characters`);
      const line = new TextEncoder().encode(JSON.stringify(outcome));
      assertLess(line.length, MAX_OUTPUT_BYTES);
    });
  }
}
