/**
 * A server under measurement: a child process that is spoken to by lines.
 *
 * @module
 */

/** A command and the name it has in the tables. */
export interface Contestant {
  /** Name in the tables. */
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  /** Whether it answers `server/discover`. */
  readonly modern: boolean;
}

/** What an answer looks like from here. */
export interface Answer {
  /** The id of the request. */
  readonly id?: unknown;
  /** The result. */
  readonly result?: Readonly<Record<string, unknown>>;
  /** The error. */
  readonly error?: unknown;
}

/** How long any one answer may take. */
const ANSWER_TIMEOUT_MS = 20_000;
const NEWLINE = 10;

/** A running server. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<unknown, (answer: Answer) => void>();
  readonly #encoder = new TextEncoder();
  readonly #reading: Promise<void>;
  #nextId = 1;
  #lines = 0;
  #linesWanted = Infinity;
  #linesDone: () => void = () => {};

  /** Starts it. */
  constructor(contestant: Contestant, env: Readonly<Record<string, string>> = {}) {
    const [program = "", ...args] = contestant.command;
    this.#child = new Deno.Command(program, {
      args,
      cwd: contestant.cwd,
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Sends a request and waits for its answer. */
  async ask(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const id = this.#nextId++;
    const answer = this.#expect(id);
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`).catch(() => {});
    return await Promise.race([answer, this.#gone()]);
  }

  /** Opens a session. */
  async initialize(): Promise<void> {
    await this.ask("initialize", INITIALIZE_PARAMS);
    await this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  /** Writes text as it is. */
  async write(text: string): Promise<void> {
    await this.#writer.write(this.#encoder.encode(text));
  }

  /** Writes text and waits until so many lines came back. */
  async exchange(text: string, lines: number): Promise<void> {
    this.#lines = 0;
    this.#linesWanted = lines;
    const done = new Promise<void>((resolve) => this.#linesDone = resolve);
    const writing = this.write(text).catch(() => {});
    await Promise.race([withTimeout(done, `${lines} answers`), this.#gone()]);
    await writing;
    this.#linesWanted = Infinity;
  }

  /** Ends its input and waits for its exit. Milliseconds. */
  async close(): Promise<number> {
    const start = performance.now();
    await this.#writer.close().catch(() => {});
    await withTimeout(this.#child.status, "exit");
    return performance.now() - start;
  }

  /** A field of `/proc/PID/status` in MiB, or NaN where there is none. */
  async memory(field: "VmRSS" | "VmHWM"): Promise<number> {
    const text = await Deno.readTextFile(`/proc/${this.#child.pid}/status`).catch(() => "");
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1] ?? NaN) / 1024;
  }

  /** Ends it in any case. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.#child.status;
    await this.#reading;
  }

  async #gone(): Promise<never> {
    await this.#reading;
    throw new Error("The server ended before it answered");
  }

  #expect(id: unknown): Promise<Answer> {
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    return withTimeout(answer, `an answer to ${id}`);
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of this.#child.stdout) {
      if (this.#linesWanted !== Infinity) {
        this.#count(chunk);
        continue;
      }
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#deliver(JSON.parse(line));
    }
  }

  #count(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      this.#lines += 1;
    }
    if (this.#lines >= this.#linesWanted) this.#linesDone();
  }

  #deliver(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }
}

/** What `initialize` is sent with. */
export const INITIALIZE_PARAMS: Readonly<Record<string, unknown>> = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "0.0.0" },
};

/** What a request of 2026-07-28 is sent with. */
export const MODERN_PARAMS: Readonly<Record<string, unknown>> = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "0.0.0" },
  },
};

async function withTimeout<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No ${what} in time`)), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
