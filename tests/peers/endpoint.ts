/**
 * A chat-completions endpoint on loopback that answers as it is told and counts what reached it.
 *
 * @module
 */

/** What came in. */
export interface SeenRequest {
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the caller went away before the answer. */
  aborted: boolean;
}

/** What goes out: an answer text, or a whole response. */
export interface Reply {
  /** Waits so long first. */
  readonly delayMs?: number;
  /** The text of the answer. */
  readonly text?: string;
  /** `message` of the first choice, instead of `text`. */
  readonly message?: Readonly<Record<string, unknown>>;
  /** Default `stop`. */
  readonly finishReason?: string | null;
  /** Default 10 and 5; `null` leaves usage out. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  /** Status of the response, default 200. */
  readonly status?: number;
  /** The body, instead of a completion. */
  readonly raw?: string;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running endpoint; ends with `await using`. */
export interface Endpoint extends AsyncDisposable {
  /** Base URL, to be given to Kit. */
  readonly url: string;
  /** Everything that came in, in order. */
  readonly seen: SeenRequest[];
}

/**
 * Starts an endpoint.
 *
 * @param answer Called for each request with its number from 0 and what it holds.
 */
export function startEndpoint(answer: (index: number, request: SeenRequest) => Reply): Endpoint {
  const seen: SeenRequest[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const body: unknown = await request.json();
    const entry: SeenRequest = { body: Object(body), aborted: false };
    const reply = answer(seen.push(entry) - 1, entry);
    if (await wait(reply.delayMs ?? 0, request.signal) === "gone") entry.aborted = true;
    return respond(reply);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Makes the response that a reply asks for. */
export function respond(reply: Reply): Response {
  const init = { status: reply.status ?? 200, headers: { ...reply.headers } };
  if (reply.raw !== undefined) return new Response(reply.raw, init);
  const usage = { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 };
  return Response.json({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "loopback",
    choices: [{
      index: 0,
      message: reply.message ?? { role: "assistant", content: reply.text ?? "42" },
      "finish_reason": reply.finishReason === undefined ? "stop" : reply.finishReason,
    }],
    ...(reply.usage === null ? {} : { usage: reply.usage ?? usage }),
  }, init);
}

async function wait(ms: number, signal: AbortSignal): Promise<"waited" | "gone"> {
  if (ms <= 0) return "waited";
  return await new Promise((resolve) => {
    const leave = () => {
      clearTimeout(timer);
      resolve("gone");
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", leave);
      resolve("waited");
    }, ms);
    signal.addEventListener("abort", leave);
  });
}
