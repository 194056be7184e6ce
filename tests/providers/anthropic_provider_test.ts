import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { LlmError, type LlmResponse, type Message, type StreamEvent } from "../../src/llm/mod.ts";
import { createAnthropicProvider } from "../../src/providers/mod.ts";
import { CONTRACT_KEY, testProvider } from "../contracts/provider.ts";
import {
  events,
  type FakePorts,
  fakePorts,
  type FakeResponse,
  hanging,
  json,
} from "./fake_fetch.ts";

const MESSAGES = [{ role: "user", content: "hi" }] as const;
const BASE = "https://api.anthropic.com";

function make(ports: FakePorts, baseUrl = BASE) {
  return createAnthropicProvider({ baseUrl, model: "claude", apiKey: CONTRACT_KEY, ports });
}

function message(
  content: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): Response {
  return json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-2026",
    content,
    stop_reason: "end_turn",
    usage: { input_tokens: 7, output_tokens: 3 },
    ...more,
  });
}

const text = (value: string) => ({ type: "text", text: value });

function ask(response: FakeResponse): Promise<LlmResponse> {
  return make(fakePorts(response)).complete(MESSAGES);
}

function frames(...data: readonly { readonly type: string }[]): Response {
  return events(...data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`));
}

const START = {
  type: "message_start",
  message: { id: "msg_1", model: "claude-2026", usage: { input_tokens: 7, output_tokens: 1 } },
};
const STOP = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];

function textFrames(...pieces: readonly string[]): Response {
  return frames(
    START,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as never,
    { type: "ping" },
    ...pieces.map((piece) =>
      ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text: piece },
      }) as never
    ),
    { type: "content_block_stop", index: 0 } as never,
    ...STOP,
  );
}

testProvider("createAnthropicProvider()", (behaviour) => {
  let asked = 0;
  const ports = fakePorts(hanging);
  const fetch: FakePorts["fetch"] = (input, init) => {
    asked += 1;
    if (behaviour === "hang") return ports.fetch(input, init);
    const streamed = new Headers(init?.headers).get("accept") === "text/event-stream";
    return Promise.resolve(
      streamed ? textFrames("Hello", " there") : message([text("Hello there")]),
    );
  };
  const provider = createAnthropicProvider({
    baseUrl: BASE,
    model: "claude",
    apiKey: CONTRACT_KEY,
    ports: { fetch, clock: ports.clock },
  });
  return { provider, requests: () => asked };
});

const urls: [base: string, url: string][] = [
  ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
  ["https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"],
  ["https://gateway/anthropic/v1/messages?x=1", "https://gateway/anthropic/v1/messages?x=1"],
];
for (const [base, url] of urls) {
  Deno.test(`createAnthropicProvider() asks ${url} for the base ${base}`, async () => {
    const ports = fakePorts(message([text("ok")]));
    await make(ports, base).complete(MESSAGES);
    assertEquals(ports.sent[0]?.url, url);
  });
}

Deno.test("a request has the key, the version, the limit and the system text on their own", async () => {
  const ports = fakePorts(message([text("ok")]));
  await make(ports).complete([
    { role: "system", content: "Be brief" },
    { role: "user", content: "a" },
    { role: "user", content: "b" },
  ], { temperature: 0.5, stop: ["END"] });
  const [sent] = ports.sent;
  assertEquals(sent?.headers.get("x-api-key"), CONTRACT_KEY);
  assertEquals(sent?.headers.get("anthropic-version"), "2023-06-01");
  assertEquals(sent?.headers.get("authorization"), null);
  assertEquals(sent?.body, {
    model: "claude",
    messages: [{ role: "user", content: [text("a"), text("b")] }],
    max_tokens: 4096,
    system: "Be brief",
    temperature: 0.5,
    stop_sequences: ["END"],
  });
});

Deno.test("a tool loop is written as tool_use and tool_result, thinking blocks first", async () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "SIG" };
  const use = { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } };
  const ports = fakePorts(
    message([thinking, use], { stop_reason: "tool_use" }),
    message([text("2")]),
  );
  const provider = make(ports);
  const tools = [{ name: "add", description: "Adds", parameters: { type: "object" } }];
  const first = await provider.complete(MESSAGES, { tools, toolChoice: "required" });
  assertEquals([first.finishReason, first.reasoning, first.content], ["tool_calls", "hm", ""]);
  assert(first.vendorData !== undefined);
  const messages: Message[] = [
    ...MESSAGES,
    {
      role: "assistant",
      content: null,
      toolCalls: first.toolCalls,
      vendorData: first.vendorData,
    },
    { role: "tool", toolCallId: "toolu_1", content: "2" },
  ];
  await provider.complete(messages, { tools });
  assertEquals(ports.sent[0]?.body.tools, [
    { name: "add", description: "Adds", input_schema: { type: "object" } },
  ]);
  assertEquals(ports.sent[0]?.body.tool_choice, { type: "any" });
  assertEquals(ports.sent[1]?.body.messages.slice(1), [
    { role: "assistant", content: [thinking, use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "2" }] },
  ]);
});

Deno.test("thinking is switched on without a temperature", async () => {
  const ports = fakePorts(message([text("ok")]));
  await make(ports).complete(MESSAGES, { reasoning: true, temperature: 0.5 });
  assertEquals(ports.sent[0]?.body.thinking, { type: "adaptive" });
  assertFalse("temperature" in (ports.sent[0]?.body ?? {}));
});

Deno.test("thinking by a vendor field is sent without a temperature too", async () => {
  const ports = fakePorts(message([text("ok")]));
  const thinking = { "type": "enabled", "budget_tokens": 1024 };
  await make(ports).complete(MESSAGES, { temperature: 0.5, extra: { thinking } });
  assertEquals(ports.sent[0]?.body.thinking, thinking);
  assertFalse("temperature" in (ports.sent[0]?.body ?? {}));
});

const reasons: [raw: string, finish: string][] = [
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "refusal"],
  ["pause_turn", "unknown"],
];
for (const [raw, finish] of reasons) {
  Deno.test(`the stop reason ${raw} is ${finish}`, async () => {
    const response = await ask(message([], { stop_reason: raw }));
    assertEquals([response.finishReason, response.rawFinishReason], [finish, raw]);
  });
}

Deno.test("cached prompt tokens count as prompt tokens", async () => {
  const usage = {
    "input_tokens": 5,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 100,
    "output_tokens": 3,
  };
  assertEquals((await ask(message([text("a")], { usage }))).usage, {
    inputTokens: 115,
    outputTokens: 3,
    known: true,
  });
});

Deno.test("calls of an answer that was cut off are unusable", async () => {
  const use = { type: "tool_use", id: "t", name: "add", input: {} };
  const { toolCalls } = await ask(message([use], { stop_reason: "max_tokens" }));
  assertEquals(toolCalls.map((call) => call.kind), ["invalid"]);
});

const refusals: [status: number, type: string, code: string, retryable: boolean][] = [
  [529, "overloaded_error", "overloaded", true],
  [429, "rate_limit_error", "rate_limit", true],
  [401, "authentication_error", "auth", false],
  [400, "invalid_request_error", "bad_request", false],
  [413, "request_too_large", "too_large", false],
  [500, "api_error", "server", true],
];
for (const [status, type, code, retryable] of refusals) {
  Deno.test(`status ${status} with ${type} is ${code}`, async () => {
    const body = { type: "error", error: { type, message: "x" } };
    const error = await assertRejects(() => ask(json(body, { status })), LlmError);
    assertEquals([error.code, error.retryable], [code, retryable]);
  });
}

async function collect(parts: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

Deno.test("stream() puts thinking, text and tool input together", async () => {
  const delta = (index: number, more: Readonly<Record<string, string>>) =>
    ({ type: "content_block_delta", index, delta: more }) as never;
  const open = (index: number, block: unknown) =>
    ({ type: "content_block_start", index, content_block: block }) as never;
  const ports = fakePorts(frames(
    START,
    open(0, { type: "thinking", thinking: "" }),
    delta(0, { type: "thinking_delta", thinking: "hm" }),
    delta(0, { type: "signature_delta", signature: "SIG" }),
    open(1, { type: "tool_use", id: "t", name: "add", input: {} }),
    delta(1, { type: "input_json_delta", partial_json: '{"a"' }),
    delta(1, { type: "input_json_delta", partial_json: ": 1}" }),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens: 9 },
    } as never,
  ));
  const parts = await collect(make(ports).stream(MESSAGES));
  assertEquals(parts.map((part) => part.type), ["reasoning", "done"]);
  const done = parts.at(-1);
  assert(done?.type === "done");
  const { toolCalls, usage, reasoning, vendorData } = done.response;
  assertEquals(toolCalls, [{ kind: "ok", id: "t", name: "add", arguments: { a: 1 } }]);
  assertEquals([usage.inputTokens, usage.outputTokens, reasoning], [7, 9, "hm"]);
  assertEquals<unknown>(vendorData, {
    thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "SIG" }],
  });
});

Deno.test("stream() throws the error of an error event", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const failed = await assertRejects(
    () => collect(make(fakePorts(frames(START, error))).stream(MESSAGES)),
    LlmError,
  );
  assertEquals([failed.code, failed.retryable], ["overloaded", true]);
});

Deno.test("complete() tells what an answer without content cost", async () => {
  const usage = { "input_tokens": 7, "output_tokens": 3 };
  const error = await assertRejects(() => ask(json({ type: "message", usage })), LlmError);
  assertEquals([error.code, error.usage.inputTokens, error.usage.outputTokens], [
    "bad_response",
    7,
    3,
  ]);
});

Deno.test("stream() that stops early is bad_response", async () => {
  const failed = await assertRejects(
    () => collect(make(fakePorts(frames(START))).stream(MESSAGES)),
    LlmError,
  );
  assertEquals(failed.code, "bad_response");
});
