/**
 * The state of one call level of a run, and its form as a frame.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { notify } from "../llm/mod.ts";
import type { Machine } from "./document.ts";
import type { WatchedRunOptions } from "./options.ts";
import type { Oracle } from "./oracle.ts";
import type { RunTree } from "./run_tree.ts";
import { TraceLog } from "./steps.ts";
import type { Frame, MachineEvent, RunResult, TokenCount } from "./trace.ts";
import { tokenCount } from "./steps.ts";
import { checkExtent, growList, sameValue, shallowCopy, valueSize } from "./values.ts";
import type { Random } from "../ports/mod.ts";

/** What all levels of a run share. */
export interface Shared {
  /** As the caller gave them. */
  readonly options: WatchedRunOptions;
  /** Who answers. */
  readonly oracle: Oracle;
  /** Finds called machines. */
  findMachine(name: string): Machine | undefined;
  /** Chance for nonces. */
  readonly random: Pick<Random, "bytes">;
  /** Never aborted if the caller gave none. */
  readonly signal: AbortSignal;
  /** Whether a machine can reach a tool state, by name; filled as asked. */
  readonly touchesTools: Map<string, boolean>;
  /** What the whole run has done and holds. */
  readonly tree: RunTree;
  /** Steps kept in each trace. */
  readonly traceLimit: number;
  /** Lets the event loop turn, now and then. */
  breathe(): Promise<void> | undefined;
  /** Runs a machine as a level of its own. */
  runLevel(start: LevelStart): Promise<RunResult>;
}

/** What a level starts with. */
export interface LevelStart {
  /** What it shares with the others. */
  readonly shared: Shared;
  /** The machine. */
  readonly machine: Machine;
  /** The context: the author's values with the inputs over them. */
  readonly context: JsonObject;
  /** How deep, 0 for the root. */
  readonly depth: number;
  /** Most tokens of this level and those below. */
  readonly cap: number | undefined;
  /** Whether it may suspend, for a budget and for a person. */
  readonly suspend: SuspendRights;
  /** Keys that the caller vouches for. */
  readonly trustedKeys: Iterable<string>;
  /** Whether outside data swayed the way here. */
  readonly flowTainted: boolean;
  /** Frames to go on from, this level's first. */
  readonly frames?: readonly Frame[];
  /** The level that calls. */
  readonly caller?: Level;
  /** The call states and branches that lead here, each with a slash behind it. */
  readonly path: string;
}

/** Whether a level may suspend. */
export interface SuspendRights {
  /** When a budget is exhausted. */
  readonly budget: boolean;
  /** When an escalation asks a person. */
  readonly person: boolean;
}

/** One call level while it runs. */
export class Level {
  /** What it shares with the others. */
  readonly shared: Shared;
  /** The machine. */
  readonly machine: Machine;
  /** How deep, 0 for the root. */
  readonly depth: number;
  /** Most tokens of this level and those below. */
  readonly cap: number | undefined;
  /** Whether it may suspend. */
  readonly suspend: SuspendRights;
  /** The level that calls, except for branches, which nobody can go back into. */
  readonly caller: Level | undefined;
  /** The call states and branches that lead here, each with a slash behind it. */
  readonly path: string;
  /** The state to run next, or the one that runs. */
  at: string;
  /** Steps charged. */
  steps = 0;
  /** Prompt tokens. */
  tokensIn = 0;
  /** Completion tokens. */
  tokensOut = 0;
  /** What a repair tells the next state. */
  feedback = "";
  /** What is left of repairs that fired, by state and gate. */
  readonly repairs = new Map<string, Map<number, number>>();
  /** Entries by state, in the order of the first. */
  readonly visits = new Map<string, number>();
  /** Keys that are not the author's. */
  readonly tainted: Set<string>;
  /** Keys from outside the run. */
  readonly external: Set<string>;
  /** Whether outside data swayed the way here. */
  flowTainted: boolean;
  /** The steps so far. */
  readonly trace: TraceLog;
  /** Frames below a suspended call, for the first state. */
  deeper: readonly Frame[] | undefined;
  /** What the first state had made before the token budget stopped it. */
  pending: JsonObject | undefined;
  /** The way on which a person's reply came that the first state sees. */
  replyVia: string | undefined;
  #context: Record<string, JsonValue>;
  #contextShared = false;
  readonly #ownLists = new Set<string>();
  /** What the values of the context weigh; those that a caller handed in are counted where they came from. */
  readonly #held = new Map<string, number>();

  /** Starts a level; or goes on from its frame. */
  constructor(start: LevelStart) {
    const { machine, shared } = start;
    this.shared = shared;
    this.machine = machine;
    this.depth = start.depth;
    this.cap = start.cap;
    this.suspend = start.suspend;
    this.caller = start.caller;
    this.path = start.path;
    const frame = start.frames?.[0];
    this.at = frame?.state ?? machine.entry;
    this.#context = shallowCopy(frame?.ctx ?? start.context);
    this.tainted = frame === undefined
      ? initialTaint(machine, start)
      : new Set(frame.tainted ?? Object.keys(frame.ctx));
    this.external = new Set(frame === undefined ? this.tainted : frame.external ?? this.tainted);
    this.flowTainted = frame === undefined ? start.flowTainted : (frame.flow_tainted ?? true) &&
      !isConfirmed(frame);
    this.trace = new TraceLog(shared.traceLimit, shared.tree, frame?.trace);
    if (start.depth === 0) { for (const key of Object.keys(this.#context)) this.#weigh(key); }
    if (frame !== undefined) this.#restore(frame);
    this.deeper = start.frames !== undefined && start.frames.length > 1
      ? start.frames.slice(1)
      : undefined;
  }

  /** The context. For looking, not for keeping: it goes on to change. */
  get context(): JsonObject {
    return this.#context;
  }

  /** Tokens of both kinds so far. */
  get spent(): number {
    return this.tokensIn + this.tokensOut;
  }

  /** What is left of the cap, at least 0. */
  get remaining(): number | undefined {
    return this.cap === undefined ? undefined : Math.max(0, this.cap - this.spent);
  }

  /** The value of a top-level key. */
  value(key: string): JsonValue | undefined {
    return Object.hasOwn(this.#context, key) ? this.#context[key] : undefined;
  }

  /**
   * Writes an output: instead of the old value, or behind it.
   *
   * @throws {RangeError} If the value becomes too large to carry.
   */
  deposit(key: string, value: JsonValue, mode: { readonly accumulate: boolean }): void {
    this.tainted.add(key);
    const old = mode.accumulate ? this.value(key) : undefined;
    // A list that only this context holds grows in place, so that a long run does not copy it at every step.
    if (isMutableList(old) && this.#ownLists.has(key)) growList(old, value);
    else this.#write(key, mode.accumulate ? appended(old, value) : value);
    if (mode.accumulate) this.#ownLists.add(key);
    checkExtent(this.#context[key] ?? null, `output '${key}'`);
    this.#weigh(key);
  }

  /** Lets go of what a called machine held beside its trace and its result. */
  release(): void {
    let held = 0;
    for (const chars of this.#held.values()) held += chars;
    this.shared.tree.hold(-held);
    this.#held.clear();
  }

  /** Tells the level that values of its context are now held elsewhere too. */
  shareValues(): void {
    this.#ownLists.clear();
  }

  /** The context as it is now, for keeping. */
  keepContext(): JsonObject {
    this.#contextShared = true;
    this.#ownLists.clear();
    return this.#context;
  }

  /** Counts tokens. */
  charge(input: number, output: number): void {
    this.tokensIn += input;
    this.tokensOut += output;
  }

  /** How often a state was entered. */
  visitsOf(state: string): number {
    return this.visits.get(state) ?? 0;
  }

  /** Takes one off a repair. */
  spendRepair(state: string, gate: number, limit: number): void {
    let left = this.repairs.get(state);
    if (left === undefined) this.repairs.set(state, left = new Map());
    left.set(gate, (left.get(gate) ?? limit) - 1);
  }

  /** Tokens in the spelling of results. */
  usage(): TokenCount {
    return tokenCount(this.tokensIn, this.tokensOut);
  }

  /** Tells the observer. */
  emit(event: LevelEvent): void {
    const { onEvent } = this.shared.options;
    if (onEvent === undefined) return;
    notify(onEvent, { ...event, machine: this.machine.name, depth: this.depth });
  }

  #weigh(key: string): void {
    const size = valueSize(this.#context[key] ?? null);
    this.shared.tree.hold(size - (this.#held.get(key) ?? 0));
    this.#held.set(key, size);
  }

  #write(key: string, value: JsonValue): void {
    if (this.#contextShared) {
      this.#context = shallowCopy(this.#context);
      this.#contextShared = false;
    }
    this.#ownLists.delete(key);
    this.#context[key] = value;
  }

  #restore(frame: Frame): void {
    this.steps = frame.steps;
    this.charge(frame.total_in, frame.total_out);
    this.feedback = frame.feedback;
    for (const [state, gate, left] of frame.repair_left) this.spendRepair(state, gate, left + 1);
    for (const [state, count] of Object.entries(frame.visits ?? {})) this.visits.set(state, count);
    this.pending = frame.pending;
    this.replyVia = frame.reply_via;
  }
}

/** An event without what the level adds to it. */
export type LevelEvent = MachineEvent extends infer Event
  ? Event extends MachineEvent ? Omit<Event, "machine" | "depth"> : never
  : never;

/**
 * Compares texts by code point, as the language sorts.
 *
 * @param left One.
 * @param right The other.
 * @returns Below 0, 0 or above 0.
 */
export function byCodePoint(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i]?.codePointAt(0) ?? 0) - (b[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function initialTaint(machine: Machine, start: LevelStart): Set<string> {
  const trusted = new Set(start.trustedKeys);
  const keys = Object.keys(start.context).filter((key) => {
    const literal = Object.hasOwn(machine.context, key) ? machine.context[key] : null;
    return !trusted.has(key) && !sameValue(start.context[key], literal);
  });
  return new Set(keys);
}

/** Whether a person replied to this very suspension: the reply or its parent was injected now, and it is there. */
function isConfirmed(frame: Frame): boolean {
  const path = frame.reply_to || "human.reply";
  const isReply = (key: string): boolean => key === path || path.startsWith(`${key}.`);
  if (!frame.resume_injected?.some(isReply)) return false;
  let value: JsonValue | undefined = frame.ctx;
  for (const key of path.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return false;
    value = value[key];
  }
  return true;
}

function appended(old: JsonValue | undefined, value: JsonValue): JsonValue {
  if (Array.isArray(old)) return [...old, value];
  return old === undefined ? [value] : [old, value];
}

function isMutableList(value: JsonValue | undefined): value is JsonValue[] {
  return Array.isArray(value);
}
