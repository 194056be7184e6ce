/** Providers that are not ours: they ignore what they are told, and answer in other shapes. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { callModel, type CallOptions } from "../../src/llm/call.ts";
import { createLedger } from "../../src/llm/create_ledger.ts";
import { createLimiter } from "../../src/llm/create_limiter.ts";
import { LlmError } from "../../src/llm/errors.ts";
import type { LlmResponse } from "../../src/llm/message.ts";
import type { CompleteOptions, LlmProvider, StreamEvent } from "../../src/llm/provider.ts";
import { streamModel } from "../../src/llm/stream.ts";
import type { TraceEvent } from "../../src/llm/trace.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const messages = [{ role: "user", content: "hi" }] as const;
const answer: LlmResponse = {
  content: "late",
  toolCalls: [],
  finishReason: "stop",
  usage: { inputTokens: 7, outputTokens: 2, known: true },
  warnings: [],
};

function setUp(extra: Partial<Omit<CallOptions, "ledger" | "ports">> = {}) {
  const ports = manualPorts();
  const ledger = createLedger({}, { clock: ports.clock });
  const events: TraceEvent[] = [];
  const trace = { write: (event: TraceEvent): void => void events.push(event) };
  const call = (provider: LlmProvider) =>
    ports.clock.run(callModel(provider, messages, { ledger, ports, trace, ...extra }));
  return { ports, ledger, events, call };
}

const ONCE = { maxAttempts: 1 };

Deno.test("callModel() ends an attempt after timeoutMs even if the provider ignores it", async () => {
  const { ports, ledger, call } = setUp({ timeoutMs: 500, retry: ONCE });
  let signal: AbortSignal | undefined;
  const deaf: LlmProvider = {
    complete: (_messages, options) => {
      signal = options?.signal;
      return Promise.withResolvers<LlmResponse>().promise;
    },
  };
  const error = await assertRejects(() => call(deaf), LlmError, "within 500 ms");
  assertEquals([error.code, error.retryable, error.usage.llmCalls], ["timeout", true, 1]);
  assert(error.usage.uncertainTokens > 0);
  assertEquals([ports.clock.monotonic(), ports.clock.pending, signal?.aborted], [500, 0, true]);
  assertEquals(ledger.outstanding.llmCalls, 0);
});

Deno.test("callModel() tries again after timeoutMs and drops the late answer of before", async () => {
  const { ports, ledger, events, call } = setUp({ timeoutMs: 500 });
  const late = Promise.withResolvers<LlmResponse>();
  let asked = 0;
  const provider: LlmProvider = {
    complete: async () => {
      asked += 1;
      if (asked === 1) return await late.promise;
      late.resolve(answer);
      await ports.clock.sleep(100);
      return { ...answer, content: "second" };
    },
  };
  assertEquals((await call(provider)).content, "second");
  assertEquals(ledger.spent.llmCalls, 2);
  const end = events.findIndex((event) => event.kind === "llm-call-end");
  assertEquals(end, events.length - 1, "nothing is traced after the end");
  assertEquals(events.filter((event) => event.kind === "llm-attempt").length, 2);
});

Deno.test("callModel() swallows what a provider that was left behind throws later", async () => {
  const { ports, call } = setUp({ timeoutMs: 500, retry: ONCE });
  const provider: LlmProvider = {
    complete: async () => {
      await ports.clock.sleep(900);
      throw new Error("too late");
    },
  };
  await assertRejects(() => call(provider), LlmError);
  await ports.clock.advance(1000); // an unhandled rejection would end the test run
});

Deno.test("callModel() lets a provider that meters itself keep its own time", async () => {
  const { ports, call } = setUp({ timeoutMs: 500 });
  const provider: LlmProvider = {
    metersItself: true,
    complete: async () => {
      await ports.clock.sleep(900);
      return answer;
    },
  };
  assertEquals((await call(provider)).content, "late");
});

Deno.test("streamModel() ends a stream after timeoutMs even if parts keep coming", async () => {
  const { ports, ledger } = setUp();
  const provider: LlmProvider = {
    complete: () => Promise.resolve(answer),
    async *stream(): AsyncGenerator<StreamEvent> {
      while (true) {
        await ports.clock.sleep(200);
        yield { type: "text", text: "." };
      }
    },
  };
  let text = "";
  const read = async () => {
    for await (const event of streamModel(provider, messages, { ledger, ports, timeoutMs: 500 })) {
      if (event.type === "text") text += event.text;
    }
  };
  const error = await assertRejects(() => ports.clock.run(read()), LlmError);
  assertEquals([error.code, text, ledger.outstanding.llmCalls], ["timeout", "..", 0]);
});

Deno.test("streamModel() holds its turn of the limiter until its end", async () => {
  const { ports, ledger } = setUp();
  let open = 0;
  let most = 0;
  const provider: LlmProvider = {
    limiter: createLimiter({ concurrency: 1, clock: ports.clock }),
    complete: () => Promise.resolve(answer),
    async *stream(): AsyncGenerator<StreamEvent> {
      most = Math.max(most, ++open);
      yield { type: "text", text: "late" };
      await ports.clock.sleep(100);
      open -= 1;
      yield { type: "done", response: answer };
    },
  };
  const read = async () => {
    for await (const _event of streamModel(provider, messages, { ledger, ports })) continue;
  };
  await ports.clock.run(Promise.all([read(), read(), read()]));
  assertEquals(most, 1);
});

/** What JavaScript lets a provider answer, whatever the types say. */
function loose(response: unknown): LlmProvider {
  // deno-lint-ignore no-explicit-any -- a provider that no compiler has seen
  return { complete: () => Promise.resolve(response as any) };
}

Deno.test("W8 callModel() takes an answer of which a provider gives the text alone", async () => {
  const { ledger, call } = setUp();
  const { content, toolCalls, finishReason, usage, warnings } = await call(
    loose({ content: "Paris" }),
  );
  assertEquals([content, toolCalls, finishReason, warnings], ["Paris", [], "unknown", []]);
  assertEquals([usage.known, ledger.usageMissing, ledger.spent.llmCalls], [false, true, 1]);
});

const badUsage: [what: string, usage: unknown][] = [
  ["none", undefined],
  ["null", null],
  ["negative", { inputTokens: -5, outputTokens: 2, known: true }],
  ["NaN", { inputTokens: Number.NaN, outputTokens: 2, known: true }],
  ["texts", { inputTokens: "7", outputTokens: "2", known: true }],
  ["beyond belief", { inputTokens: 2_000_000_000, outputTokens: 2, known: true }],
];
for (const [what, usage] of badUsage) {
  Deno.test(`W8 callModel() charges the estimate where the counts are ${what}`, async () => {
    const { ledger, call } = setUp();
    assertEquals((await call(loose({ ...answer, usage }))).content, "late");
    assertEquals([ledger.spent.llmCalls, ledger.usageMissing], [1, true]);
    assert(ledger.spent.outputTokens > 0 && Number.isFinite(ledger.spent.inputTokens));
  });
}

for (const what of [undefined, null, "Paris", { content: 7 }, []]) {
  Deno.test(`callModel() takes ${JSON.stringify(what)} for an unreadable answer`, async () => {
    const { call } = setUp({ retry: ONCE });
    const error = await assertRejects(() => call(loose(what)), LlmError);
    assertEquals([error.code, error.usage.llmCalls], ["bad_response", 1]);
  });
}

Deno.test("W3 callModel() charges the estimate of a filtered answer without counts", async () => {
  const { ledger, call } = setUp();
  const usage = { inputTokens: 0, outputTokens: 0, llmCalls: 1, uncertainTokens: 0 };
  const filtered = new LlmError("content_filter", "stopped", {
    usage,
    details: { usageKnown: false },
  });
  await assertRejects(() => call({ complete: () => Promise.reject(filtered) }), LlmError);
  assert(ledger.spent.outputTokens > 0, "an answer that was filtered was written all the same");
  assertEquals(ledger.spent.uncertainTokens, ledger.spent.inputTokens + ledger.spent.outputTokens);
});

Deno.test("callModel() charges the estimate where an error has counts beyond belief", async () => {
  const { ledger, call } = setUp();
  const usage = { inputTokens: Number.NaN, outputTokens: -1, llmCalls: 1, uncertainTokens: 0 };
  const odd = new LlmError("content_filter", "stopped", { usage });
  const error = await assertRejects(
    () => call({ complete: () => Promise.reject(odd) }),
    LlmError,
  );
  assertEquals([error.code, ledger.outstanding.llmCalls], ["content_filter", 0]);
  assert(ledger.spent.inputTokens > 0);
});

Deno.test("W5 a wait beyond the cap fails one call and does not put the next to sleep", async () => {
  const { ports, call } = setUp({ retry: { maxRetryAfterMs: 60_000 } });
  const day = new LlmError("rate_limit", "slow down", {
    retryable: true,
    retryAfterMs: 86_400_000,
  });
  let asked = 0;
  const provider: LlmProvider = {
    limiter: createLimiter({ clock: ports.clock }),
    complete: () => ++asked === 1 ? Promise.reject(day) : Promise.resolve(answer),
  };
  await assertRejects(() => call(provider), LlmError);
  assertEquals(ports.clock.monotonic(), 0);
  assertEquals((await call(provider)).content, "late");
  assert(ports.clock.monotonic() <= 61_000, `waited ${ports.clock.monotonic()} ms`);
});

Deno.test("callModel() tells the trace where the endpoint is and what form was asked for", async () => {
  const { events, call } = setUp({ responseFormat: { type: "json_object" } });
  const provider: LlmProvider = {
    url: "https://models.example:8443/v1/chat/completions",
    complete: (_messages, _options?: CompleteOptions) => Promise.resolve(answer),
  };
  await call(provider);
  const [start] = events;
  assert(start?.kind === "llm-call-start");
  assertEquals([start.serverAddress, start.serverPort, start.outputType], [
    "models.example",
    8443,
    "json",
  ]);
});

const ports: [url: string, port: number | undefined][] = [
  ["https://models.example/v1", 443],
  ["http://127.0.0.1/v1", 80],
  ["http://[::1]:11434/v1", 11434],
];
for (const [url, port] of ports) {
  Deno.test(`callModel() traces port ${port} of ${url}`, async () => {
    const { events, call } = setUp();
    await call({ url, complete: () => Promise.resolve(answer) });
    const [start] = events;
    assert(start?.kind === "llm-call-start");
    assertEquals([start.serverPort, start.outputType], [port, undefined]);
  });
}
