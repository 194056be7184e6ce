/** Providers over the real network stack, against a server that breaks connections in every way. */
import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import {
  AbortedError,
  callModel,
  createLedger,
  LlmError,
  streamModel,
} from "../../../src/llm/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { createOpenAiProvider, type OpenAiProviderOptions } from "../../../src/providers/mod.ts";
import { LoopbackServer, type Play } from "./loopback_server.ts";

const MESSAGES = [{ role: "user", content: "hi" }] as const;
const JSON_HEAD = "200 OK\r\ncontent-type: application/json";

function answer(content: string): Play {
  const body = JSON.stringify({
    choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  });
  return { head: JSON_HEAD, body };
}

function refusal(status: string, ...headers: readonly string[]): Play {
  return { head: [status, ...headers].join("\r\n"), body: '{"error": {"message": "x"}}' };
}

function setUp(server: LoopbackServer, options: Partial<OpenAiProviderOptions> = {}) {
  const ports = createPorts();
  const ledger = createLedger({}, { clock: ports.clock });
  const provider = createOpenAiProvider({ baseUrl: server.baseUrl, model: "m", ports, ...options });
  const retry = { maxAttempts: 3, baseDelayMs: 5 };
  const call = (signal?: AbortSignal) =>
    callModel(provider, MESSAGES, {
      ledger,
      ports,
      retry,
      ...(signal === undefined ? {} : { signal }),
    });
  return { ports, ledger, provider, call };
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !holds(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert(holds());
}

Deno.test("an answer comes over loopback, and is charged as reported", async () => {
  await using server = new LoopbackServer(answer("ok"));
  const { call, ledger, provider } = setUp(server);
  assertEquals((await call()).content, "ok");
  assertEquals([ledger.spent.inputTokens, ledger.spent.outputTokens], [7, 3]);
  assertEquals([server.arrived.length, provider.requestsSent], [1, 1]);
  assertEquals(server.arrived[0]?.line, "POST /v1/chat/completions HTTP/1.1");
});

Deno.test("W7 a connection that ends before an answer is network, counted as what arrived", async () => {
  await using server = new LoopbackServer({ then: "reset" });
  const { provider } = setUp(server);
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals([error.code, error.retryable], ["network", true]);
  assertEquals(server.arrived.length, 1);
});

Deno.test("a pooled connection that dies does not make the runtime send a request again", async () => {
  await using server = new LoopbackServer(answer("ok"), { then: "reset" });
  const { provider } = setUp(server);
  await provider.complete(MESSAGES);
  await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals([server.arrived.length, provider.requestsSent], [2, 2]);
  assertEquals(server.arrived[1]?.headers.get("content-type"), "application/json");
  assertEquals(
    server.arrived[1]?.headers.get("content-length"),
    String(server.arrived[1]?.body.length),
  );
});

Deno.test("W7 a body that breaks off is network, and is asked for again", async () => {
  await using server = new LoopbackServer(
    { head: JSON_HEAD, body: "{", then: "reset" },
    answer("ok"),
  );
  const { call, ledger } = setUp(server);
  assertEquals((await call()).content, "ok");
  assertEquals([server.arrived.length, ledger.spent.llmCalls], [2, 2]);
  assert(ledger.spent.uncertainTokens > 0);
});

Deno.test("a body that stalls ends after timeoutMs, and the connection with it", async () => {
  await using server = new LoopbackServer(
    { head: JSON_HEAD, body: "{", then: "stall" },
    answer("ok"),
  );
  const { call } = setUp(server, { timeoutMs: 100 });
  assertEquals((await call()).content, "ok");
  await until(() => server.givenUp === 1);
});

Deno.test("W10 a body that trickles does not outlive timeoutMs", async () => {
  await using server = new LoopbackServer({ head: JSON_HEAD, body: "{", then: "trickle" });
  const { provider } = setUp(server, { timeoutMs: 150 });
  const started = performance.now();
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals(error.code, "timeout");
  assertLess(performance.now() - started, 15_000);
  await until(() => server.givenUp === 1);
});

Deno.test("an abort ends the connection at once, and the spend is known", async () => {
  await using server = new LoopbackServer({ head: JSON_HEAD, body: "{", then: "stall" });
  const { call, ledger } = setUp(server);
  const controller = new AbortController();
  const called = call(controller.signal);
  await until(() => server.arrived.length === 1);
  controller.abort("enough");
  const error = await assertRejects(() => called, AbortedError);
  assertEquals([error.usage.llmCalls, ledger.outstanding.llmCalls], [1, 0]);
  await until(() => server.givenUp === 1);
  assertEquals(server.arrived.length, 1);
});

Deno.test("leaving a stream ends the connection at once", async () => {
  const chunk = JSON.stringify({ choices: [{ delta: { content: "a" } }] });
  await using server = new LoopbackServer({
    head: "200 OK\r\ncontent-type: text/event-stream",
    body: `data: ${chunk}\n\n`,
    then: "stall",
  });
  const { provider, ledger, ports } = setUp(server);
  for await (const _part of streamModel(provider, MESSAGES, { ledger, ports })) break;
  await until(() => server.givenUp === 1);
  assertEquals(ledger.spent.llmCalls, 1);
});

Deno.test("a refusal for rate is waited out as long as the endpoint asks", async () => {
  await using server = new LoopbackServer(
    refusal("429 Too Many Requests", "retry-after-ms: 120"),
    answer("ok"),
  );
  const { call } = setUp(server);
  const started = performance.now();
  assertEquals((await call()).content, "ok");
  assert(performance.now() - started >= 115);
  const keys = server.arrived.map((request) => request.headers.get("idempotency-key"));
  assertEquals(keys[0], keys[1]);
});

Deno.test("a compressed answer is read", async () => {
  const { body } = answer("ok");
  const zipped = new Response(body).body?.pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(zipped ?? null).arrayBuffer());
  await using server = new LoopbackServer({
    head: `${JSON_HEAD}\r\ncontent-encoding: gzip`,
    body: bytes,
  });
  assertEquals((await setUp(server).call()).content, "ok");
});

Deno.test("W4 a redirect is not followed", async () => {
  await using other = new LoopbackServer(answer("stolen"));
  await using server = new LoopbackServer(
    refusal("307 Temporary Redirect", `location: ${other.baseUrl}/chat/completions`),
  );
  const { call } = setUp(server, { apiKey: "sk-0123456789" });
  assertEquals((await assertRejects(() => call(), LlmError)).code, "redirect");
  assertEquals([server.arrived.length, other.arrived.length], [1, 0]);
});

Deno.test("a server that is not there is network, each attempt one call", async () => {
  const server = new LoopbackServer();
  const { call, ledger } = setUp(server);
  await server[Symbol.asyncDispose]();
  const error = await assertRejects(() => call(), LlmError);
  assertEquals([error.code, error.details["sent"], ledger.spent.llmCalls], ["network", false, 3]);
  assertEquals(ledger.spent.inputTokens, 0);
});
