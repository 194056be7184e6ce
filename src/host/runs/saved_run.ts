/**
 * A run as it is kept while nobody holds it: everything that is needed to go on, in JSON.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the names under which runs are stored
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import type { Frame, Machine, Registry } from "../../machine/mod.ts";
import type { RunUsage } from "../result.ts";

/** An effect that had been started when the run was saved. */
export interface StartedEffect {
  /** The tool. */
  readonly tool: string;
  /** The state that called it. */
  readonly state: string;
}

/** A run as it is kept. */
export interface SavedRun {
  /** Version of this form. */
  readonly v: 1;
  /** Names the run for ever. */
  readonly run_id: string;
  /** The machine's name. */
  readonly machine: string;
  /** The argument it was named by: a path, a name, `<inline>`. */
  readonly machine_path: string;
  /** Its text. */
  readonly machine_source: string;
  /** Texts of the other machines it can reach, but for the bundled ones, by name. */
  readonly machines: Readonly<Record<string, string>>;
  /** The configured provider. */
  readonly provider: string;
  /** Most tokens in total, or `null`. */
  readonly cost_budget: number | null;
  /** Whether escalation pauses for a person. */
  readonly hitl: boolean;
  /** Whether budgets suspend. */
  readonly suspendable: boolean;
  /** What a cut-off answer does. */
  readonly on_truncate: "report" | "halt";
  /** What a swayed decision before an effect does. */
  readonly on_untrusted_flow: "report" | "halt";
  /** Why it waits: `escalated`, `budget-exhausted`, `cost-exhausted`, `interrupted`, `effect-unknown`. */
  readonly reason: string;
  /** Where it goes on, outermost call first. */
  readonly frames: readonly Frame[];
  /** The file that is kept beside the handle, if one was asked for. */
  readonly checkpoint_file: string | null;
  /** Where that file really is, absolute; absent in runs of older versions. */
  readonly checkpoint_path?: string | null;
  /** Which suspension that file was of when the run last took hold of it: SHA-256 of the handle, in hex. */
  readonly file_suspension?: string | null;
  /** How many of the tokens that the frames count are estimated; absent: none. */
  readonly estimated_tokens?: number;
  /** Effects that had been started after the last settled state and whose end is not known. */
  readonly effects: readonly StartedEffect[];
}

/** Why a run waits if its holder went away. */
export const INTERRUPTED = "interrupted";
/** Why a run waits if its holder went away in the middle of an effect. */
export const EFFECT_UNKNOWN = "effect-unknown";

/**
 * Reads a saved run from what a store kept.
 *
 * @param payload From the store.
 * @returns The run, or `undefined` if the payload is none.
 */
export function readSavedRun(payload: JsonValue): SavedRun | undefined {
  if (!isJsonObject(payload) || member(payload, "v") !== 1) return undefined;
  const frames = member(payload, "frames");
  const whole = Array.isArray(frames) && typeof member(payload, "machine_source") === "string" &&
    typeof member(payload, "run_id") === "string" && Array.isArray(member(payload, "effects"));
  // The store gives back what this module wrote, sealed where it leaves the process.
  return whole ? payload as unknown as SavedRun : undefined;
}

/**
 * Gives a saved run to a store.
 *
 * @param saved The run.
 * @returns The same as JSON.
 */
export function savedPayload(saved: SavedRun): JsonValue {
  // Every member is JSON by its type; interfaces lack the index signature that would say so.
  return saved as unknown as JsonObject;
}

/**
 * Tells where a saved run stands.
 *
 * @param saved The run.
 * @returns The state of the innermost frame, or `undefined` before the first.
 */
export function standsAt(saved: SavedRun): string | undefined {
  return saved.frames.at(-1)?.state;
}

/**
 * Tells what a saved run asks.
 *
 * @param saved The run.
 * @returns What to ask and where the reply goes, if a person is asked.
 */
export function asks(saved: SavedRun): { ask: string | undefined; replyTo: string } | undefined {
  if (saved.reason !== "escalated") return undefined;
  const frame = saved.frames.at(-1);
  return { ask: frame?.ask, replyTo: frame?.reply_to ?? "human.reply" };
}

/**
 * Tells what a saved run has spent, as the result of a suspension counts it.
 *
 * @param saved The run.
 * @returns The root's tokens.
 */
export function savedUsage(saved: SavedRun): RunUsage {
  const root = saved.frames[0];
  return {
    input_tokens: root?.total_in ?? 0,
    output_tokens: root?.total_out ?? 0,
    ...(saved.estimated_tokens === undefined ? {} : { estimated: true }),
  };
}

/**
 * Collects the texts of the machines that a machine can reach.
 *
 * @param machine The root.
 * @param registry What it sees.
 * @param bundled Machines that every process has.
 * @returns Texts by name, without the root and the bundled ones.
 */
export function reachableSources(
  machine: Machine,
  registry: Registry,
  bundled: Registry,
): Readonly<Record<string, string>> {
  const sources: Record<string, string> = Object.create(null);
  const seen = new Set([machine.name]);
  const queue = [machine];
  for (let current = queue.pop(); current !== undefined; current = queue.pop()) {
    for (const state of current.states.values()) {
      if (state.kind !== "call" || seen.has(state.call)) continue;
      seen.add(state.call);
      const called = registry.get(state.call);
      if (called === undefined) continue;
      queue.push(called);
      if (bundled.get(state.call)?.source !== called.source) sources[state.call] = called.source;
    }
  }
  return sources;
}
