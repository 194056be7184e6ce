/**
 * Clients of others under remote control: one process of a client, which starts one process of Kit.
 *
 * @module
 */
import { ensureNode, ensureNpm, ensurePython, NPM_SETS, placeScript, ROOT } from "./install.ts";

/** How long a client may take for one answer. */
const ANSWER_TIMEOUT_MS = 60_000;

/** A client that is not ours. */
export interface PeerClient {
  /** What the report calls it. */
  readonly name: string;
  /** The revision that it settles on. */
  readonly revision: string;
  /** Whether questions come as `input_required`. */
  readonly modern: boolean;
  /** Whether it can be asked at all. */
  readonly elicits: boolean;
  /** Makes the command that runs it. */
  command(plan: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
}

/** How a client is started. */
export interface PeerOptions {
  /** Options of Kit. */
  readonly flags?: readonly string[];
  /** Environment of Kit. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where Kit is started. */
  readonly cwd?: string;
  /** Whether the client says that it can be asked. */
  readonly elicits?: boolean;
  /** Whether `input_required` is handed out instead of being answered by the client. */
  readonly manual?: boolean;
}

/** Parsed JSON of a client, looked at by tests. */
// deno-lint-ignore no-explicit-any -- the objects of another process
export type Loose = any;

/** What came of a call. */
export type Outcome =
  | { readonly kind: "result"; readonly result: Loose }
  | {
    readonly kind: "error";
    readonly message: string;
    readonly code: number | undefined;
    readonly data: Loose;
  };

/** A question that the client was asked. */
export interface Asked {
  /** Its number at the client. */
  readonly ask: number;
  /** Parameters of `elicitation/create`. */
  readonly params: Loose;
}

/** One report of progress. */
export interface Reported {
  /** The number. */
  readonly progress: number;
  /** The text. */
  readonly message?: string;
}

/** A call under way. */
export interface PeerCall {
  /** Its number. */
  readonly id: number;
  /** What comes of it. */
  readonly outcome: Promise<Outcome>;
  /** Progress so far. */
  readonly progress: readonly Reported[];
}

/** The oldest revisions know no elicitation. */
const WITHOUT_QUESTIONS: readonly string[] = ["2024-11-05", "2025-03-26"];

/** The clients: every revision, both eras, two languages. */
export const PEER_CLIENTS: readonly PeerClient[] = [
  typescript("sdk20241105", { revision: "2024-11-05", generation: 1 }),
  typescript("sdk20250326", { revision: "2025-03-26", generation: 1 }),
  typescript("sdk20250618", { revision: "2025-06-18", generation: 1 }),
  typescript("sdk", { revision: "2025-11-25", generation: 1 }),
  typescript("sdk", { revision: "2025-11-25", generation: 2, mode: "legacy" }),
  typescript("sdk", { revision: "2026-07-28", generation: 2, mode: "auto" }),
  typescript("sdk", { revision: "2026-07-28", generation: 2, mode: "2026-07-28" }),
  python("legacy", "2025-11-25"),
  python("auto", "2026-07-28"),
  python("2026-07-28", "2026-07-28"),
];

interface Generation {
  readonly revision: string;
  readonly generation: 1 | 2;
  readonly mode?: string;
}

function typescript(set: keyof typeof NPM_SETS, plan: Generation): PeerClient {
  const packages: Readonly<Record<string, string>> = NPM_SETS[set].packages;
  const name = plan.generation === 2 ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk";
  const { revision, generation, mode } = plan;
  return {
    name: `TypeScript client ${packages[name]}${mode === undefined ? "" : ` ${mode}`}`,
    revision,
    modern: revision === "2026-07-28",
    elicits: !WITHOUT_QUESTIONS.includes(revision),
    async command(more) {
      const folder = await ensureNpm(NPM_SETS[set]);
      const script = await place(folder);
      return [await ensureNode(), script, JSON.stringify({ generation, mode, ...more })];
    },
  };
}

/** One copy for all, since clients start beside each other. */
function place(folder: string): Promise<string> {
  const placed = PLACED.get(folder) ?? placeScript("peers/commission_client.mjs", folder);
  PLACED.set(folder, placed);
  return placed;
}

const PLACED = new Map<string, Promise<string>>();

function python(mode: string, revision: string): PeerClient {
  return {
    name: `Python client ${mode}`,
    revision,
    modern: revision === "2026-07-28",
    elicits: true,
    async command(more) {
      const script = `${ROOT}/tests/peers/commission_client.py`;
      return [await ensurePython(), script, JSON.stringify({ mode, ...more })];
    },
  };
}

/** One client with its server. */
export class Peer {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #errors: Promise<string>;
  readonly #reading: Promise<void>;
  readonly #calls = new Map<number, {
    readonly settle: (outcome: Outcome) => void;
    readonly progress: Reported[];
  }>();
  readonly #asked: Asked[] = [];
  readonly #connected = Promise.withResolvers<string>();
  #wake = Promise.withResolvers<void>();
  #withdrawn: number[] = [];
  #nextId = 1;

  private constructor(command: readonly string[]) {
    const [program = "", ...args] = command;
    this.#child = new Deno.Command(program, {
      args,
      cwd: ROOT,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#errors = new Response(this.#child.stderr).text();
    this.#connected.promise.catch(() => undefined);
    this.#reading = this.#read();
  }

  /**
   * Starts a client, which starts Kit and connects.
   *
   * @param client Which.
   * @param options How.
   * @returns The client, connected.
   */
  static async start(client: PeerClient, options: PeerOptions = {}): Promise<Peer> {
    const { flags = [], env = {}, cwd, elicits = false, manual = false } = options;
    const peer = new Peer(
      await client.command({
        command: ["deno", "run", "-A", `${ROOT}/mcp.ts`, "mcp", ...flags],
        env,
        elicits,
        manual,
        ...(cwd === undefined ? {} : { cwd }),
      }),
    );
    const revision = await within(peer.#connected.promise, "the connection");
    if (revision !== "" && revision !== client.revision) {
      throw new Error(`negotiated ${revision} instead of ${client.revision}`);
    }
    return peer;
  }

  /** How often the client was told that a question is void. */
  get withdrawn(): number {
    return this.#withdrawn.length;
  }

  /** Starts a call. */
  begin(
    name: string,
    args: Readonly<Record<string, unknown>>,
    seed?: Readonly<Record<string, unknown>>,
  ): PeerCall {
    return this.#order("call", { name, arguments: args, ...(seed === undefined ? {} : { seed }) });
  }

  /** Makes a call and waits for what comes of it. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    seed?: Readonly<Record<string, unknown>>,
  ): Promise<Outcome> {
    return await within(this.begin(name, args, seed).outcome, name);
  }

  /** Lists the tools. */
  async list(): Promise<Outcome> {
    return await within(this.#order("list", {}).outcome, "tools/list");
  }

  /** Cancels a call as the client does it. */
  cancel(call: PeerCall): void {
    this.#send({ op: "cancel", id: call.id });
  }

  /** The next question that the client is asked. */
  async asked(): Promise<Asked> {
    const asked = await this.askedDuring(new Promise<never>(() => undefined));
    if (asked === undefined) throw new Error("no question");
    return asked;
  }

  /** The next question, or `undefined` if something else is over first. */
  async askedDuring(over: Promise<unknown>): Promise<Asked | undefined> {
    const OVER = Symbol();
    const ended = over.then(() => OVER);
    const find = async (): Promise<Asked | undefined> => {
      for (;;) {
        const asked = this.#asked.shift();
        if (asked !== undefined) return asked;
        if (await Promise.race([ended, this.#wake.promise]) === OVER) return undefined;
      }
    };
    return await within(find(), "a question");
  }

  /** Answers a question as the person at the client does. */
  answer(asked: Asked, result: Readonly<Record<string, unknown>>): void {
    this.#send({ op: "answer", ask: asked.ask, result });
  }

  /** Closes the client, and with it the server. */
  async close(): Promise<void> {
    this.#send({ op: "close" });
    await within(this.#child.status, "the end of the client");
    await this.#reading;
  }

  /** Ends what a failed check left. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await this.#child.status;
    await this.#reading;
    await this.#errors;
    await this.#writer.close().catch(() => undefined);
  }

  #order(op: string, more: Readonly<Record<string, unknown>>): PeerCall {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const progress: Reported[] = [];
    this.#calls.set(id, { settle: resolve, progress });
    this.#send({ op, id, ...more });
    return { id, outcome: promise, progress };
  }

  #send(order: Readonly<Record<string, unknown>>): void {
    this.#writer.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`)).catch(() => {});
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("{")) this.#take(JSON.parse(line));
    }
    const said = (await this.#errors).trim().slice(-600);
    const ended: Outcome = { kind: "error", message: said, code: undefined, data: undefined };
    for (const { settle } of this.#calls.values()) settle(ended);
    this.#connected.reject(new Error(`the client ended: ${said}`));
  }

  #take(line: Loose): void {
    switch (line.event) {
      case "connected":
        return this.#connected.resolve(line.revision ?? "");
      case "progress":
        return void this.#calls.get(line.id)?.progress.push(line);
      case "result":
        return this.#calls.get(line.id)?.settle({ kind: "result", result: line.result });
      case "error": {
        const { message, code, data } = line;
        if (line.id === 0) return this.#connected.reject(new Error(message));
        return this.#calls.get(line.id)?.settle({ kind: "error", message, code, data });
      }
      case "ask":
        this.#asked.push({ ask: line.ask, params: line.params });
        break;
      case "withdrawn":
        this.#withdrawn.push(line.ask);
    }
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}

/** Waits for something, but not for ever. */
export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} did not come within ${ANSWER_TIMEOUT_MS} ms`)),
      ANSWER_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The object of a result: its structured content, else the JSON of its second text.
 *
 * @param outcome What came of a call.
 * @throws {Error} If it is no result.
 */
export function objectOf(outcome: Outcome): Loose {
  if (outcome.kind === "error") throw new Error(`the call failed: ${outcome.message}`);
  const { result } = outcome;
  const structured = result.structuredContent;
  if (structured !== undefined && structured !== null) return structured;
  return JSON.parse(result.content[1].text);
}

/** The short text of a result. */
export function textOf(outcome: Outcome): string {
  if (outcome.kind === "error") throw new Error(`the call failed: ${outcome.message}`);
  return outcome.result.content[0].text;
}
