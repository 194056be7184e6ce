/** The Fetch port for tests: gives prepared responses in order and writes down what was sent. */
import type { Fetch } from "../../src/ports/mod.ts";
import { ManualClock } from "../../src/testing/mod.ts";

/** A request that was sent. */
export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: string | undefined;
  // deno-lint-ignore no-explicit-any -- tests look at bodies freely
  readonly body: any;
}

/** What is answered: a response, or what happens instead. */
export type FakeResponse = Response | Error | ((signal: AbortSignal) => Promise<Response>);

/** The port, what it got, and a clock. */
export interface FakePorts {
  readonly fetch: Fetch;
  readonly clock: ManualClock;
  readonly sent: SentRequest[];
}

/** Makes the port. Asked again after the last response, it fails. */
export function fakePorts(...responses: readonly FakeResponse[]): FakePorts {
  const sent: SentRequest[] = [];
  const fetch: Fetch = async (input, init = {}) => {
    const request = new Request(input, { ...init, signal: null });
    const text = await request.text();
    sent.push({
      url: String(input),
      method: request.method,
      headers: request.headers,
      redirect: init.redirect,
      body: text === "" ? undefined : JSON.parse(text),
    });
    const response = responses[sent.length - 1];
    const signal = init.signal ?? new AbortController().signal;
    if (response === undefined) throw new Error("There is no response left");
    if (response instanceof Error) throw response;
    return typeof response === "function" ? await response(signal) : response;
  };
  return { fetch, clock: new ManualClock(), sent };
}

/** A response of JSON. */
export function json(body: unknown, init: ResponseInit = {}): Response {
  return Response.json(body, init);
}

/** A chat completion with one message. */
export function completion(
  message: Record<string, unknown>,
  more: { readonly finish?: string | null; readonly usage?: unknown } = {},
): Response {
  return json({
    id: "c1",
    object: "chat.completion",
    model: "m-2026",
    choices: [{
      index: 0,
      message: { role: "assistant", ...message },
      finish_reason: more.finish === undefined ? "stop" : more.finish,
    }],
    usage: "usage" in more ? more.usage : { prompt_tokens: 7, completion_tokens: 3 },
  });
}

/** A response of server-sent events, each piece a chunk of the body. */
export function events(...pieces: readonly string[]): Response {
  const encoder = new TextEncoder();
  return new Response(
    ReadableStream.from(pieces.map((piece) => encoder.encode(piece))),
    { headers: { "content-type": "text/event-stream" } },
  );
}

/** Events of JSON data. */
export function dataEvents(...chunks: readonly unknown[]): Response {
  return events(...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n");
}

/** Never answers; fails when the request is given up. */
export function hanging(signal: AbortSignal): Promise<Response> {
  const { promise, reject } = Promise.withResolvers<Response>();
  if (signal.aborted) reject(signal.reason);
  signal.addEventListener("abort", () => reject(signal.reason));
  return promise;
}

/** A body that gives its pieces and then hangs until it is given up. */
export function stalling(signal: AbortSignal, ...pieces: readonly string[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
