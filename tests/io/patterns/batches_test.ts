// deno-lint-ignore-file camelcase -- names of the Message Batches API
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../../src/json/mod.ts";
import { KitError } from "../../../src/llm/mod.ts";
import type { BatchOptions } from "../../../src/patterns/batch_options.ts";
import {
  cancelBatch,
  consensusBatch,
  lookAtBatch,
  mapBatch,
} from "../../../src/patterns/batches.ts";
import { createPorts } from "../../../src/platform/mod.ts";

const KEY = "sk-ant-a-key-of-the-test-0123456789";

interface Entry {
  readonly custom_id: string;
  readonly params: JsonObject;
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: JsonObject;
}

interface Behaviour {
  /** Answers of looks before the batch ends: a status, or an HTTP status to fail with. */
  readonly looks?: readonly (number | "in_progress")[];
  /** Status of the request that sends the batch. */
  readonly createStatus?: number;
  /** Where the results are said to be, instead of where they are. */
  readonly resultsUrl?: string;
  /** What becomes of an entry; default its text in capitals. */
  readonly entry?: (id: string, prompt: string, index: number) => readonly JsonObject[];
}

function answer(id: string, text: string, over: JsonObject = {}): JsonObject {
  return {
    custom_id: id,
    result: {
      type: "succeeded",
      message: {
        content: [{ type: "thinking", thinking: "hm" }, { type: "text", text }],
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 5 },
        ...over,
      },
    },
  };
}

/** Behaves like the Message Batches API of Anthropic, on loopback. */
class FakeEndpoint implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #behaviour: Behaviour;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #entries: readonly Entry[] = [];
  #looks = 0;

  constructor(behaviour: Behaviour = {}) {
    this.#behaviour = behaviour;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/gateway`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const text = await request.text();
    const path = new URL(request.url).pathname.replace("/gateway/v1/messages/batches", "");
    const body = text === "" ? {} : JSON.parse(text);
    this.seen.push({ method: request.method, path, key: request.headers.get("x-api-key"), body });
    if (request.method === "POST" && path === "") return this.#create(body);
    if (path === "/b-1/results") return this.#results();
    if (path === "/b-1/cancel") return Response.json({ id: "b-1", processing_status: "canceling" });
    if (path === "/b-1") return this.#look();
    return Response.json({ error: { message: `no ${path}` } }, { status: 404 });
  }

  #create(body: { requests: readonly Entry[] }): Response {
    const { createStatus = 200 } = this.#behaviour;
    if (createStatus !== 200) {
      return Response.json({ error: { message: `bad key ${KEY}` } }, { status: createStatus });
    }
    this.#entries = body.requests;
    return Response.json({ id: "b-1", processing_status: "in_progress" });
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  #look(): Response {
    const look = this.#behaviour.looks?.[this.#looks];
    this.#looks += 1;
    if (typeof look === "number") return new Response("busy", { status: look });
    return Response.json({
      id: "b-1",
      processing_status: look ?? "ended",
      request_counts: { processing: 0, succeeded: this.#entries.length },
      results_url: look === undefined
        ? this.#behaviour.resultsUrl ?? `${this.baseUrl}/v1/messages/batches/b-1/results`
        : null,
    });
  }

  #results(): Response {
    const { entry = (id, prompt) => [answer(id, prompt.toUpperCase())] } = this.#behaviour;
    const lines = this.#entries.flatMap(({ custom_id, params }, index) => {
      const messages = params["messages"] as readonly { content: string }[];
      return entry(custom_id, messages[0]?.content ?? "", index);
    });
    return new Response(lines.reverse().map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
}

function options(endpoint: FakeEndpoint, over: Partial<BatchOptions> = {}): BatchOptions {
  return {
    apiKey: KEY,
    model: "claude-test",
    baseUrl: endpoint.baseUrl,
    pollMs: 1,
    ports: createPorts(),
    ...over,
  };
}

Deno.test("mapBatch() gives the answers in the order of the prompts and counts what they cost", async () => {
  await using endpoint = new FakeEndpoint({ looks: ["in_progress", "in_progress"] });
  const progress: number[] = [];
  const { value, usage, metadata } = await mapBatch(["a", "b", "c"], {
    ...options(endpoint, { system: "S", temperature: 0.5, maxTokens: 50 }),
    onProgress: ({ done }) => void progress.push(done),
  });
  assertEquals(value, ["A", "B", "C"]);
  assertEquals(usage, { inputTokens: 30, outputTokens: 15, llmCalls: 3, uncertainTokens: 0 });
  assertEquals(metadata, { batchId: "b-1", numRequests: 3, truncated: [] });
  assertEquals(progress, [3, 3]);
  assertEquals(endpoint.entries[1], {
    custom_id: "map-1",
    params: {
      model: "claude-test",
      max_tokens: 50,
      messages: [{ role: "user", content: "b" }],
      system: "S",
      temperature: 0.5,
    },
  });
  assert(endpoint.seen.every(({ key }) => key === KEY));
});

Deno.test("consensusBatch() votes as consensus() does", async () => {
  const texts = ["Paris", "Lyon", "paris."];
  await using endpoint = new FakeEndpoint({
    entry: (id, _prompt, index) => [answer(id, texts[index] ?? "")],
  });
  const { value, score, usage, metadata } = await consensusBatch("Capital?", {
    ...options(endpoint),
    numSamples: 3,
  });
  assertEquals([value, score, usage.llmCalls], ["Paris", 2 / 3, 3]);
  assertEquals([metadata.batchId, metadata.uniqueResponses, metadata.samples.counted], [
    "b-1",
    2,
    3,
  ]);
  assertEquals(endpoint.entries.map(({ custom_id }) => custom_id), [
    "consensus-0",
    "consensus-1",
    "consensus-2",
  ]);
  assertEquals(endpoint.entries[0]?.params["temperature"], 0.9);
});

Deno.test("consensusBatch() does not let refused, truncated and failed entries vote", async () => {
  await using endpoint = new FakeEndpoint({
    entry: (id, _prompt, index) => {
      if (index === 0) return [answer(id, "no", { stop_reason: "refusal" })];
      if (index === 1) return [answer(id, "no", { stop_reason: "max_tokens" })];
      if (index === 2) return [{ custom_id: id, result: { type: "expired" } }];
      return [answer(id, "yes")];
    },
  });
  const { value, metadata } = await consensusBatch("Q?", { ...options(endpoint), numSamples: 7 });
  assertEquals([value, metadata.agreementRatio], ["yes", 4 / 7]);
  assertEquals([metadata.samples.refused, metadata.samples.truncated, metadata.samples.failed], [
    1,
    1,
    1,
  ]);
});

Deno.test("consensusBatch() tells what a broken unanimous vote spent", async () => {
  await using endpoint = new FakeEndpoint({
    entry: (id, _prompt, index) => [answer(id, `${index}`)],
  });
  const error = await assertRejects(
    () => consensusBatch("Q?", { ...options(endpoint), numSamples: 2, strategy: "unanimous" }),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls, error.usage.outputTokens], [
    "no_consensus",
    2,
    10,
  ]);
  assertEquals(error.details["batchId"], "b-1");
});

Deno.test("mapBatch() names entries that are missing, doubled or failed, and keeps the others", async () => {
  await using endpoint = new FakeEndpoint({
    entry: (id, prompt, index) => {
      if (index === 0) return [];
      if (index === 1) return [answer(id, "x"), answer(id, "y")];
      if (index === 2) {
        return [{ custom_id: id, result: { type: "errored", error: { type: "overloaded" } } }];
      }
      return [answer(id, prompt)];
    },
  });
  const error = await assertRejects(
    () => mapBatch(["a", "b", "c", "d"], options(endpoint)),
    KitError,
  );
  assertEquals(error.code, "pattern");
  assertEquals(error.details["problems"], [
    { id: "map-0", problem: "it is missing" },
    { id: "map-1", problem: "it is there twice" },
    { id: "map-2", problem: 'errored: {"type":"overloaded"}' },
  ]);
  assertEquals(error.partial, { values: [null, null, null, "d"] });
  assertEquals([error.usage.llmCalls, error.usage.outputTokens], [4, 5]);
});

Deno.test("mapBatch() charges the estimate where an entry has no believable usage", async () => {
  await using endpoint = new FakeEndpoint({
    entry: (id) => [answer(id, "x", { usage: { input_tokens: -1 } })],
  });
  const { usage } = await mapBatch(["a"], options(endpoint, { maxTokens: 50 }));
  assertEquals([usage.outputTokens, usage.uncertainTokens > 0], [50, true]);
});

Deno.test("mapBatch() that does not fit its budget is not sent", async () => {
  await using endpoint = new FakeEndpoint();
  const error = await assertRejects(
    () =>
      mapBatch(["a", "b"], options(endpoint, { maxTokens: 50, budget: { maxOutputTokens: 99 } })),
    KitError,
  );
  assertEquals([error.code, endpoint.seen.length, error.usage.llmCalls], ["budget", 0, 0]);
});

Deno.test("W41 mapBatch() sends its key nowhere but to the configured origin", async () => {
  await using other = new FakeEndpoint();
  const places = [
    `${other.baseUrl}/v1/messages/batches/b-1/results`,
    "http://user:pass@127.0.0.1/x",
    "",
  ];
  for (const resultsUrl of places) {
    await using endpoint = new FakeEndpoint({ resultsUrl });
    const error = await assertRejects(() => mapBatch(["a"], options(endpoint)), KitError);
    assertEquals([error.code, error.details["batchId"]], [
      resultsUrl === "" ? error.code : "bad_response",
      "b-1",
    ]);
  }
  assertEquals(other.seen.length, 0);
});

Deno.test("W41 mapBatch() looks again after 429, 500 and a cut connection, and gives up after five", async () => {
  await using endpoint = new FakeEndpoint({ looks: [429, 500, "in_progress", 503] });
  assertEquals((await mapBatch(["a"], options(endpoint))).value, ["A"]);
  await using broken = new FakeEndpoint({ looks: [500, 500, 500, 500, 500, 500] });
  const error = await assertRejects(() => mapBatch(["a"], options(broken)), KitError);
  assertEquals([error.code, broken.seen.length], ["server", 6]);
});

Deno.test("W41 mapBatch() masks the key where the endpoint gives it back, and charges nothing that was refused", async () => {
  await using endpoint = new FakeEndpoint({ createStatus: 401 });
  const error = await assertRejects(() => mapBatch(["a"], options(endpoint)), KitError);
  assertEquals([error.code, error.usage.llmCalls, endpoint.seen.length], ["auth", 0, 1]);
  assert(!error.message.includes(KEY));
  assertStringIncludes(error.message, "HTTP 401");
});

Deno.test("W41 mapBatch() whose time is over names its batch, which can be gone on with and cancelled", async () => {
  await using endpoint = new FakeEndpoint({ looks: Array(3).fill("in_progress") });
  const error = await assertRejects(
    () => mapBatch(["a"], options(endpoint, { timeoutMs: 1, pollMs: 5 })),
    KitError,
  );
  assertEquals([error.code, error.details["batchId"], error.usage.llmCalls], ["timeout", "b-1", 1]);
  assertEquals((await lookAtBatch("b-1", options(endpoint))).id, "b-1");
  const { value } = await mapBatch(["a"], { ...options(endpoint), batchId: "b-1" });
  assertEquals(value, ["A"]);
  assertEquals(
    endpoint.seen.filter(({ method, path }) => method === "POST" && path === "").length,
    1,
  );
  assertEquals((await cancelBatch("b-1", options(endpoint))).ended, Boolean(0));
});

Deno.test("mapBatch() stops waiting with the caller's signal", async () => {
  await using endpoint = new FakeEndpoint({ looks: Array(1000).fill("in_progress") });
  const controller = new AbortController();
  const error = await assertRejects(
    () =>
      mapBatch(
        ["a"],
        options(endpoint, {
          pollMs: 60_000,
          signal: controller.signal,
          onProgress: () => controller.abort(),
        }),
      ),
    KitError,
  );
  assertEquals([error.code, error.usage.llmCalls], ["aborted", 1]);
});

const wrong: [what: string, over: Partial<BatchOptions>][] = [
  ["an address without scheme", { baseUrl: "api.example.com" }],
  ["an address with a user", { baseUrl: "https://user:pw@api.example.com" }],
  ["no key", { apiKey: "" }],
  ["no tokens", { maxTokens: 0 }],
];
for (const [what, over] of wrong) {
  Deno.test(`mapBatch() refuses ${what} before anything is sent`, async () => {
    const ports = { ...createPorts(), fetch: () => Promise.reject(new Error("sent")) };
    const whole = { apiKey: KEY, model: "m", ports, ...over };
    const error = await assertRejects(() => mapBatch(["a"], whole), KitError);
    assert(["config", "argument"].includes(error.code), error.code);
  });
}
