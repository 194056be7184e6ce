/**
 * A server as a process of its own, seen from its client.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";

/** The server with the tools of the fixtures. */
export const FIXTURE = "tests/fixtures/mcp/server.ts";
/** The program itself. */
export const PROGRAM = "mcp.ts";

/** What is read as text from a stream that is done. */
export interface Ended {
  /** The exit code. */
  readonly code: number;
  /** The signal that ended the process, if the system did. */
  readonly signal: string | null;
}

/**
 * How long a server may take to end: far less than what it is given to do, and more than a busy machine needs. How fast it
 * is, the benchmark of whole processes measures.
 */
const END_MS = 15_000;

/** A running server. */
export class ServerProcess {
  /** The process. */
  readonly child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #log: Promise<string>;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #lines: string[] = [];
  #rest = "";

  /** Starts a server. */
  constructor(
    script: string,
    options: { args?: string[]; env?: Record<string, string>; drainLog?: boolean } = {},
  ) {
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", script, ...(options.args ?? [])],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    this.child = command.spawn();
    this.#input = this.child.stdin.getWriter();
    this.#output = this.child.stdout.getReader();
    this.#log = options.drainLog === false
      ? Promise.resolve("")
      : new Response(this.child.stderr).text();
  }

  /** Sends messages, or lines as they are, in one write. */
  async send(...lines: (string | JsonValue)[]): Promise<void> {
    const texts = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line));
    await this.#input.write(new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")));
  }

  /** Sends text without a line feed. */
  async sendText(text: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(text));
  }

  /** Opens a session and takes its answer. */
  async initialize(capabilities: JsonObject = {}): Promise<void> {
    const clientInfo = { name: "test", version: "1" };
    await this.send(
      {
        jsonrpc: "2.0",
        id: "init",
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities, clientInfo },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    );
    await this.receive();
  }

  /** The next message of the server; fails if its output has ended. */
  async receive(): Promise<JsonObject> {
    const line = await this.#line();
    if (line === undefined) throw new Error("The server closed its output");
    return JSON.parse(line);
  }

  /** All further messages until the server closes its output; fails at a line that is no JSON or not whole. */
  async rest(): Promise<JsonObject[]> {
    const messages: JsonObject[] = [];
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) {
      messages.push(JSON.parse(line));
    }
    if (this.#rest !== "") throw new Error(`Half a line: ${this.#rest.slice(0, 100)}`);
    return messages;
  }

  /** Closes the server's input. */
  async closeInput(): Promise<void> {
    await this.#input.close();
  }

  /** Stops to read the server's output, as when its client dies. */
  async closeOutput(): Promise<void> {
    await this.#output.cancel();
  }

  /**
   * Waits for the end of the process.
   *
   * @throws {Error} If it goes on all the same.
   */
  async ended(): Promise<Ended> {
    const { promise, reject } = Promise.withResolvers<never>();
    const late = setTimeout(() => reject(new Error(`still running after ${END_MS} ms`)), END_MS);
    try {
      const { code, signal } = await Promise.race([this.child.status, promise]);
      return { code, signal };
    } finally {
      clearTimeout(late);
    }
  }

  /** What the server wrote to stderr; settles at its end. */
  log(): Promise<string> {
    return this.#log;
  }

  /** Ends what a test left, so that no process and no stream stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await this.child.status;
    await this.#input.close().catch(() => {});
    await this.#output.cancel().catch(() => {});
    await this.#log;
    if (!this.child.stderr.locked) await this.child.stderr.cancel();
  }

  async #line(): Promise<string | undefined> {
    while (this.#lines.length === 0) {
      const { value, done } = await this.#output.read();
      if (done) return undefined;
      const lines = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#lines.push(...lines);
    }
    return this.#lines.shift();
  }
}

/** A call of a tool. */
export function call(
  id: string | number,
  name: string,
  args: JsonObject = {},
  more: JsonObject = {},
): JsonObject {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...more } };
}
