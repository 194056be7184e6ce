/**
 * A server and its client in one process, under a clock that moves when told.
 *
 * @module
 */
import { assert } from "@std/assert";
import {
  compileSchema,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/json/mod.ts";
import { serve, type ServeEnd, type ServerInfo, type Tool } from "../../src/mcp/mod.ts";
import type { LogLevel } from "../../src/ports/mod.ts";
import { ManualClock, SeededRandom } from "../../src/testing/mod.ts";
import { caseTools } from "../fixtures/mcp/tools.ts";
// What a server loads when it first needs it is here before, so that no test waits for a file.
import "../../src/jsonrpc/framing.ts";
import "../../src/mcp/calling.ts";
import "../../src/mcp/tool_shapes.ts";

await compileSchema({});

/** Signatures and digests that other threads are at work on: the one thing of a server that takes real time. */
let signing = 0;
for (const name of ["digest", "importKey", "sign", "verify"] as const) {
  const original = crypto.subtle[name];
  Reflect.set(crypto.subtle, name, async (...args: unknown[]): Promise<unknown> => {
    signing += 1;
    try {
      return await Reflect.apply(original, crypto.subtle, args);
    } finally {
      signing -= 1;
    }
  });
}

/** `_meta` of a modern request whose client can do nothing special. */
export const META: JsonObject = modernMeta({});

/** Who the server under test says it is. */
export const INFO = {
  name: "kit",
  title: "Kit",
  version: "1.0.0",
  description: "Under test",
} as const;

/** Turns of the event loop without a sign of life after which nothing more comes: to load what is loaded takes some. */
const QUIET_TURNS = 5;
const STATE_KEY = new Uint8Array(32).fill(7);

/** What may be different about a session. */
export interface SessionOptions {
  /** The tools; default `echo`, `slow`, `ask`, `fail`, `large` and `crash` of the fixtures. */
  readonly tools?: (clock: ManualClock) => readonly Tool[];
  /** Who the server says it is; default {@linkcode INFO}. */
  readonly info?: ServerInfo;
  /** The clock, to share it between sessions. */
  readonly clock?: ManualClock;
  /** The longest line that is read. */
  readonly maxLineBytes?: number;
  /** Gives bytes instead of what is sent. */
  readonly read?: () => Promise<Uint8Array | undefined>;
  /** Takes bytes instead of the buffer of the session. */
  readonly write?: (bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
}

/** A running server, seen from its client. */
export class Session {
  /** The clock of the server and its tools. */
  readonly clock: ManualClock;
  /** Every line that the server wrote, as text. */
  readonly lines: string[] = [];
  /** Every write of the server. */
  readonly writes: string[] = [];
  /** Every line of its log. */
  readonly log: [level: LogLevel, message: string][] = [];
  /** Settles when the server has ended. */
  readonly ended: Promise<ServeEnd>;
  readonly #waiting: Uint8Array[] = [];
  #arrived = Promise.withResolvers<void>();
  #isClosed = false;
  #taken = 0;
  #rest = "";

  /** Starts a server. */
  constructor(options: SessionOptions = {}) {
    this.clock = options.clock ?? new ManualClock();
    const tools = options.tools ?? ((clock: ManualClock) => caseTools({ clock }));
    const served = tools(this.clock);
    const ports = {
      clock: this.clock,
      random: new SeededRandom(1),
      log: {
        write: (level: LogLevel, message: string) => {
          this.log.push([level, message]);
        },
      },
    };
    this.ended = serve({
      info: options.info ?? INFO,
      tools: () => Promise.resolve(served),
      ports: () => Promise.resolve(ports),
      stateKey: () => Promise.resolve(STATE_KEY),
      read: options.read ?? (() => this.#read()),
      write: options.write ?? ((bytes) => this.#write(bytes)),
      ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
    });
  }

  /** Sends bytes as one chunk. */
  sendBytes(bytes: Uint8Array): void {
    this.#waiting.push(bytes.slice());
    this.#arrived.resolve();
  }

  /** Sends messages, or lines as they are, in one chunk. */
  send(...lines: (string | JsonValue)[]): void {
    const texts = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line));
    this.sendBytes(new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")));
  }

  /** Lets the server go as far as it can without time passing, and gives what it wrote since the last time. */
  async flush(): Promise<JsonValue[]> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      const seen = this.lines.length;
      await this.clock.advance(0);
      if (signing > 0 || this.lines.length > seen) quiet = 0;
    }
    return this.take();
  }

  /** Lets time pass, and gives what the server wrote since the last time. */
  async advance(ms: number): Promise<JsonValue[]> {
    await this.clock.advance(ms);
    return this.take();
  }

  /** Sends messages and gives what comes back without time passing. */
  async exchange(...lines: (string | JsonValue)[]): Promise<JsonValue[]> {
    this.send(...lines);
    return await this.flush();
  }

  /** Opens a session of a legacy revision; its answer is taken. */
  async initialize(revision: string, capabilities: JsonObject = {}): Promise<void> {
    const [answer] = await this.exchange(...initialize(revision, capabilities));
    assert(isJsonObject(answer) && isJsonObject(answer["result"]));
  }

  /** Closes the input, lets as much time pass as the server needs to end, and gives what it wrote. */
  async close(): Promise<JsonValue[]> {
    this.#isClosed = true;
    this.#arrived.resolve();
    await this.clock.run(this.ended);
    return this.take();
  }

  /** What the server wrote since the last time. */
  take(): JsonValue[] {
    const messages = this.lines.slice(this.#taken).map((line): JsonValue => JSON.parse(line));
    this.#taken = this.lines.length;
    return messages;
  }

  async #read(): Promise<Uint8Array | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#isClosed) return undefined;
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
    return this.#waiting.shift();
  }

  #write(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    this.writes.push(text);
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    this.lines.push(...lines);
    return Promise.resolve(bytes.length);
  }
}

/** Runs a whole conversation: all lines, one chunk each, then the end of input. */
export async function converse(
  lines: readonly (string | JsonValue)[],
  options: SessionOptions & { readonly revision?: string; readonly capabilities?: JsonObject } = {},
): Promise<JsonValue[]> {
  const session = new Session(options);
  if (options.revision !== undefined) {
    await session.initialize(options.revision, options.capabilities ?? {});
  }
  for (const line of lines) session.send(line);
  return await session.close();
}

/** `initialize` and the notification that follows its answer. */
export function initialize(revision: string, capabilities: JsonObject = {}): JsonObject[] {
  const clientInfo = { name: "test", version: "1" };
  return [
    request("init", "initialize", { protocolVersion: revision, capabilities, clientInfo }),
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ];
}

/** A request. */
export function request(id: string | number, method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
}

/** A modern request; `meta` is added to what every one must say. */
export function modern(
  id: string | number,
  method: string,
  params: JsonObject = {},
): JsonObject {
  return request(id, method, { _meta: META, ...params });
}

/** `_meta` of a modern request. */
export function modernMeta(capabilities: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...more,
  };
}

/** A call of a tool. */
export function call(id: string | number, name: string, args?: JsonObject): JsonObject {
  return request(id, "tools/call", { name, ...(args === undefined ? {} : { arguments: args }) });
}

/** `notifications/cancelled`. */
export function cancelled(requestId: JsonValue): JsonObject {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
}

/** The error codes of answers with their ids; `result` where there is no error, `-` where there is no id. */
export function outline(messages: readonly JsonValue[]): [id: JsonValue, code: JsonValue][] {
  return messages.map((message) => {
    assert(isJsonObject(message));
    const { id = "-", error, method } = message;
    if (typeof method === "string") return [id, method];
    return [id, isJsonObject(error) ? error["code"] ?? null : "result"];
  });
}

/** The member at a path of keys and indexes; fails if there is none. */
export function at(value: JsonValue | undefined, ...path: (string | number)[]): JsonValue {
  let inner = value;
  for (const step of path) {
    assert(typeof inner === "object" && inner !== null, `nothing at ${path.join(".")}`);
    inner = Reflect.get(inner, step);
  }
  assert(inner !== undefined, `nothing at ${path.join(".")} in ${JSON.stringify(value)}`);
  return inner;
}

/** Whether a message has a member at a path. */
export function has(value: JsonValue | undefined, ...path: string[]): boolean {
  let inner: JsonValue | undefined = value;
  for (const step of path) {
    if (!isJsonObject(inner) || !Object.hasOwn(inner, step)) return false;
    inner = inner[step];
  }
  return true;
}
