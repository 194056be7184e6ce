import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  AbortedError,
  callModel,
  type CompleteOptions,
  ConfigError,
  createLedger,
  LlmError,
  type LlmResponse,
  type Message,
  type StreamEvent,
} from "../../src/llm/mod.ts";
import { createOpenAiProvider, type OpenAiProviderOptions } from "../../src/providers/mod.ts";
import { SeededRandom } from "../../src/testing/mod.ts";
import { CONTRACT_KEY, testProvider } from "../contracts/provider.ts";
import {
  completion,
  dataEvents,
  events,
  type FakePorts,
  fakePorts,
  type FakeResponse,
  hanging,
  json,
  stalling,
} from "./fake_fetch.ts";

const MESSAGES = [{ role: "user", content: "hi" }] as const;
const BASE = "http://localhost:1234/v1";

function make(ports: FakePorts, options: Partial<OpenAiProviderOptions> = {}) {
  return createOpenAiProvider({ baseUrl: BASE, model: "m", ports, ...options });
}

function ask(response: FakeResponse, options: CompleteOptions = {}): Promise<LlmResponse> {
  return make(fakePorts(response)).complete(MESSAGES, options);
}

function call(
  ports: FakePorts,
  options: Partial<OpenAiProviderOptions> & { readonly messages?: readonly Message[] } = {},
  request: CompleteOptions = {},
): Promise<LlmResponse> {
  const { messages, ...rest } = options;
  const { clock } = ports;
  const called = callModel(make(ports, rest), messages ?? MESSAGES, {
    ...request,
    ledger: createLedger({}, { clock }),
    ports: { clock, random: new SeededRandom() },
  });
  return clock.run(called);
}

const chunk = (delta: unknown, finish: string | null = null) => ({
  id: "1",
  model: "m-2026",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const USAGE = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } };

function answering(): FakeResponse {
  return completion({ content: "Hello there" });
}

testProvider("createOpenAiProvider()", (behaviour) => {
  const streamed = dataEvents(
    chunk({ content: "Hello" }),
    chunk({ content: " there" }, "stop"),
    USAGE,
  );
  let asked = 0;
  const ports = fakePorts(hanging);
  const fetch: FakePorts["fetch"] = (input, init) => {
    asked += 1;
    if (behaviour === "hang") return ports.fetch(input, init);
    const wantsEvents = new Headers(init?.headers).get("accept") === "text/event-stream";
    const response = answering();
    assert(response instanceof Response);
    return Promise.resolve(wantsEvents ? streamed : response);
  };
  const provider = createOpenAiProvider({
    baseUrl: BASE,
    model: "m",
    apiKey: CONTRACT_KEY,
    ports: { fetch, clock: ports.clock },
  });
  return { provider, requests: () => asked };
});

Deno.test("a request is one POST of JSON that follows no redirect, with key and idempotency key", async () => {
  const ports = fakePorts(answering());
  const provider = make(ports, { apiKey: "sk-0123456789", defaultMaxTokens: 100 });
  await provider.complete(MESSAGES, { temperature: 0, idempotencyKey: "k1" });
  const [sent] = ports.sent;
  assert(sent !== undefined);
  assertEquals([sent.method, sent.url, sent.redirect], [
    "POST",
    "http://localhost:1234/v1/chat/completions",
    "manual",
  ]);
  assertEquals(sent.headers.get("authorization"), "Bearer sk-0123456789");
  assertEquals(sent.headers.get("content-type"), "application/json");
  assertEquals(sent.headers.get("idempotency-key"), "k1");
  assertEquals(sent.body, { model: "m", messages: MESSAGES, temperature: 0, max_tokens: 100 });
  assertEquals(ports.clock.pending, 0);
});

Deno.test("a blank key sends no authorization, and configured headers replace ours", async () => {
  const ports = fakePorts(answering());
  await make(ports, { apiKey: "  ", headers: { Accept: "text/x", "api-key": "k" } })
    .complete(MESSAGES);
  assertEquals(ports.sent[0]?.headers.get("authorization"), null);
  assertEquals(ports.sent[0]?.headers.get("accept"), "text/x");
  assertEquals(ports.sent[0]?.headers.get("api-key"), "k");
});

const answers: [what: string, response: () => FakeResponse, expected: Partial<LlmResponse>][] = [
  ["null content as no text", () => completion({ content: null }), { content: "" }],
  [
    "parts of text, unknown parts dropped",
    () =>
      completion({
        content: ["a", { type: "text", text: "b" }, { type: "image" }, { value: "c" }],
      }),
    {
      content: "abc",
    },
  ],
  ["thinking parts apart", () =>
    completion({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
        { type: "output_text", text: { value: "4" } },
      ],
    }), { content: "4", reasoning: "hm" }],
  ["reasoning_content apart", () => completion({ content: "4", reasoning_content: "hm" }), {
    content: "4",
    reasoning: "hm",
  }],
  ["think tags apart", () => completion({ content: "<think>hm</think>4" }), {
    content: "4",
    reasoning: "hm",
  }],
  ["half a surrogate as a replacement character", () => completion({ content: "a\ud83d" }), {
    content: "a\ufffd",
  }],
  ["no reason to stop as unknown", () => completion({ content: "a" }, { finish: null }), {
    finishReason: "unknown",
  }],
  [
    "a reason unheard of as unknown, kept raw",
    () => completion({ content: "a" }, { finish: "eos" }),
    {
      finishReason: "unknown",
      rawFinishReason: "eos",
    },
  ],
  ["max_tokens as length", () => completion({ content: "a" }, { finish: "max_tokens" }), {
    finishReason: "length",
  }],
  ["a refusal", () => completion({ content: null, refusal: "No." }), {
    finishReason: "refusal",
    refusal: "No.",
    content: "",
  }],
  [
    "usage of another dialect",
    () => completion({ content: "a" }, { usage: { input_tokens: 1, output_tokens: 2 } }),
    {
      usage: { inputTokens: 1, outputTokens: 2, known: true },
    },
  ],
  ["no usage as unknown", () => completion({ content: "a" }, { usage: null }), {
    usage: { inputTokens: 0, outputTokens: 0, known: false },
  }],
  [
    "events although none were asked for",
    () => dataEvents(chunk({ content: "Hel" }), chunk({ content: "lo" }, "stop"), USAGE),
    {
      content: "Hello",
      usage: { inputTokens: 7, outputTokens: 3, known: true },
    },
  ],
  ["a byte order mark", () => new Response('\uFEFF{"choices":[{"message":{"content":"ok"}}]}'), {
    content: "ok",
  }],
  ["model and id", () => answering(), { model: "m-2026", id: "c1" }],
];
for (const [what, response, expected] of answers) {
  Deno.test(`complete() reads ${what}`, async () => {
    const given = await ask(response());
    const same = Object.keys(expected).map((key) => [key, Reflect.get(given, key)]);
    assertEquals(Object.fromEntries(same), expected);
  });
}

const toolCall = (name: string, args: unknown, id = "call_1") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

Deno.test("complete() keeps tool calls in order, arguments parsed", async () => {
  const { toolCalls, finishReason } = await ask(
    completion(
      { content: null, tool_calls: [toolCall("a", '{"x": 1}'), toolCall("b", null, "2")] },
      {
        finish: "tool_calls",
      },
    ),
  );
  assertEquals(finishReason, "tool_calls");
  assertEquals(toolCalls, [
    { kind: "ok", id: "call_1", name: "a", arguments: { x: 1 } },
    { kind: "ok", id: "2", name: "b", arguments: {} },
  ]);
});

Deno.test("complete() gives calls without or with equal ids unique ones", async () => {
  const calls = [toolCall("a", "{}", ""), toolCall("a", "{}", "x"), toolCall("a", "{}", "x")];
  const { toolCalls } = await ask(completion({ tool_calls: calls }));
  assertEquals(toolCalls.map((one) => one.id), ["call_1", "x", "call_3"]);
});

Deno.test("W12 complete() keeps arguments that cannot be used, with the reason", async () => {
  const { toolCalls } = await ask(completion({ tool_calls: [toolCall("a", '{"x": listt"}')] }));
  const [first] = toolCalls;
  assert(first?.kind === "invalid");
  assertEquals(first.rawArguments, '{"x": listt"}');
  assertMatch(first.problem, /not valid JSON/);
});

Deno.test("complete() marks arguments that were mended", async () => {
  const { toolCalls } = await ask(completion({ tool_calls: [toolCall("a", "{'x': True,}")] }));
  assertEquals(toolCalls, [
    { kind: "ok", id: "call_1", name: "a", arguments: { x: true }, repaired: true },
  ]);
});

Deno.test("complete() makes every call of an answer that was cut off unusable", async () => {
  const { toolCalls } = await ask(
    completion({ tool_calls: [toolCall("a", "{}")] }, { finish: "length" }),
  );
  assertEquals(toolCalls.map((one) => one.kind), ["invalid"]);
});

Deno.test("complete() makes a call without a name unusable instead of failing", async () => {
  const { toolCalls } = await ask(completion({ tool_calls: [toolCall("", "{}")] }));
  assert(toolCalls[0]?.kind === "invalid");
  assertEquals(toolCalls[0].problem, "The call names no tool");
});

Deno.test("complete() reads a legacy function_call", async () => {
  const { toolCalls } = await ask(
    completion({ content: null, function_call: { name: "a", arguments: "{}" } }),
  );
  assertEquals(toolCalls, [{ kind: "ok", id: "call_1", name: "a", arguments: {} }]);
});

const TOOLS = [{ name: "add", description: "Adds", parameters: { type: "object" } }];

Deno.test("complete() takes a text that is a call of an offered tool for the call", async () => {
  const text = '{"name": "add", "arguments": {"a": 1}}';
  const offered = await ask(completion({ content: text }), { tools: TOOLS });
  assertEquals([offered.content, offered.finishReason, offered.toolCalls.length], [
    "",
    "tool_calls",
    1,
  ]);
  assertEquals((await ask(completion({ content: text }))).content, text);
});

Deno.test("W9 a content filter throws, with the text so far and what it cost", async () => {
  const error = await assertRejects(
    () => ask(completion({ content: "half a sen" }, { finish: "content_filter" })),
    LlmError,
  );
  assertEquals([error.code, error.retryable, error.partial], [
    "content_filter",
    false,
    "half a sen",
  ]);
  assertEquals([error.usage.inputTokens, error.usage.outputTokens], [7, 3]);
});

Deno.test("complete() reads the body into buffers of 8 KiB, not of 64", async () => {
  const text = await completion({ content: "é".repeat(20_000) }).text();
  let left = new TextEncoder().encode(text);
  const sizes: number[] = [];
  const body = new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 65_536,
    pull(controller): void {
      const request = controller.byobRequest;
      const room = request?.view?.byteLength ?? 0;
      sizes.push(room);
      const part = left.subarray(0, room);
      left = left.subarray(part.length);
      if (part.length === 0) controller.close();
      else if (request?.view !== null && request !== null) {
        new Uint8Array(request.view.buffer, request.view.byteOffset).set(part);
      }
      request?.respond(part.length);
    },
  });
  const { content } = await ask(new Response(body));
  assertEquals(content, "é".repeat(20_000));
  assertEquals(new Set(sizes), new Set([8_192]));
});

const unreadable: [what: string, response: () => FakeResponse, says: RegExp][] = [
  ["an empty body", () => new Response(""), /empty/],
  ["a web page", () => new Response("<!DOCTYPE html><p>Hi</p>"), /web page/],
  ["text", () => new Response("hello"), /not JSON/],
  ["a list", () => json([]), /not an object/],
  ["no choices", () => json({ choices: [] }), /no choices/],
  ["choices that are no list", () => json({ choices: { 0: {} } }), /no choices/],
  ["a choice without a message", () => json({ choices: [{ message: null }] }), /no message/],
  ["content that is a number", () => completion({ content: 3 }), /neither a text nor/],
  ["tool_calls that are no list", () => completion({ tool_calls: {} }), /not a list/],
  ["bytes that are not UTF-8", () => new Response(new Uint8Array([0x22, 0xff])), /not UTF-8/],
  [
    "a compressed body that nobody announced",
    () => new Response(new Uint8Array([0x1f, 0x8b, 8])),
    /compressed/,
  ],
  ["200 levels", () => new Response("[".repeat(200) + "]".repeat(200)), /deeper than 128/],
  [
    "events that stop early",
    () => events('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),
    /ended early/,
  ],
];
for (const [what, response, says] of unreadable) {
  Deno.test(`W6 complete() takes ${what} for bad_response`, async () => {
    const error = await assertRejects(() => ask(response()), LlmError);
    assertEquals([error.code, error.retryable], ["bad_response", true]);
    assertMatch(error.message, says);
  });
}

const billed: [
  what: string,
  body: Readonly<Record<string, unknown>>,
  charged: [number, number, number],
][] = [
  ["usage and no choices", { usage: { prompt_tokens: 70, completion_tokens: 30 } }, [70, 30, 0]],
  ["usage and a choice without a message", {
    choices: [{ message: null }],
    usage: { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 },
  }, [7, 0, 0]],
  ["neither choices nor usage", {}, [11, 10, 21]],
  ["no choices, and counts that cannot be believed", { usage: { prompt_tokens: -5 } }, [
    11,
    10,
    21,
  ]],
];
for (const [what, body, [inputTokens, outputTokens, uncertainTokens]] of billed) {
  Deno.test(`callModel() charges an answer with ${what} by what is known of it`, async () => {
    const ports = fakePorts(json(body));
    const ledger = createLedger();
    await assertRejects(
      () =>
        callModel(make(ports), MESSAGES, {
          ledger,
          maxTokens: 10,
          retry: { maxAttempts: 1 },
          ports: {
            clock: ports.clock,
            random: new SeededRandom(),
          },
        }),
      LlmError,
    );
    assertEquals(ledger.spent, { inputTokens, outputTokens, llmCalls: 1, uncertainTokens });
  });
}

Deno.test("complete() reads no more than maxResponseBytes", async () => {
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(1000));
    },
  });
  const provider = make(fakePorts(new Response(endless)), { maxResponseBytes: 5000 });
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertMatch(error.message, /more than 5000 bytes/);
  assert(pulled < 20);
});

Deno.test("W6 whatever JSON comes with status 200 gives an answer or an error of Kit", async () => {
  const names = ["choices", "message", "content", "tool_calls", "function", "arguments", "name"];
  const more = [
    "error",
    "code",
    "usage",
    "finish_reason",
    "reasoning_content",
    "type",
    "text",
    "id",
  ];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.boolean(),
      fc.constantFrom<unknown>(
        null,
        0,
        -1,
        1.5,
        "",
        "stop",
        "{}",
        "content_filter",
        "<think>",
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names, ...more), tie("value"), { maxKeys: 5 }),
    ),
  }));
  const completions = fc.record({
    choices: fc.array(fc.record({ message: value }), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(value, completions), async (body) => {
      try {
        const response = await ask(json(body), { tools: TOOLS });
        assert(response.toolCalls.every((call) => call.id !== ""));
      } catch (error) {
        assert(error instanceof LlmError, Deno.inspect(error));
      }
    }),
    { numRuns: 500 },
  );
});

const errorsIn200: [what: string, body: unknown, code: string, retryable: boolean][] = [
  ["a numeric code", { error: { message: "Slow down", code: 429 } }, "rate_limit", true],
  [
    "a code of a bad request",
    { error: { message: "No such model", code: 400 } },
    "bad_request",
    false,
  ],
  ["a code word", { error: { message: "x", code: "insufficient_quota" } }, "quota", false],
  ["a text", { error: "model not loaded" }, "bad_response", true],
];
for (const [what, body, code, retryable] of errorsIn200) {
  Deno.test(`an error in a 200 with ${what} is ${code}`, async () => {
    const error = await assertRejects(() => ask(json(body)), LlmError);
    assertEquals([error.code, error.retryable], [code, retryable]);
  });
}

Deno.test("W4 a redirect is refused, naming where it leads without its query", async () => {
  const ports = fakePorts(
    new Response("", { status: 307, headers: { location: "https://evil.example/v1?k=secret" } }),
  );
  const error = await assertRejects(() => make(ports).complete(MESSAGES), LlmError);
  assertEquals([error.code, error.retryable, ports.sent.length], ["redirect", false, 1]);
  assert(error.message.includes("redirects to https://evil.example/v1;"));
  assertFalse(error.message.includes("secret"));
});

Deno.test("W10 an attempt ends after timeoutMs, body included", async () => {
  const ports = fakePorts((signal) => Promise.resolve(stalling(signal, "{")));
  const answer = make(ports, { timeoutMs: 200 }).complete(MESSAGES);
  const error = await assertRejects(() => ports.clock.run(answer), LlmError);
  assertEquals([error.code, error.retryable], ["timeout", true]);
  assertEquals([ports.clock.monotonic(), ports.clock.pending], [200, 0]);
});

Deno.test("timeoutMs of a call goes before that of the provider", async () => {
  const ports = fakePorts(hanging);
  const answer = make(ports, { timeoutMs: 5000 }).complete(MESSAGES, { timeoutMs: 50 });
  await assertRejects(() => ports.clock.run(answer), LlmError);
  assertEquals(ports.clock.monotonic(), 50);
});

Deno.test("a refusal whose body stalls is known by its status", async () => {
  const ports = fakePorts((signal) => {
    const { body } = stalling(signal, "{");
    return Promise.resolve(new Response(body, { status: 429, headers: { "retry-after": "3" } }));
  });
  const answer = make(ports, { timeoutMs: 200 }).complete(MESSAGES);
  const error = await assertRejects(() => ports.clock.run(answer), LlmError);
  assertEquals([error.code, error.retryAfterMs], ["rate_limit", 3000]);
});

Deno.test("W15 the key is masked where an endpoint repeats it", async () => {
  const apiKey = "my-own-key-0123456789";
  const body = { error: { message: `Incorrect API key provided: ${apiKey}` } };
  const ports = fakePorts(json(body, { status: 401 }));
  const error = await assertRejects(() => make(ports, { apiKey }).complete(MESSAGES), LlmError);
  assertEquals(error.code, "auth");
  assertFalse(Deno.inspect(error).includes(apiKey));
  assert(error.message.includes("[REDACTED]"));
});

Deno.test("what fetch throws is told with the endpoint's URL, its query left out", async () => {
  const provider = make(fakePorts(new TypeError("error sending request")), {
    baseUrl: "http://localhost:1/v1?key=abcdefgh",
  });
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals(error.code, "network");
  assertMatch(error.message, /http:\/\/localhost:1\/v1\/chat\/completions$/);
});

Deno.test("W15 a failed connection shows no query, not even in its causes", async () => {
  const url = `${BASE}/chat/completions?key=abcdefgh`;
  const beneath = new Error(`tcp connect error: ${url}`);
  const thrown = new TypeError(`error sending request for url (${url})`, { cause: beneath });
  const provider = make(fakePorts(thrown), { baseUrl: `${BASE}?key=abcdefgh` });
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertMatch(Deno.inspect(error), /tcp connect error/);
  assertFalse(Deno.inspect(error).includes("abcdefgh"));
});

Deno.test("an abort in the middle of the body is no time-out", async () => {
  const controller = new AbortController();
  const ports = fakePorts((signal) => Promise.resolve(stalling(signal, "{")));
  const answer = make(ports).complete(MESSAGES, { signal: controller.signal });
  await ports.clock.advance(1);
  controller.abort("enough");
  assertEquals((await assertRejects(() => answer, AbortedError)).cause, "enough");
  assertEquals(ports.clock.pending, 0);
});

const refused = (message: string) => json({ error: { message } }, { status: 400 });

const dropped: [what: string, message: string, request: CompleteOptions, field: string][] = [
  [
    "response_format",
    "'response_format.type' must be 'json_schema' or 'text'",
    { responseFormat: { type: "json_object" } },
    "response_format",
  ],
  [
    "temperature",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    { temperature: 0.2 },
    "temperature",
  ],
  ["seed", "Unrecognized request argument supplied: seed", { seed: 1 }, "seed"],
];
for (const [what, message, request, field] of dropped) {
  Deno.test(`a refused ${what} is left out at the cost of one attempt, and remembered`, async () => {
    const ports = fakePorts(refused(message), answering(), answering());
    const provider = make(ports);
    const { clock } = ports;
    const options = {
      ...request,
      ledger: createLedger(),
      ports: { clock, random: new SeededRandom() },
      retry: { maxAttempts: 1 },
    };
    const first = await clock.run(callModel(provider, MESSAGES, options));
    await clock.run(callModel(provider, MESSAGES, options));
    assertEquals(ports.sent.map((one) => field in one.body), [true, false, false]);
    assertEquals(first.warnings, [`The endpoint refuses "${field}": it is not sent any more`]);
  });
}

Deno.test("W13 max_tokens becomes max_completion_tokens where the endpoint says so", async () => {
  const ports = fakePorts(
    refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    answering(),
  );
  await call(ports, {}, { maxTokens: 50 });
  assertEquals(ports.sent[1]?.body.max_completion_tokens, 50);
  assertFalse("max_tokens" in (ports.sent[1]?.body ?? {}));
});

Deno.test("a limit that the caller broke is not left out", async () => {
  const ports = fakePorts(refused("max_tokens must be <= 5000"), answering());
  await assertRejects(() => call(ports, {}, { maxTokens: 9000 }), LlmError);
  assertEquals(ports.sent.length, 1);
});

Deno.test("thinking is sent back with tool calls once the endpoint asks for it", async () => {
  const ports = fakePorts(
    completion({ content: null, reasoning_content: "because", tool_calls: [toolCall("t", "{}")] }),
    refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
    answering(),
  );
  const provider = make(ports);
  const first = await provider.complete(MESSAGES);
  const { clock } = ports;
  const messages: Message[] = [
    ...MESSAGES,
    {
      role: "assistant",
      content: first.content,
      toolCalls: first.toolCalls,
      ...(first.vendorData === undefined ? {} : { vendorData: first.vendorData }),
    },
    { role: "tool", toolCallId: "call_1", content: "1" },
  ];
  const options = { ledger: createLedger(), ports: { clock, random: new SeededRandom() } };
  await clock.run(callModel(provider, messages, options));
  const turns = ports.sent.map((one) => one.body.messages[1]?.reasoning_content);
  assertEquals(turns, [undefined, undefined, "because"]);
});

Deno.test("what a vendor ties to a tool call is sent back with it", async () => {
  const extra = { google: { thought_signature: "SIG" } };
  const ports = fakePorts(
    completion({ tool_calls: [{ ...toolCall("t", "{}"), extra_content: extra }] }),
    answering(),
  );
  const provider = make(ports);
  const { toolCalls, vendorData } = await provider.complete(MESSAGES);
  assert(vendorData !== undefined);
  await provider.complete([
    ...MESSAGES,
    { role: "assistant", content: "", toolCalls, vendorData },
    { role: "tool", toolCallId: "call_1", content: "1" },
  ]);
  assertEquals(ports.sent[1]?.body.messages[1].tool_calls[0].extra_content, extra);
});

Deno.test("a prompt that was cut by the endpoint gives a warning", async () => {
  const ports = fakePorts(
    completion({ content: "?" }, { usage: { prompt_tokens: 2051, completion_tokens: 9 } }),
  );
  const long = [{ role: "user", content: "x".repeat(60_000) }] as const;
  const { warnings } = await make(ports).complete(long);
  assertMatch(warnings[0] ?? "", /seems to have been truncated/);
});

async function collect(parts: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

Deno.test("stream() asks for events and usage", async () => {
  const ports = fakePorts(dataEvents(chunk({ content: "a" }, "stop")));
  await collect(make(ports).stream(MESSAGES));
  assert(ports.sent[0]?.body.stream);
  assertEquals(ports.sent[0]?.body.stream_options, { include_usage: true });
});

Deno.test("stream() tells thinking from text, in fields and in tags", async () => {
  const ports = fakePorts(dataEvents(
    chunk({ reasoning_content: "one " }),
    chunk({ content: "<th" }),
    chunk({ content: "ink>two</think>" }),
    chunk({ content: "3" }, "stop"),
  ));
  const parts = await collect(make(ports).stream(MESSAGES));
  const said = parts.map((part) => part.type === "done" ? "done" : `${part.type} ${part.text}`);
  assertEquals(said, ["reasoning one ", "reasoning two", "text 3", "done"]);
});

Deno.test("stream() puts tool calls together by index", async () => {
  const piece = (index: number, more: unknown) =>
    chunk({ tool_calls: [{ index, ...Object(more) }] });
  const ports = fakePorts(dataEvents(
    piece(0, { id: "x", function: { name: "a", arguments: '{"n"' } }),
    piece(1, { id: "y", function: { name: "b", arguments: "{}" } }),
    piece(0, { function: { arguments: ": 1}" } }),
    chunk({}, "tool_calls"),
  ));
  const done = (await collect(make(ports).stream(MESSAGES))).at(-1);
  assert(done?.type === "done");
  assertEquals(done.response.toolCalls, [
    { kind: "ok", id: "x", name: "a", arguments: { n: 1 } },
    { kind: "ok", id: "y", name: "b", arguments: {} },
  ]);
});

Deno.test("W16 stream() throws the error of an error frame", async () => {
  const ports = fakePorts(
    dataEvents(chunk({ content: "a" }), { error: { message: "Overloaded", code: 429 } }),
  );
  const error = await assertRejects(() => collect(make(ports).stream(MESSAGES)), LlmError);
  assertEquals(error.code, "rate_limit");
});

Deno.test("W16 stream() takes a connection that closes early for bad_response", async () => {
  const ports = fakePorts(events(`data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`));
  const error = await assertRejects(() => collect(make(ports).stream(MESSAGES)), LlmError);
  assertEquals(error.code, "bad_response");
});

Deno.test("stream() is content with an end mark or a reason to stop", async () => {
  const ports = fakePorts(
    events(`data: ${JSON.stringify(chunk({ content: "a" }, "stop"))}`),
    dataEvents(chunk({ content: "a" })),
  );
  const provider = make(ports);
  assertEquals((await collect(provider.stream(MESSAGES))).at(-1)?.type, "done");
  assertEquals((await collect(provider.stream(MESSAGES))).at(-1)?.type, "done");
});

Deno.test("stream() ends where nothing comes for idleTimeoutMs", async () => {
  const first = `data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`;
  const ports = fakePorts((signal) => Promise.resolve(stalling(signal, first)));
  const parts = collect(make(ports, { idleTimeoutMs: 300 }).stream(MESSAGES));
  const error = await assertRejects(() => ports.clock.run(parts), LlmError);
  assertEquals([error.code, ports.clock.monotonic()], ["timeout", 300]);
  assertMatch(error.message, /stopped sending/);
});

Deno.test("W17 leaving stream() early ends the request", async () => {
  let given: AbortSignal | undefined;
  const first = `data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`;
  const ports = fakePorts((signal) => {
    given = signal;
    return Promise.resolve(stalling(signal, first));
  });
  for await (const _part of make(ports).stream(MESSAGES)) break;
  assert(given?.aborted);
  assertEquals(ports.clock.pending, 0);
});

Deno.test("stream() reads an answer of JSON although events were asked for", async () => {
  const parts = await collect(make(fakePorts(answering())).stream(MESSAGES));
  assertEquals(parts.map((part) => part.type), ["text", "done"]);
});

const badOptions: [what: string, options: Partial<OpenAiProviderOptions>][] = [
  ["no model", { model: " " }],
  ["a key with a line break", { apiKey: "sk-12345678\nx" }],
  ["a header with a line break", { headers: { a: "b\nc" } }],
  ["a time-out of 0", { timeoutMs: 0 }],
  ["a time-out beyond what timers can do", { idleTimeoutMs: 2 ** 31 }],
];
for (const [what, options] of badOptions) {
  Deno.test(`createOpenAiProvider() refuses ${what}, and shows no secret`, () => {
    try {
      make(fakePorts(), options);
    } catch (error) {
      assert(error instanceof ConfigError);
      assertFalse(error.message.includes("12345678"));
      return;
    }
    throw new Error("nothing was refused");
  });
}

Deno.test("requestsSent counts what left, refused or not", async () => {
  const provider = make(fakePorts(json({}, { status: 500 }), answering()));
  await assertRejects(() => provider.complete(MESSAGES), LlmError);
  await provider.complete(MESSAGES);
  assertEquals(provider.requestsSent, 2);
});

Deno.test("a provider shows its model and address, and three stars for a key", () => {
  const provider = make(fakePorts(), { apiKey: "sk-0123456789", baseUrl: `${BASE}?key=abcdefgh` });
  assertEquals(
    Deno.inspect(provider),
    "OpenAiProvider(m at http://localhost:1234/v1/chat/completions, key ***)",
  );
});

for (const field of ["max_tokens", "max_completion_tokens", "model", "messages", "stream", "n"]) {
  Deno.test(`W2 createOpenAiProvider() refuses reasoningParameters with ${field}`, () => {
    const error = assertThrows(
      () =>
        createOpenAiProvider({
          baseUrl: "http://models.example/v1",
          model: "m",
          reasoningParameters: { reasoning_effort: "high", [field]: 99_999 },
        }),
      ConfigError,
    );
    assert(error.message.includes(`"${field}"`));
  });
}
