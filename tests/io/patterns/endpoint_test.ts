import { assert, assertEquals, assertRejects } from "@std/assert";
import { KitError } from "../../../src/llm/mod.ts";
import { consensus } from "../../../src/patterns/consensus.ts";
import { mapReduce } from "../../../src/patterns/map_reduce.ts";
import { reactLoop } from "../../../src/patterns/react_loop.ts";
import { structured } from "../../../src/patterns/structured.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { createOpenAiProvider } from "../../../src/providers/mod.ts";

/** A chat-completions endpoint on loopback that tells what it saw. */
class Endpoint implements AsyncDisposable {
  readonly starts: number[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answer: (index: number) => Promise<Response> | Response) {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const index = this.starts.length;
        this.starts.push(performance.now());
        await request.text();
        return await answer(index);
      },
    );
  }

  provider() {
    const baseUrl = `http://127.0.0.1:${this.#server.addr.port}/v1`;
    return createOpenAiProvider({ baseUrl, model: "m", ports: createPorts() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Answers that begin and never end, and how many of them were cut off by the client. */
class Stalling {
  #cut = 0;
  #settle = () => {};

  /** Settles when so many answers were cut off. */
  async cutOff(count: number): Promise<void> {
    while (this.#cut < count) await new Promise<void>((resolve) => this.#settle = resolve);
    assertEquals(this.#cut, count);
  }

  answer(): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"choices":')),
      cancel: () => {
        this.#cut += 1;
        this.#settle();
      },
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  }
}

function completion(content: string): Response {
  return Response.json({
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
}

function refusal(status: number, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { message: "x" } }, { status, headers });
}

const ports = createPorts();

Deno.test("consensus() of nine has all its requests at the endpoint before the first is answered", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using endpoint = new Endpoint(async (index) => {
    if (index === 8) resolve();
    await promise;
    return completion("A");
  });
  const { value } = await consensus(endpoint.provider(), "Q?", {
    numSamples: 9,
    deadlineMs: 20_000,
    ports,
  });
  assertEquals([value, endpoint.starts.length], ["A", 9]);
});

Deno.test("reactLoop() past its deadline ends in time and cuts its connection", async () => {
  const stalling = new Stalling();
  await using endpoint = new Endpoint(() => stalling.answer());
  const started = performance.now();
  const error = await assertRejects(
    () => reactLoop(endpoint.provider(), "Q?", { deadlineMs: 100, ports }),
    KitError,
  );
  const took = performance.now() - started;
  assertEquals([error.code, endpoint.starts.length, error.usage.llmCalls], ["budget", 1, 1]);
  assert(took >= 80 && took < 15_000, `${took} ms`);
  await stalling.cutOff(1);
});

Deno.test("W54 consensus() cuts its connections when the caller aborts, and sends nothing more", async () => {
  const stalling = new Stalling();
  await using endpoint = new Endpoint(() => stalling.answer());
  const controller = new AbortController();
  const work = consensus(endpoint.provider(), "Q?", {
    numSamples: 4,
    maxConcurrency: 3,
    signal: controller.signal,
    ports,
  });
  const caught = assertRejects(() => work, KitError);
  while (endpoint.starts.length < 3) await ports.clock.sleep(5);
  controller.abort();
  const error = await caught;
  await stalling.cutOff(3);
  assertEquals([error.code, endpoint.starts.length, error.usage.llmCalls], ["aborted", 3, 3]);
});

const patterns: [
  name: string,
  run: (endpoint: Endpoint, maxAttempts: number) => Promise<unknown>,
][] = [
  [
    "structured",
    (endpoint, maxAttempts) =>
      structured(endpoint.provider(), "Q?", {
        maxRepairs: 2,
        ports,
        retry: { maxAttempts, baseDelayMs: 1 },
      }),
  ],
  [
    "reactLoop",
    (endpoint, maxAttempts) =>
      reactLoop(endpoint.provider(), "Q?", {
        maxRounds: 3,
        ports,
        retry: { maxAttempts, baseDelayMs: 1 },
      }),
  ],
  ["mapReduce", (endpoint, maxAttempts) =>
    mapReduce(endpoint.provider(), ["a"], {
      mapPrompt: "{item}",
      reducePrompt: "{mapped_outputs}",
      ports,
      retry: { maxAttempts, baseDelayMs: 1 },
    })],
];
for (const [name, run] of patterns) {
  for (const maxAttempts of [1, 3]) {
    Deno.test(`${name}() sends a failing request ${maxAttempts} times and no oftener`, async () => {
      await using endpoint = new Endpoint(() => refusal(503));
      const error = await assertRejects(() => run(endpoint, maxAttempts), KitError);
      assertEquals([error.code, endpoint.starts.length, error.usage.llmCalls], [
        "server",
        maxAttempts,
        maxAttempts,
      ]);
    });
  }
}

Deno.test("W18 consensus() after a 429 comes back neither too early nor all at once", async () => {
  await using endpoint = new Endpoint((index) =>
    index < 8 ? refusal(429, { "retry-after": "1" }) : completion("A")
  );
  const { value } = await consensus(endpoint.provider(), "Q?", { numSamples: 8, ports });
  const [first, second] = [endpoint.starts.slice(0, 8), endpoint.starts.slice(8)];
  assertEquals([value, second.length], ["A", 8]);
  assert(Math.min(...second) - Math.max(...first) >= 995);
  const distinct = new Set(second.map((time) => Math.round(time / 5))).size;
  assert(distinct >= 3, `${distinct} distinct starts`);
});
