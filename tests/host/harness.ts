/** A host over doubles: files in memory, a clock that moves when told, a model that says what it is told to. */
import { createMemoryStore } from "../../src/host/memory_store.ts";
import {
  createHost,
  type Host,
  type HostOptions,
  type ModelSet,
  type SuspensionStore,
} from "../../src/host/mod.ts";
import type { LlmProvider } from "../../src/llm/mod.ts";
import type { Ports } from "../../src/ports/mod.ts";
import { ManualClock, SeededRandom } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";

/** What a test has in its hands. */
export interface Rig {
  /** The host. */
  readonly host: Host;
  /** Its clock. */
  readonly clock: ManualClock;
  /** Its files. */
  readonly files: MemoryFiles;
  /** What it logged. */
  readonly log: string[];
  /** Its ports. */
  readonly ports: Ports;
}

/** How a rig is made. */
export interface RigOptions extends Partial<Omit<HostOptions, "ports" | "models">> {
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files by path; the current directory is `/project`. */
  readonly files?: Readonly<Record<string, string>> | MemoryFiles;
  /** Who answers at every tier; absent: what configuration says. */
  readonly model?: LlmProvider;
  /** Answers the network; absent: it fails. */
  readonly fetch?: Ports["fetch"];
  /** The clock, to share one between hosts. */
  readonly clock?: ManualClock;
  /** Makes handles differ between two hosts. */
  readonly seed?: number;
}

/** Makes a host for a test. */
export function rig(options: RigOptions = {}): Rig {
  const { env = {}, files = {}, model, fetch, clock = new ManualClock(), seed = 1, ...rest } =
    options;
  const memory = files instanceof MemoryFiles ? files : new MemoryFiles(files);
  const log: string[] = [];
  const ports: Ports = {
    clock,
    random: new SeededRandom(seed),
    fetch: fetch ?? (() => Promise.reject(new TypeError("no network in tests"))),
    files: memory,
    env: { get: (name) => Object.hasOwn(env, name) ? env[name] : undefined },
    log: { write: (level, message) => void log.push(`${level}: ${message}`) },
    system: { os: "linux", home: "/home/ann" },
  };
  const host = createHost({
    door: "mcp",
    ...rest,
    ports,
    ...(model === undefined ? {} : { models: oneModel(model) }),
  });
  return { host, clock, files: memory, log, ports };
}

/** A store that outlives hosts, because the test holds it. */
export function lastingStore(clock: ManualClock): SuspensionStore {
  const kept = createMemoryStore({ clock, maxRuns: 100, maxOutcomes: 100 });
  return new Proxy(kept, {
    get(target, key): unknown {
      if (key === "durable") return true;
      if (key === "close") return () => Promise.resolve();
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** One model at every tier. */
export function oneModel(model: LlmProvider): ModelSet {
  return {
    name: "test",
    scripted: false,
    tiers: { fast: model, balanced: model, reasoning: model },
    params: {},
  };
}

/** Asks a person between its two states. */
export const ASKING = `
machine: asking
entry: draft
budget: 6
result: final
states:
  draft:
    structure: s
    prompt: draft it
    output: draft
    gates: [ { when: otherwise, escalate: true, to: apply, ask: "Approve?", reply_to: decision.answer } ]
  apply:
    structure: s
    prompt: "apply {{decision.answer}} to {{draft}}"
    output: final
    gates: [ { when: otherwise, then: ok, to: END } ]
`;

/** One state. */
export const PLAIN = `
machine: plain
entry: a
budget: 3
result: out
context: { task: "" }
states:
  a: { structure: s, prompt: "do {{task}}", output: out, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
