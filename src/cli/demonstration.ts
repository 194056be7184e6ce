/**
 * What `kit demo` and the task `demo` show: a client that speaks to a server in the newest revision and in an older
 * one. The client here is small on purpose: lines out, lines in.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type { PairedServer } from "./context.ts";
import { grouped, textOf } from "./run_output.ts";

const MODERN = "2026-07-28";
const LEGACY = "2025-06-18";
const META = "io.modelcontextprotocol/";

/** Prints one line. */
export type Say = (line: string) => Promise<void> | void;

/** What {@linkcode demonstrate} needs. */
export interface DemonstrationOptions {
  /** Prints a line for people. */
  readonly say: Say;
  /** Makes a headline stand out. */
  readonly bold: (text: string) => string;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
}

/** A machine that pauses for a person. */
const MACHINE = `mklang: "0.4"
machine: leave_request
entry: assess
budget: 8
result: note
context: { request: "", ask_person: "yes" }
states:
  assess:
    structure: One line saying what is asked and for how long.
    prompt: "Assess this leave request: {{request}}"
    output: note
    gates:
      - when: a person decides
        hook: eq:ask_person:yes
        escalate: true
        to: settle
        ask: "Grant this leave?"
        reply_to: decision.answer
      - { when: otherwise, then: ok, to: END }
  settle:
    structure: The final note.
    prompt: "Write the note for the decision {{decision.answer}}."
    output: note
    gates: [{ when: otherwise, then: ok, to: END }]
`;

/**
 * Shows what a server does.
 *
 * @param server A server with the offline provider.
 * @param options Where to print, and time.
 * @throws {Error} If the server does not do what is shown.
 */
export async function demonstrate(
  server: PairedServer,
  options: DemonstrationOptions,
): Promise<void> {
  const client = new Client(server);
  const start = options.monotonic();
  await showDiscovery(client, options);
  await showVote(client, options);
  await showLoop(client, options);
  await showMachine(client, options);
  await showLegacy(client, options);
  await client.close();
  const seconds = ((options.monotonic() - start) / 1000).toFixed(1);
  await options.say(
    `\nThe server has ended. All of it took ${seconds} s, offline, with scripted answers.`,
  );
}

async function showDiscovery(client: Client, { say, bold }: DemonstrationOptions): Promise<void> {
  const found = await client.modern("server/discover", {});
  const info = object(object(found._meta)[`${META}serverInfo`]);
  await say(bold(`1  Speak the newest revision, ${MODERN}`));
  await say(`   server/discover  →  ${textOf(info, "name")} ${textOf(info, "version")}`);
  const { tools } = await client.modern("tools/list", {});
  const names = array(tools).map((tool) => textOf(object(tool), "name"));
  await say(`   tools/list       →  ${names.join(", ")}`);
}

async function showVote(client: Client, { say, bold }: DemonstrationOptions): Promise<void> {
  await say(bold("\n2  Vote: five independent samples, one answer"));
  const prompt = "Is 91 a prime number? Answer yes or no.";
  await say(`   consensus  "${prompt}"`);
  const result = await client.tool("consensus", { prompt, n: 5 }, {
    onProgress: (message) => say(`     … ${message}`),
  });
  const samples = object(result.samples);
  await say(`   →  ${shown(result.value)}`);
  await say(
    `      agreement ${percent(result.agreement_ratio)}, ${shown(samples.counted)} of ${
      shown(samples.requested)
    } samples counted, ${cost(result.cost)}`,
  );
}

async function showLoop(client: Client, { say, bold }: DemonstrationOptions): Promise<void> {
  await say(bold("\n3  Loop: think, use the calculator, answer"));
  const prompt = "What is 17 * 83? Use the calculator.";
  await say(`   react_loop  "${prompt}"`);
  const result = await client.tool("react_loop", { prompt }, {
    onProgress: (message) => say(`     … ${message}`),
  });
  await say(`   →  ${shown(result.value)}`);
  await say(
    `      ${counted(result.rounds, "round")}, ${counted(result.tool_calls_made, "tool call")}, ${
      cost(result.cost)
    }`,
  );
}

async function showMachine(client: Client, { say, bold }: DemonstrationOptions): Promise<void> {
  await say(bold("\n4  Machine: states, gates, and a pause for a person"));
  await say('   run  machine leave_request, request "Three days in May", pausing for a person');
  const paused = await client.tool("run", {
    source: MACHINE,
    inputs: { request: "Three days in May" },
    hitl: true,
  });
  expect(textOf(paused, "status"), "suspended");
  await say(`   →  suspended at "${textOf(paused, "at")}", asking: ${textOf(paused, "ask")}`);
  const checkpoint = textOf(paused, "checkpoint");
  await say(`      handle ${checkpoint.slice(0, 8)}…, reply goes to ${textOf(paused, "reply_to")}`);
  await say('   resume  decision.answer = "yes, granted"');
  const done = await client.tool("resume", {
    checkpoint,
    inputs: { "decision.answer": "yes, granted" },
  });
  expect(textOf(done, "status"), "done");
  const path = array(done.trace).map((step) => textOf(object(step), "state"));
  await say(`   →  done: ${[...path, "END"].join(" → ")}`);
  await say(`      ${shown(done.result)}`);
}

async function showLegacy(client: Client, { say, bold }: DemonstrationOptions): Promise<void> {
  await say(bold(`\n5  Speak an older revision, ${LEGACY}, to the same process`));
  const answer = await client.request("initialize", {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo: { name: "demo", version: "1" },
  });
  await client.notify("notifications/initialized");
  const info = object(answer.serverInfo);
  await say(`   initialize  →  ${textOf(info, "name")}, speaking ${shown(answer.protocolVersion)}`);
  await client.request("ping", {});
  await say("   ping        →  answered");
  const call = await client.request("tools/call", {
    name: "check",
    arguments: { source: MACHINE.replace("to: settle", "to: setle") },
  });
  const checked = object(call.structuredContent);
  await say(`   check       →  ok: ${shown(checked.ok)}; ${shown(array(checked.errors)[0])}`);
}

interface ToolOptions {
  readonly onProgress?: (message: string) => Promise<void> | void;
}

/** Asks one thing at a time. */
class Client {
  readonly #server: PairedServer;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor(server: PairedServer) {
    this.#server = server;
    this.#lines = server.lines[Symbol.asyncIterator]();
  }

  /** A request of the newest revision, which carries its version with it. */
  async modern(method: string, params: JsonObject, token?: number): Promise<JsonObject> {
    return await this.request(method, {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: MODERN,
        [`${META}clientCapabilities`]: {},
        ...(token === undefined ? {} : { progressToken: token }),
      },
    });
  }

  /** Calls a tool and gives its structured result. */
  async tool(name: string, args: JsonObject, options: ToolOptions = {}): Promise<JsonObject> {
    this.#onProgress = options.onProgress;
    const result = await this.modern("tools/call", { name, arguments: args }, 1);
    this.#onProgress = undefined;
    if (result.isError === true) {
      throw new Error(`${name} failed: ${shown(object(array(result.content)[0]).text)}`);
    }
    return object(result.structuredContent);
  }

  #onProgress: ToolOptions["onProgress"];

  async request(method: string, params: JsonObject): Promise<JsonObject> {
    const id = this.#id++;
    await this.#server.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const message = await this.#read(method);
      if (member(message, "id") !== id) {
        await this.#notified(message);
        continue;
      }
      const error = member(message, "error");
      if (error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
      return object(member(message, "result"));
    }
  }

  async notify(method: string): Promise<void> {
    await this.#server.send(JSON.stringify({ jsonrpc: "2.0", method }));
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #read(method: string): Promise<JsonObject> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`The server ended before it answered ${method}`);
    return object(JSON.parse(value));
  }

  async #notified(message: JsonObject): Promise<void> {
    if (message.method !== "notifications/progress") return;
    const text = textOf(object(message.params), "message");
    if (text !== "") await this.#onProgress?.(text);
  }
}

function object(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Error(`The server gave ${JSON.stringify(value)} where an object was expected`);
}

function array(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function percent(value: JsonValue | undefined): string {
  return typeof value === "number" ? `${Math.round(value * 100)} %` : "unknown";
}

function cost(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return "cost unknown";
  const tokens = Number(value.input_tokens) + Number(value.output_tokens);
  return `${counted(value.llm_calls, "model call")}, ${grouped(tokens)} tokens`;
}

function counted(value: JsonValue | undefined, word: string): string {
  return `${shown(value)} ${word}${value === 1 ? "" : "s"}`;
}

function expect(found: string, wanted: string): void {
  if (found !== wanted) throw new Error(`The run is "${found}", not "${wanted}"`);
}
