/**
 * What a commissioned run costs above the engine, and what waiting runs cost.
 *
 * @module
 */
import postgres from "postgres";
import { createHost, type Host, type HostOptions } from "../../../src/host/mod.ts";
import type { JsonObject } from "../../../src/json/mod.ts";
import { createLedger, type LlmProvider } from "../../../src/llm/mod.ts";
import { createModelOracle, loadReader, runMachine } from "../../../src/machine/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { openStore } from "../../../src/stores/mod.ts";

/** One line of the table. */
export interface Row {
  /** What was measured. */
  readonly what: string;
  /** What came out. */
  readonly measured: string;
  /** What it is held against. */
  readonly beside: string;
  /** Whether it holds; `undefined` where nothing is asked. */
  readonly holds?: boolean;
}

const ports = createPorts();
const TO_END = "{ when: otherwise, then: ok, to: END }";
/** Asks a person between two states. */
const ASKING = `machine: asking
entry: a
budget: 4
result: b
states:
  a: { structure: s, prompt: p, output: a, gates: [{ when: otherwise, escalate: true, to: b, ask: "Go on?", reply_to: r }] }
  b: { structure: s, prompt: p, output: b, gates: [${TO_END}] }
`;
const LONG_STATES = 101;
const REPEATS = 200;
const WARM_UPS = 50;
const MODEL_MS = 200;
const AT_ONCE = 64;
const WAITING = 10_000;
const WINDOW = 64;

function chain(states: number): string {
  const lines = Array.from({ length: states }, (_, i) => {
    const gate = i + 1 === states ? TO_END : `{ when: otherwise, then: ok, to: s${i + 1} }`;
    return `  s${i}: { structure: s, prompt: p, output: o, gates: [${gate}] }\n`;
  });
  return `machine: chain\nentry: s0\nbudget: ${states}\nstates:\n${lines.join("")}`;
}

function model(delayMs: number): LlmProvider {
  return {
    name: "instant",
    supportsTools: false,
    complete: async () => {
      if (delayMs > 0) await ports.clock.sleep(delayMs);
      return {
        content: "ok",
        finishReason: "stop",
        warnings: [],
        toolCalls: [],
        usage: { inputTokens: 10, outputTokens: 5, known: true },
      };
    },
  };
}

function host(delayMs: number, more: Partial<HostOptions> = {}): Host {
  const one = model(delayMs);
  const tiers = { fast: one, balanced: one, reasoning: one };
  const models = { name: "instant", scripted: false, tiers, params: {} };
  return createHost({ ports, door: "mcp", models, ...more });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function medianOf(repeats: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < repeats; i++) times.push(await timed(work));
  return median(times);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}

function micros(ms: number): string {
  return `${Math.round(ms * 1000).toLocaleString("en")} µs`;
}

/** A commissioned run beside the engine alone: same machine, same model, same ledger. */
export async function overhead(): Promise<readonly Row[]> {
  const { parseMachine } = await loadReader();
  const commissioned = host(0);
  const measured = new Map<string, number>();
  for (const states of [1, LONG_STATES]) {
    const source = chain(states);
    const { machine } = parseMachine(source);
    if (machine === undefined) throw new Error("the machine cannot be read");
    const one = model(0);
    const engine = () =>
      runMachine(machine, {
        oracle: createModelOracle({
          tiers: { fast: one, balanced: one, reasoning: one },
          ledger: createLedger(),
          ports,
        }),
        ports,
      });
    const run = () => commissioned.run({ source });
    for (let i = 0; i < WARM_UPS; i++) await Promise.all([engine(), run()]);
    measured.set(`engine ${states}`, await medianOf(REPEATS, engine));
    measured.set(`run ${states}`, await medianOf(REPEATS, run));
  }
  await commissioned.close();
  const read = (key: string): number => measured.get(key) ?? NaN;
  const call = read("run 1") - read("engine 1");
  const steps = LONG_STATES - 1;
  const engineState = (read(`engine ${LONG_STATES}`) - read("engine 1")) / steps;
  const runState = (read(`run ${LONG_STATES}`) - read("run 1")) / steps;
  return [
    {
      what: "overhead of a commissioned run, a call",
      measured: micros(call),
      beside: `engine alone ${micros(read("engine 1"))}, whole ${micros(read("run 1"))}`,
    },
    {
      what: "overhead of a commissioned run, a state",
      measured: micros(runState - engineState),
      beside: `engine alone ${micros(engineState)}, commissioned ${micros(runState)}`,
    },
  ];
}

/** Many runs at once, of a model that takes its time. */
export async function concurrency(): Promise<readonly Row[]> {
  const commissioned = host(MODEL_MS);
  const source = chain(1);
  const run = () => commissioned.run({ source });
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  const one = await medianOf(5, run);
  const all: number[] = [];
  for (let i = 0; i < 5; i++) {
    all.push(await timed(() => Promise.all(Array.from({ length: AT_ONCE }, run))));
  }
  await commissioned.close();
  const ratio = median(all) / one;
  return [{
    what: `${AT_ONCE} runs at once, a model of ${MODEL_MS} ms`,
    measured: `${median(all).toFixed(0)} ms = ${ratio.toFixed(3)} × one run`,
    beside: `one run ${one.toFixed(0)} ms, at most 1.1 ×`,
    holds: ratio <= 1.1,
  }];
}

interface Kept {
  readonly name: string;
  readonly open: () => Promise<Partial<HostOptions>>;
  readonly file?: boolean;
}

/** The stores that can be had here. */
export function keptBy(folder: string): readonly Kept[] {
  const store = (location: string, key?: string): Partial<HostOptions> => ({
    openStore: () => openStore(location, { ports, ...(key === undefined ? {} : { key }) }),
  });
  const sqlite = (name: string, key?: string) => () =>
    Promise.resolve(store(`sqlite:${folder}/${name}-${crypto.randomUUID()}.db`, key));
  const server = Deno.env.get("KIT_TEST_POSTGRES");
  const inMemory = { limits: { maxSuspended: WAITING + 1 } };
  return [
    { name: "memory", open: () => Promise.resolve(inMemory) },
    {
      name: "file",
      open: () => Promise.resolve({ ...inMemory, checkpointDirectory: folder }),
      file: true,
    },
    { name: "SQLite", open: sqlite("plain") },
    { name: "SQLite, sealed", open: sqlite("sealed", "6b".repeat(32)) },
    ...(server === undefined
      ? []
      : [{ name: "PostgreSQL", open: async () => store(await newDatabase(server)) }]),
  ];
}

async function newDatabase(server: string): Promise<string> {
  const name = `kit_${crypto.randomUUID().replaceAll("-", "")}`;
  const sql = postgres(server, { max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.end();
  return new URL(name, server).href;
}

function handleOf(object: JsonObject): string {
  const { checkpoint } = object;
  if (typeof checkpoint !== "string") throw new Error(JSON.stringify(object).slice(0, 300));
  return checkpoint;
}

/** How long a resume takes from its call to the end of the run, by store. */
export async function latency(kept: readonly Kept[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, open, file } of kept) {
    const commissioned = host(0, await open());
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const path = file === true ? { checkpointPath: `c${i}.json` } : {};
      const { object } = await commissioned.run({ source: ASKING, hitl: true, ...path });
      const checkpoint = file === true ? `c${i}.json` : handleOf(object);
      times.push(
        await timed(async () => {
          const done = await commissioned.resume({ checkpoint, inputs: { r: "yes" } });
          if (done.object["status"] !== "done") throw new Error(done.text);
        }),
      );
    }
    await commissioned.close();
    const last = times.toSorted((left, right) => left - right)[Math.floor(REPEATS * 0.95)] ?? NaN;
    rows.push({
      what: `resume to the end, ${name}`,
      measured: micros(median(times.slice(REPEATS / 4))),
      beside: `95 of 100 within ${micros(last)}`,
    });
  }
  return rows;
}

/** Ten thousand runs that wait: begun, listed, resumed; and what each takes of memory. */
export async function crowd(kept: readonly Kept[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, open, file } of kept) {
    if (file === true) continue;
    const commissioned = host(0, await open());
    await commissioned.run({ source: chain(1) });
    const before = heap();
    const handles: string[] = [];
    const began = await timed(() =>
      inWindows(async () => {
        const { object } = await commissioned.run({ source: ASKING, hitl: true });
        handles.push(handleOf(object));
      })
    );
    const each = (heap() - before) / WAITING;
    const store = await commissioned.store();
    let counted = 0;
    const listed = await timed(async () => {
      counted = (await store.list({ phase: "suspended", limit: WAITING })).length;
    });
    if (counted !== WAITING) throw new Error(`${name}: ${counted} listed`);
    let done = 0;
    const resumed = await timed(() =>
      inWindows(async (index) => {
        const checkpoint = handles[index] ?? "";
        const { object } = await commissioned.resume({ checkpoint, inputs: { r: "yes" } });
        if (object["status"] === "done") done++;
      })
    );
    await commissioned.close();
    rows.push({
      what: `10,000 suspended runs, ${name}`,
      measured: `begun ${seconds(began)}, listed ${micros(listed)}, resumed ${seconds(resumed)}`,
      beside: `${done.toLocaleString("en")} done; ${(each / 1024).toFixed(1)} KiB of heap a run`,
      holds: done === WAITING,
    });
  }
  return rows;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Bytes in use after a collection. */
function heap(): number {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect !== "function") throw new Error("start with --v8-flags=--expose-gc");
  collect();
  return Deno.memoryUsage().heapUsed;
}

async function inWindows(work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < WAITING) await work(next++);
  };
  await Promise.all(Array.from({ length: WINDOW - 1 }, worker));
}
