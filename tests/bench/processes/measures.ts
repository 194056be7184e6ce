/**
 * The rows of the table: each takes one reading from one fresh process.
 *
 * @module
 */
import { type Endpoint, startEndpoint } from "../../peers/endpoint.ts";
import { BARE, KIT, KIT_BY_LIBRARY } from "./contestants.ts";
import {
  type Contestant,
  INITIALIZE_PARAMS,
  MODERN_PARAMS,
  ServerProcess,
} from "./server_process.ts";

/** A row. */
export interface Measure {
  /** Short word, to pick it on the command line. */
  readonly key: string;
  /** What the table calls it. */
  readonly title: string;
  /** Unit of the readings. */
  readonly unit: "ms" | "MiB" | "per s" | "%";
  /** What must hold. */
  readonly reach: Reach;
  /** What the reach is measured by, read once a round, where it is not the bare program. */
  readonly baseline?: {
    /** What the table calls it. */
    readonly title: string;
    /** Takes one reading. */
    read(): Promise<number>;
  };
  /** How many readings of each contestant. */
  readonly rounds: number;
  /** Takes one reading, or `undefined` where it does not apply. */
  read(contestant: Contestant): Promise<number | undefined>;
}

/** What Kit's median must reach. */
export type Reach =
  | {
    /** At most so many times the bare program. */
    readonly kind: "at-most-times-bare";
    /** Factor. */
    readonly factor: number;
  }
  | {
    /** At least so many times the bare program. */
    readonly kind: "at-least-times-bare";
    /** Factor. */
    readonly factor: number;
  }
  | {
    /** At most so much more than the bare program. */
    readonly kind: "at-most-beyond-bare";
    /** In the unit of the row. */
    readonly amount: number;
  }
  | {
    /** At most so many times the baseline of the measure. */
    readonly kind: "at-most-times-baseline";
    /** Factor. */
    readonly factor: number;
  }
  | {
    /** At most so much. */
    readonly kind: "at-most";
    /** In the unit of the row. */
    readonly amount: number;
  };

/** How long the model of the loopback endpoint thinks. */
export const MODEL_DELAY_MS = 200;

const PIPELINED = 20_000;
const CALLS_AT_ONCE = 32;
const CALLS_IN_FLIGHT = 64;
const SETTLE_MS = 300;
const SLOW_MODEL_MS = 3000;
const HANGING_MODEL_MS = 60_000;
const MIB = 1024 * 1024;
/** Before this many calls the heap still finds its size, also in the bare program. */
const SOAK_FROM = 10_000;
const SOAK_TO = 30_000;
const SOAK_AT_ONCE = 20;
/** A machine of one state and no judge: one call of the model. */
const MACHINE = `mklang: "0.2"
machine: one
entry: only
budget: 2
states:
  only: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`;
const STANDARD_MACHINES = [
  ...["std_cascade", "std_compress", "std_cot", "std_debate", "std_map_reduce"],
  ...["std_plan_execute", "std_refine", "std_research", "std_self_consistency", "std_tot"],
];

/** One call of the model by the bare program. */
const ONE_CALL = { title: "one call", read: () => oneCall(BARE) };
/** The start of the program by its own door. */
const BY_PROGRAM = {
  title: "by `mcp.ts`",
  read: () => firstAnswer(KIT, "server/discover", MODERN_PARAMS),
};
/** One run of the same machine by itself. */
const ONE_RUN = { title: "one run", read: () => runsAtOnce(KIT, 1) };
/** A command that only starts. */
const ONE_START = { title: "kit --version", read: () => command(["--version"]) };

/** Every row, in the order of the table. */
export const MEASURES: readonly Measure[] = [
  {
    key: "start",
    title: "spawn to first `initialize` answer",
    unit: "ms",
    reach: { kind: "at-most-times-bare", factor: 1.3 },
    rounds: 21,
    read: (contestant) => firstAnswer(contestant, "initialize", INITIALIZE_PARAMS),
  },
  {
    key: "discover",
    title: "spawn to first `server/discover` answer",
    unit: "ms",
    reach: { kind: "at-most-times-bare", factor: 1.3 },
    rounds: 21,
    read: (contestant) =>
      contestant.modern
        ? firstAnswer(contestant, "server/discover", MODERN_PARAMS)
        : Promise.resolve(undefined),
  },
  {
    key: "door",
    title: "the same by `mod.ts`, the door of the library",
    unit: "ms",
    reach: { kind: "at-most-times-baseline", factor: 4 },
    baseline: BY_PROGRAM,
    rounds: 21,
    read: (contestant) =>
      contestant.name === KIT.name
        ? firstAnswer(KIT_BY_LIBRARY, "server/discover", MODERN_PARAMS)
        : Promise.resolve(undefined),
  },
  {
    key: "pipelined",
    title: `${PIPELINED.toLocaleString("en")} pipelined pings`,
    unit: "per s",
    reach: { kind: "at-least-times-bare", factor: 0.8 },
    rounds: 5,
    read: pipelined,
  },
  {
    key: "exit",
    title: "end of input to exit, idle",
    unit: "ms",
    reach: { kind: "at-most-beyond-bare", amount: 20 },
    rounds: 11,
    read: idleExit,
  },
  {
    key: "exit-busy",
    title: "end of input to exit, a call under way",
    unit: "ms",
    reach: { kind: "at-most", amount: 1600 },
    rounds: 3,
    read: busyExit,
  },
  {
    key: "memory",
    title: "resident after start",
    unit: "MiB",
    reach: { kind: "at-most-times-bare", factor: 1.3 },
    rounds: 5,
    read: idleMemory,
  },
  {
    key: "memory-busy",
    title: `resident under ${CALLS_IN_FLIGHT} calls`,
    unit: "MiB",
    reach: { kind: "at-most-times-bare", factor: 1.3 },
    rounds: 3,
    read: busyMemory,
  },
  {
    key: "vote",
    title: `consensus of 9, model of ${MODEL_DELAY_MS} ms`,
    unit: "ms",
    reach: { kind: "at-most-times-baseline", factor: 1.05 },
    baseline: ONE_CALL,
    rounds: 5,
    read: vote,
  },
  {
    key: "calls",
    title: `${CALLS_AT_ONCE} calls of ${MODEL_DELAY_MS} ms at once`,
    unit: "ms",
    reach: { kind: "at-most-times-baseline", factor: 1.1 },
    baseline: ONE_CALL,
    rounds: 3,
    read: callsAtOnce,
  },
  {
    key: "memory-flat",
    title: `growth of resident memory from call ${SOAK_FROM} to ${SOAK_TO}`,
    unit: "%",
    reach: { kind: "at-most-beyond-bare", amount: 10 },
    rounds: 1,
    read: (contestant) =>
      contestant.cwd === KIT.cwd && contestant.modern
        ? growth(contestant)
        : Promise.resolve(undefined),
  },
  {
    key: "runs",
    title: `${CALLS_IN_FLIGHT} runs of a machine, model of ${MODEL_DELAY_MS} ms`,
    unit: "ms",
    reach: { kind: "at-most-times-baseline", factor: 1.1 },
    baseline: ONE_RUN,
    rounds: 3,
    read: (contestant) =>
      contestant.name === KIT.name
        ? runsAtOnce(contestant, CALLS_IN_FLIGHT)
        : Promise.resolve(undefined),
  },
  {
    key: "check",
    title: "check of the ten bundled machines",
    unit: "ms",
    reach: { kind: "at-most-times-baseline", factor: 2 },
    baseline: ONE_START,
    rounds: 7,
    read: (contestant) =>
      contestant.name === KIT.name
        ? command(["check", ...STANDARD_MACHINES])
        : Promise.resolve(undefined),
  },
  ...[1, 8, 32].flatMap((size): readonly Measure[] => [
    {
      key: `message-${size}`,
      title: `message of ${size} MiB to its answer`,
      unit: "ms",
      reach: { kind: "at-most-times-bare", factor: 1.3 },
      rounds: 5,
      read: (contestant) => bigMessage(contestant, size, "time"),
    },
    {
      key: `message-memory-${size}`,
      title: `peak memory with a message of ${size} MiB`,
      unit: "MiB",
      reach: { kind: "at-most-times-bare", factor: 1.3 },
      rounds: 3,
      read: (contestant) => bigMessage(contestant, size, "memory"),
    },
  ]),
];

/**
 * One call of the model through a server that is warm.
 *
 * @param contestant The server.
 */
export async function oneCall(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: MODEL_DELAY_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  await callTool(server, 9);
  const start = performance.now();
  await callTool(server, 1);
  return performance.now() - start;
}

async function firstAnswer(
  contestant: Contestant,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  const start = performance.now();
  await using server = new ServerProcess(contestant);
  const answer = await server.ask(method, params);
  const time = performance.now() - start;
  if (answer.result === undefined) throw new Error(JSON.stringify(answer.error));
  await server.close();
  return time;
}

async function pipelined(contestant: Contestant): Promise<number> {
  await using server = new ServerProcess(contestant);
  await server.initialize();
  await server.exchange(pings(1000, 1_000_000), 1000);
  const text = pings(PIPELINED, 2_000_000);
  const start = performance.now();
  await server.exchange(text, PIPELINED);
  return PIPELINED / ((performance.now() - start) / 1000);
}

function pings(count: number, from: number): string {
  const line = (index: number) => `{"jsonrpc":"2.0","id":${from + index},"method":"ping"}\n`;
  return Array.from({ length: count }, (_, index) => line(index)).join("");
}

async function idleExit(contestant: Contestant): Promise<number> {
  await using server = new ServerProcess(contestant);
  await server.initialize();
  await server.ask("tools/list");
  return await server.close();
}

async function busyExit(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: HANGING_MODEL_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  void callTool(server, 1).catch(() => {});
  while (endpoint.seen.length === 0) await pause(5);
  const time = await server.close();
  await pause(20);
  if (endpoint.seen.some((request) => !request.aborted)) throw new Error("A request was not cut");
  return time;
}

async function idleMemory(contestant: Contestant): Promise<number> {
  await using server = new ServerProcess(contestant);
  await server.initialize();
  await server.ask("tools/list");
  await pause(SETTLE_MS);
  return await server.memory("VmRSS");
}

async function busyMemory(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: SLOW_MODEL_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  for (let index = 0; index < CALLS_IN_FLIGHT; index++) void callTool(server, 1).catch(() => {});
  await pause(SLOW_MODEL_MS / 2);
  return await server.memory("VmRSS");
}

async function vote(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: MODEL_DELAY_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  await callTool(server, 9);
  const start = performance.now();
  await callTool(server, 9);
  return performance.now() - start;
}

async function callsAtOnce(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: MODEL_DELAY_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  await callTool(server, 9);
  const start = performance.now();
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => callTool(server, 1)));
  return performance.now() - start;
}

async function bigMessage(
  contestant: Contestant,
  size: number,
  what: "time" | "memory",
): Promise<number | undefined> {
  await using server = new ServerProcess(contestant);
  await server.initialize();
  const params = { _meta: { pad: "x".repeat(size * MIB) } };
  const text = `${JSON.stringify({ jsonrpc: "2.0", id: "big", method: "ping", params })}\n`;
  const start = performance.now();
  const answered = await server.exchange(text, 1).then(() => true, () => false);
  const time = performance.now() - start;
  if (!answered) return undefined;
  return what === "time" ? time : await server.memory("VmHWM");
}

/** Resident memory after many calls beside that after some, in percent above it. */
async function growth(contestant: Contestant): Promise<number> {
  await using endpoint = startEndpoint(() => ({}));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  const until = async (calls: number): Promise<number> => {
    while (endpoint.seen.length < calls) {
      await Promise.all(Array.from({ length: SOAK_AT_ONCE }, () => callTool(server, 1)));
    }
    return await server.memory("VmRSS");
  };
  const before = await until(SOAK_FROM);
  return ((await until(SOAK_TO)) / before - 1) * 100;
}

async function runsAtOnce(contestant: Contestant, count: number): Promise<number> {
  await using endpoint = startEndpoint(() => ({ delayMs: MODEL_DELAY_MS }));
  await using server = new ServerProcess(contestant, environment(endpoint));
  await server.initialize();
  const call = { name: "run", arguments: { source: MACHINE } };
  await ask(server, call);
  const start = performance.now();
  await Promise.all(Array.from({ length: count }, () => ask(server, call)));
  return performance.now() - start;
}

async function command(args: readonly string[]): Promise<number> {
  const [program = "", ...rest] = KIT.command;
  const start = performance.now();
  const output = await new Deno.Command(program, { args: [...rest, ...args], stdin: "null" })
    .output();
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr).slice(0, 300));
  return performance.now() - start;
}

function callTool(server: ServerProcess, n: number): Promise<void> {
  const call = { name: "consensus", arguments: { prompt: "What is 6 times 7?", n } };
  return ask(server, call);
}

async function ask(
  server: ServerProcess,
  call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
): Promise<void> {
  const answer = await server.ask("tools/call", call);
  if (answer.result === undefined || answer.result["isError"] === true) {
    throw new Error(`The call failed: ${JSON.stringify(answer).slice(0, 300)}`);
  }
}

function environment(endpoint: Endpoint): Readonly<Record<string, string>> {
  return { EXECUTIONKIT_BASE_URL: endpoint.url, EXECUTIONKIT_MODEL: "loopback" };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
