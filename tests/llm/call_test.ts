import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { callModel, type CallOptions } from "../../src/llm/call.ts";
import { createLedger } from "../../src/llm/create_ledger.ts";
import {
  AbortedError,
  BudgetExhaustedError,
  ConfigError,
  type KitError,
  LlmError,
} from "../../src/llm/errors.ts";
import type { LlmProvider } from "../../src/llm/provider.ts";
import type { TraceEvent } from "../../src/llm/trace.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";

const messages = [{ role: "user", content: "hi" }] as const;
const busy = new LlmError("rate_limit", "slow down", { retryable: true });
const broken = new LlmError("server", "x", { retryable: true });
const unreadable = new LlmError("bad_response", "x", { retryable: true });

type Extra = Partial<Omit<CallOptions, "ledger" | "ports">> & {
  readonly budget?: Parameters<typeof createLedger>[0];
};

function setUp(extra: Extra = {}) {
  const ports = manualPorts();
  const { budget, ...rest } = extra;
  const ledger = createLedger(budget, { clock: ports.clock });
  const call = (provider: LlmProvider) =>
    ports.clock.run(callModel(provider, messages, { ledger, ports, ...rest }));
  return { ports, ledger, call };
}

Deno.test("callModel() gives the answer and charges it", async () => {
  const { ledger, call } = setUp();
  const model = new MockProvider([{ content: "ok", usage: { inputTokens: 7, outputTokens: 2 } }]);
  assertEquals((await call(model)).content, "ok");
  assertEquals(ledger.spent, { inputTokens: 7, outputTokens: 2, llmCalls: 1, uncertainTokens: 0 });
});

Deno.test("W2 callModel() sends what the ledger grants as the limit", async () => {
  const { call } = setUp({ budget: { maxOutputTokens: 100 } });
  const model = new MockProvider(["ok"]);
  await call(model);
  assertEquals(model.lastCall?.options.maxTokens, 100);
});

Deno.test("callModel() tries again after a passing failure, each attempt one call", async () => {
  const { ledger, ports, call } = setUp();
  const model = new MockProvider([broken, busy, "ok"]);
  assertEquals((await call(model)).content, "ok");
  assertEquals([model.callCount, ledger.spent.llmCalls], [3, 3]);
  assert(ports.clock.monotonic() >= 1000);
  assertEquals(ports.clock.pending, 0);
});

Deno.test("W2b callModel() gives up after three attempts, with what they cost", async () => {
  const { ledger, call } = setUp();
  const model = new MockProvider([broken, broken, broken]);
  const error = await assertRejects(() => call(model), LlmError);
  assertEquals([error.code, error.usage.llmCalls, error.details["attempts"]], ["server", 3, 3]);
  assertEquals(ledger.outstanding.llmCalls, 0);
});

Deno.test("callModel() never changes the error that a provider threw", async () => {
  const { call } = setUp({ retry: { maxAttempts: 1 } });
  const error = await assertRejects(() => call(new MockProvider([broken])), LlmError);
  assert(error !== broken);
  assertEquals(broken.usage.llmCalls, 0);
});

Deno.test("callModel() asks twice at most for an answer that can be read", async () => {
  const { ledger, call } = setUp({ retry: { maxAttempts: 9 } });
  const error = await assertRejects(
    () => call(new MockProvider([unreadable, unreadable, "never"])),
    LlmError,
  );
  assertEquals([error.code, ledger.spent.llmCalls], ["bad_response", 2]);
  assert(ledger.spent.uncertainTokens > 0);
});

const permanent = ["quota", "auth", "bad_request", "not_found", "content_filter"] as const;
for (const code of permanent) {
  Deno.test(`callModel() makes one attempt where the code is ${code}`, async () => {
    const { ledger, call } = setUp();
    const model = new MockProvider([new LlmError(code, "x"), "never"]);
    await assertRejects(() => call(model), LlmError);
    assertEquals([model.callCount, ledger.spent.llmCalls], [1, 1]);
  });
}

Deno.test("callModel() charges what a filtered answer cost", async () => {
  const { ledger, call } = setUp();
  const usage = { inputTokens: 5, outputTokens: 6, llmCalls: 1, uncertainTokens: 0 };
  const filtered = new LlmError("content_filter", "x", { partial: "half", usage });
  const error = await assertRejects(() => call(new MockProvider([filtered])), LlmError);
  assertEquals([error.partial, error.usage, ledger.spent], ["half", usage, usage]);
});

Deno.test("W5 callModel() fails at once where the endpoint asks for more than the cap", async () => {
  const { ports, call } = setUp();
  const slow = new LlmError("rate_limit", "x", { retryable: true, retryAfterMs: 86_400_000 });
  const error = await assertRejects(() => call(new MockProvider([slow, "never"])), LlmError);
  assertEquals([error.retryAfterMs, ports.clock.monotonic()], [86_400_000, 0]);
});

Deno.test("callModel() sends an adjusted request at once, outside the count of attempts", async () => {
  const { ports, ledger, call } = setUp({ retry: { maxAttempts: 1 } });
  const refused = new LlmError("bad_request", "x", { details: { adjusted: "response_format" } });
  const model = new MockProvider([refused, "ok"]);
  assertEquals((await call(model)).content, "ok");
  assertEquals([ports.clock.monotonic(), ledger.spent.llmCalls], [0, 2]);
  const keys = model.calls.map((one) => one.options.idempotencyKey);
  assert(keys[0] !== keys[1]);
});

Deno.test("callModel() adjusts at most three times", async () => {
  const { call } = setUp({ retry: { maxAttempts: 1 } });
  const refused = new LlmError("bad_request", "x", { details: { adjusted: "x" } });
  const model = new MockProvider([refused, refused, refused, refused, "never"]);
  await assertRejects(() => call(model), LlmError);
  assertEquals(model.callCount, 4);
});

Deno.test("callModel() sends one idempotency key with all attempts of a call", async () => {
  const { call } = setUp();
  const model = new MockProvider([broken, "ok", "ok"]);
  await call(model);
  await call(model);
  const [first, second, other] = model.calls.map((one) => one.options.idempotencyKey);
  assertEquals(first, second);
  assert(first !== other);
});

Deno.test("W3b callModel() asks nobody where the budget allows no call", async () => {
  const { call } = setUp({ budget: { maxCalls: 0 } });
  const model = new MockProvider(["never"]);
  const error = await assertRejects(() => call(model), BudgetExhaustedError);
  assertEquals([error.field, model.callCount], ["maxCalls", 0]);
});

Deno.test("callModel() stops between attempts where the budget is used up", async () => {
  const { ledger, call } = setUp({ budget: { maxCalls: 1 } });
  const error = await assertRejects(
    () => call(new MockProvider([broken, "never"])),
    BudgetExhaustedError,
  );
  assertEquals([error.usage.llmCalls, ledger.spent.llmCalls], [1, 1]);
});

Deno.test("W10 callModel() ends with the deadline of the ledger in the middle of an attempt", async () => {
  const { ports, ledger, call } = setUp({ budget: { deadline: 100 } });
  const slow: LlmProvider = { complete: () => ports.clock.sleep(5000).then(() => unanswered()) };
  const error = await assertRejects(() => call(slow), BudgetExhaustedError);
  assertEquals([error.field, ports.clock.monotonic()], ["deadline", 100]);
  assertEquals(ledger.spent.llmCalls, 1);
  assert(ledger.spent.uncertainTokens > 0);
});

Deno.test("callModel() does not begin a wait that would pass the deadline", async () => {
  const { ports, call } = setUp({ budget: { deadline: 900 } });
  const error = await assertRejects(() => call(new MockProvider([busy, "never"])), LlmError);
  assertEquals([error.code, ports.clock.monotonic(), ports.clock.pending], ["rate_limit", 0, 0]);
});

function unanswered(): never {
  throw new Error("nobody waits for this");
}

Deno.test("callModel() stops at once when the signal fires, even if the provider does not", async () => {
  const controller = new AbortController();
  const { ports, ledger } = setUp();
  const deaf: LlmProvider = { complete: () => Promise.withResolvers<never>().promise };
  const call = callModel(deaf, messages, { ledger, ports, signal: controller.signal });
  await ports.clock.advance(10);
  controller.abort("stop now");
  const error = await assertRejects(() => call, AbortedError);
  assertEquals([error.cause, error.usage.llmCalls, error.retryable], ["stop now", 1, false]);
  assertEquals(ledger.outstanding.llmCalls, 0);
});

Deno.test("callModel() with a signal that has fired sends and charges nothing", async () => {
  const { ledger, call } = setUp({ signal: AbortSignal.abort() });
  const model = new MockProvider(["never"]);
  await assertRejects(() => call(model), AbortedError);
  assertEquals([model.callCount, ledger.spent.llmCalls], [0, 0]);
});

Deno.test("callModel() stops waiting for the next attempt when the signal fires", async () => {
  const controller = new AbortController();
  const { ports, ledger } = setUp();
  const model = new MockProvider([busy, "never"]);
  const call = callModel(model, messages, { ledger, ports, signal: controller.signal });
  await ports.clock.advance(100);
  controller.abort("stop now");
  await assertRejects(() => call, AbortedError);
  assertEquals([model.callCount, ports.clock.pending], [1, 0]);
});

Deno.test("W18 callModel() waits for the provider's limiter before it reserves", async () => {
  const { ports, ledger } = setUp({ budget: { maxCalls: 5 } });
  const turn = Promise.withResolvers<Disposable>();
  const order: string[] = [];
  const model: LlmProvider = {
    limiter: { acquire: () => turn.promise, penalize: () => {} },
    complete: () => {
      order.push(`reserved ${ledger.outstanding.llmCalls}`);
      return Promise.reject(new LlmError("auth", "x"));
    },
  };
  const call = callModel(model, messages, { ledger, ports });
  await ports.clock.advance(1);
  order.push(`waiting ${ledger.outstanding.llmCalls}`);
  turn.resolve({ [Symbol.dispose]: () => order.push("turn over") });
  await assertRejects(() => call, LlmError);
  assertEquals(order, ["waiting 0", "reserved 1", "turn over"]);
});

Deno.test("W18 callModel() penalizes the limiter for every refusal for rate, the last one too", async () => {
  const penalties: number[] = [];
  const { call } = setUp({ retry: { maxAttempts: 2 } });
  const mock = new MockProvider([
    new LlmError("rate_limit", "x", { retryable: true, retryAfterMs: 2500 }),
    busy,
  ]);
  const model: LlmProvider = {
    limiter: {
      acquire: () => Promise.resolve({ [Symbol.dispose]: () => {} }),
      penalize: (ms) => penalties.push(ms),
    },
    complete: (said, options) => mock.complete(said, options),
  };
  await assertRejects(() => call(model), LlmError);
  assertEquals(penalties, [2500, 1000]);
});

Deno.test("callModel() takes what a foreign provider throws for what it means", async () => {
  const { call } = setUp({ retry: { maxAttempts: 1 } });
  const model: LlmProvider = { complete: () => Promise.reject(new TypeError("fetch failed")) };
  assertEquals((await assertRejects(() => call(model), LlmError)).code, "network");
});

Deno.test("callModel() releases the reservation where the request could not be written", async () => {
  const { ledger, call } = setUp();
  const model: LlmProvider = { complete: () => Promise.reject(new ConfigError("x")) };
  await assertRejects(() => call(model), ConfigError);
  assertEquals(ledger.spent.llmCalls, 0);
});

Deno.test("W3 callModel() charges the estimate where the endpoint gives no counts", async () => {
  const { ledger, call } = setUp({ maxTokens: 30 });
  await call(new MockProvider([{ content: "ok", usage: { known: false } }]));
  assertEquals(ledger.spent.outputTokens, 30);
  assertEquals(ledger.spent.uncertainTokens, ledger.spent.inputTokens + 30);
  assert(ledger.usageMissing);
});

Deno.test("callModel() leaves retries and reservations to a provider that meters itself", async () => {
  const { ledger, call } = setUp({ budget: { maxCalls: 1 } });
  let asked = 0;
  const model: LlmProvider = {
    metersItself: true,
    complete: (_messages, options) => {
      asked += 1;
      options?.ledger?.reserve({ inputTokens: 1, outputTokens: 1 }).refuse();
      return Promise.reject(broken);
    },
  };
  await assertRejects(() => call(model), LlmError);
  assertEquals([asked, ledger.spent.llmCalls], [1, 1]);
});

Deno.test("callModel() gives providers neither ledger nor trace", async () => {
  const { call } = setUp({ trace: { write: () => {} } });
  const model = new MockProvider(["ok"]);
  await call(model);
  assertEquals(Object.keys(model.lastCall?.options ?? {}).sort(), ["idempotencyKey", "maxTokens"]);
});

Deno.test("callModel() traces one start, each attempt, and one end", async () => {
  const events: TraceEvent[] = [];
  const { call } = setUp({ trace: { write: (event) => events.push(event) }, sampleIndex: 2 });
  await call(new MockProvider([broken, "ok"]));
  assertEquals(events.map((event) => event.kind), [
    "llm-call-start",
    "llm-attempt",
    "llm-attempt",
    "llm-call-end",
  ]);
  const [start, failed, , end] = events;
  assert(start?.kind === "llm-call-start" && failed?.kind === "llm-attempt");
  assert(end?.kind === "llm-call-end");
  assertEquals([start.sampleIndex, start.input, failed.errorCode], [2, undefined, "server"]);
  assertEquals([end.status, end.attempts, end.usage.llmCalls, end.output], ["ok", 2, 2, undefined]);
});

const captures: [capture: "none" | "redacted" | "full", output: string | undefined][] = [
  ["none", undefined],
  ["redacted", "my key is [REDACTED]"],
  ["full", "my key is sk-abcdefgh"],
];
for (const [captureContent, output] of captures) {
  Deno.test(`callModel() traces ${output} where texts are ${captureContent}`, async () => {
    const events: TraceEvent[] = [];
    const write = (event: TraceEvent): void => void events.push(event);
    const { call } = setUp({ trace: { write, captureContent } });
    await call(new MockProvider(["my key is sk-abcdefgh"]));
    const end = events.at(-1);
    assert(end?.kind === "llm-call-end");
    assertEquals(end.output, output);
  });
}

Deno.test("W35 callModel() does not suffer from a sink that throws", async () => {
  const write = (): never => {
    throw new Error("sink");
  };
  const { call } = setUp({ trace: { write } });
  assertEquals((await call(new MockProvider(["ok"]))).content, "ok");
});

Deno.test("W2 callModel() of many at once never passes the cap of calls", async () => {
  const { ports, ledger } = setUp({ budget: { maxCalls: 2 } });
  const model = new MockProvider(["a", "b", "c", "d", "e"]);
  const calls = Array.from(
    { length: 5 },
    () =>
      callModel(model, messages, { ledger, ports }).then(
        () => "ok",
        (error: KitError) => error.code,
      ),
  );
  const outcomes = await ports.clock.run(Promise.all(calls));
  assertEquals(outcomes.toSorted(), ["budget", "budget", "budget", "ok", "ok"]);
  assertEquals([model.callCount, ledger.spent.llmCalls], [2, 2]);
});

Deno.test("callModel() keeps the caller's reason as the cause", async () => {
  const reason = new Error("why");
  const { call } = setUp({ signal: AbortSignal.abort(reason) });
  const error = await assertRejects(() => call(new MockProvider([])), AbortedError);
  assertStrictEquals(error.cause, reason);
});
