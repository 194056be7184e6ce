/**
 * The client of the crash test: calls tools of a server that may be gone at any moment.
 *
 * @module
 */

/** What a tool answered: its object, whether it failed, and its text. */
export interface Answer {
  /** The JSON of the answer. */
  // deno-lint-ignore no-explicit-any -- the object of another process, looked at by a test
  readonly object: any;
  /** The text for people. */
  readonly text: string;
}

/** A server that can be killed. */
export class CrashClient {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #waiting = new Map<number, (answer: Answer | undefined) => void>();
  readonly #reading: Promise<void>;
  #nextId = 1;

  /** Starts a server. */
  constructor(env: Readonly<Record<string, string>>) {
    const server = new URL("server.ts", import.meta.url).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "-A", server],
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
    this.#send({
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "crash", version: "1" },
      },
    });
  }

  /** Calls a tool; `undefined` if the server was gone before it answered. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<Answer | undefined> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    this.#waiting.set(id, resolve);
    this.#send({ id, method: "tools/call", params: { name, arguments: args } });
    return promise;
  }

  /** Kills the server without a word, and ends every wait. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
    this.#writer.close().catch(() => undefined);
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    const line = JSON.stringify({ jsonrpc: "2.0", ...message });
    // A broken pipe is what this test is about: whoever waits hears of it by `kill`.
    this.#writer.write(new TextEncoder().encode(`${line}\n`)).catch(() => undefined);
  }

  async #read(): Promise<void> {
    let rest = "";
    try {
      for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.#take(line);
      }
    } finally {
      for (const resolve of this.#waiting.values()) resolve(undefined);
      this.#waiting.clear();
    }
  }

  #take(line: string): void {
    const { id, result, error } = JSON.parse(line);
    const resolve = this.#waiting.get(id);
    if (resolve === undefined) return;
    this.#waiting.delete(id);
    if (error !== undefined) throw new Error(`The server answered ${JSON.stringify(error)}`);
    const texts: string[] = result.content.map(({ text }: { text: string }) => text);
    const json = texts.find((text) => text.startsWith("{")) ?? "{}";
    resolve({ object: result.structuredContent ?? JSON.parse(json), text: texts[0] ?? "" });
  }
}
