/**
 * A chat-completions endpoint on a bare socket: it sees at once when a caller closes its connection, which a server that
 * reads ahead may notice late or never.
 *
 * @module
 */

/** What came in. */
export interface ModelRequest {
  /** The last message. */
  readonly prompt: string;
  /** Whether the caller closed the connection before the answer. */
  cut: boolean;
}

/** A running endpoint. */
export interface Model extends AsyncDisposable {
  /** Base URL, to be given to Kit. */
  readonly url: string;
  /** Everything that came in, in order. */
  readonly seen: readonly ModelRequest[];
  /** The most requests that waited for an answer at once. */
  readonly peak: number;
}

/** How it answers one prompt. */
export interface ModelReply {
  /** The text. */
  readonly text: string;
  /** Waits so long first. */
  readonly delayMs: number;
}

const HEAD_END = "\r\n\r\n";
const READ_BYTES = 65_536;

/**
 * Starts an endpoint.
 *
 * @param answer Called with the last message of each request.
 * @returns The endpoint.
 */
export function startModel(answer: (prompt: string) => ModelReply): Model {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.TcpConn>();
  const state = { seen: [] as ModelRequest[], waiting: 0, peak: 0 };
  const serving = accept();

  async function accept(): Promise<void> {
    for await (const connection of listener) {
      connections.add(connection);
      serve(connection).catch(() => undefined).finally(() => {
        connections.delete(connection);
        close(connection);
      });
    }
  }

  async function serve(connection: Deno.TcpConn): Promise<void> {
    const reader = new RequestReader(connection);
    for (let next = reader.read();;) {
      const body = await next;
      if (body === undefined) return;
      const request: ModelRequest = { prompt: lastMessage(body), cut: false };
      state.seen.push(request);
      state.peak = Math.max(state.peak, ++state.waiting);
      const reply = answer(request.prompt);
      next = reader.read();
      const gone = await leftWithin(next, reply.delayMs);
      state.waiting--;
      if (gone) {
        request.cut = true;
        return;
      }
      await write(connection, responseTo(reply.text));
    }
  }

  return {
    url: `http://127.0.0.1:${listener.addr.port}/v1`,
    seen: state.seen,
    get peak() {
      return state.peak;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of connections) close(connection);
      await serving.catch(() => undefined);
    },
  };
}

/** Reads bodies of requests, one after the other; `undefined` when the caller has closed. */
class RequestReader {
  readonly #connection: Deno.TcpConn;
  #text = "";

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  async read(): Promise<string | undefined> {
    for (;;) {
      const body = this.#take();
      if (body !== undefined) return body;
      const chunk = new Uint8Array(READ_BYTES);
      const count = await this.#connection.read(chunk).catch(() => null);
      if (count === null) return undefined;
      // Every byte is a character here, so that lengths are those of the head.
      this.#text += String.fromCharCode(...chunk.subarray(0, count));
    }
  }

  #take(): string | undefined {
    const end = this.#text.indexOf(HEAD_END);
    if (end === -1) return undefined;
    const length = Number(/content-length: (\d+)/i.exec(this.#text.slice(0, end))?.[1] ?? 0);
    const start = end + HEAD_END.length;
    if (this.#text.length < start + length) return undefined;
    const body = this.#text.slice(start, start + length);
    this.#text = this.#text.slice(start + length);
    const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  }
}

/** Whether the caller left while it was to wait. */
async function leftWithin(next: Promise<string | undefined>, ms: number): Promise<boolean> {
  if (ms <= 0) return false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<"waited">((resolve) => {
    timer = setTimeout(() => resolve("waited"), ms);
  });
  const left = await Promise.race([next.then((body) => body ?? "left"), waited]);
  clearTimeout(timer);
  return left === "left";
}

function lastMessage(body: string): string {
  const { messages } = JSON.parse(body);
  return String(messages.at(-1)?.content ?? "");
}

function responseTo(text: string): string {
  const body = JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "loopback",
    choices: [{ index: 0, message: { role: "assistant", content: text }, "finish_reason": "stop" }],
    usage: { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
  });
  const length = new TextEncoder().encode(body).length;
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}`;
  return `${head}${HEAD_END}${body}`;
}

async function write(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) {
    written += await connection.write(bytes.subarray(written));
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
