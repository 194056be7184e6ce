/** A server on loopback that answers with raw bytes, so that connections can break in every way. */

/** What happens to one request. */
export interface Play {
  /** Status and headers as they stand in the response, and the body. */
  readonly head?: string;
  /** The body. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** What happens after the body instead of the end: nothing comes, a byte now and then, or the connection ends. */
  readonly then?: "stall" | "trickle" | "reset";
}

/** A request that arrived. */
export interface Arrived {
  /** The first line. */
  readonly line: string;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body. */
  readonly body: string;
}

const TRICKLE_MS = 20;

/** Plays one entry for each request, in order; the last one for ever. */
export class LoopbackServer implements AsyncDisposable {
  /** What arrived. */
  readonly arrived: Arrived[] = [];
  /** Connections that the other side gave up while an answer was under way. */
  givenUp = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #plays: readonly Play[];
  readonly #open = new Set<Deno.TcpConn>();
  readonly #served: Promise<void>;

  constructor(...plays: readonly Play[]) {
    this.#plays = plays;
    this.#served = this.#accept();
  }

  /** The base URL for a provider. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#served;
  }

  async #accept(): Promise<void> {
    const serving: Promise<void>[] = [];
    for await (const connection of this.#listener) {
      this.#open.add(connection);
      serving.push(
        this.#serve(connection).catch(() => {}).finally(() => {
          this.#open.delete(connection);
          close(connection);
        }),
      );
    }
    await Promise.all(serving);
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    const input = new Input(connection);
    while (true) {
      const request = await input.request();
      if (request === undefined) return;
      this.arrived.push(request);
      const play = this.#plays[this.arrived.length - 1] ?? this.#plays.at(-1) ?? {};
      if (!await this.#play(connection, play, input)) return;
    }
  }

  async #play(connection: Deno.TcpConn, play: Play, input: Input): Promise<boolean> {
    const encoder = new TextEncoder();
    const body = typeof play.body === "string" ? encoder.encode(play.body) : play.body;
    const length = (body?.length ?? 0) + (play.then === undefined ? 0 : 1000);
    if (play.head !== undefined) {
      const head = `HTTP/1.1 ${play.head}\r\ncontent-length: ${length}\r\n\r\n`;
      await writeAll(connection, encoder.encode(head));
      await writeAll(connection, body ?? new Uint8Array());
    }
    if (play.then === undefined) return play.head !== undefined;
    if (play.then === "reset") return false;
    if (play.then === "stall") {
      if (await input.ended()) this.givenUp += 1;
      return false;
    }
    try {
      while (true) {
        await new Promise((resolve) => setTimeout(resolve, TRICKLE_MS));
        await writeAll(connection, encoder.encode(" "));
      }
    } catch {
      this.givenUp += 1;
    }
    return false;
  }
}

class Input {
  readonly #connection: Deno.TcpConn;
  #text = "";

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  async request(): Promise<Arrived | undefined> {
    while (!this.#text.includes("\r\n\r\n")) if (!await this.#more()) return undefined;
    const end = this.#text.indexOf("\r\n\r\n");
    const [line = "", ...fields] = this.#text.slice(0, end).split("\r\n");
    const headers = new Map(fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }));
    const length = Number(headers.get("content-length") ?? 0);
    while (this.#text.length < end + 4 + length) if (!await this.#more()) return undefined;
    const body = this.#text.slice(end + 4, end + 4 + length);
    this.#text = this.#text.slice(end + 4 + length);
    return { line, headers, body };
  }

  /** Waits for the other side to end the connection. */
  async ended(): Promise<boolean> {
    while (await this.#more());
    return true;
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(65_536);
    const count = await this.#connection.read(buffer).catch(() => null);
    if (count === null) return false;
    this.#text += new TextDecoder("latin1").decode(buffer.subarray(0, count));
    return true;
  }
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += await connection.write(bytes.subarray(written));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // closed already
  }
}
