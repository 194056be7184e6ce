/**
 * Fan-outs: one state carried out many times at once, its results gathered in order.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import type { State } from "./document.ts";
import { execute, type Outcome, overPlaceholder, type Unit } from "./execute.ts";
import { type Failure, stateFailure } from "./failure.ts";
import { formatValue } from "./format.ts";
import { lookUp } from "./interpolate.ts";
import type { Level } from "./level.ts";
import { branchSize, traceSize, type TreeLimit } from "./run_tree.ts";
import type { StepDraft } from "./steps.ts";
import { tokenCount } from "./steps.ts";
import type { TraceStep } from "./trace.ts";
import { MAX_VALUE_NODES } from "./values.ts";

/** The branches of a fan-out, before they run. */
export interface BranchPlan {
  /** How many there are. */
  readonly count: number;
  /** The list that is gone over, for `over`. */
  readonly items: readonly JsonValue[] | undefined;
}

/** What a branch gave: a value, or the marker of its failure. */
export interface BranchResult {
  /** The raw value or the marker. */
  readonly value: JsonValue;
  /** What the model thought. */
  readonly reasoning?: string;
  /** The steps of a called machine. */
  readonly subTrace?: readonly TraceStep[];
  /** Prompt tokens that the step is charged with. */
  readonly tokensIn: number;
  /** Completion tokens that the step is charged with. */
  readonly tokensOut: number;
  /** Whether the model was cut off. */
  readonly truncated?: boolean;
  /** The endpoint's word for that. */
  readonly finishReason?: string;
}

/** What became of all branches; those that were not started are `undefined`. */
export interface Branches {
  /** One result each. */
  readonly results: readonly (BranchResult | undefined)[];
  /** Characters that the run counts for them, until they are gathered. */
  readonly held: number;
  /** Why not all were started. */
  readonly stopped?: "cancelled" | "cost-exhausted" | TreeLimit;
}

/** The most branches of `sample`: with one more their list would be too large to be deposited. */
export const MAX_SAMPLES = MAX_VALUE_NODES - 1;

/**
 * Finds the branches of a fan-out state.
 *
 * @param level Where.
 * @param state The state, with `sample` or `over`.
 * @returns The branches, or why there are none.
 */
export function planBranches(level: Level, state: State): BranchPlan | Failure {
  if (state.sample !== undefined) {
    const { sample } = state;
    if (Number.isInteger(sample) && sample >= 0 && sample <= MAX_SAMPLES) {
      return { count: sample, items: undefined };
    }
    return stateFailure(new Error(`sample: ${sample} is no number from 0 to ${MAX_SAMPLES}`));
  }
  const place = overPlaceholder(state);
  if (place === undefined) {
    return stateFailure(
      new Error(`over: invalid expression '${state.over}' (expected {{path}})`),
    );
  }
  const items = lookUp(place.keys, (key) => level.value(key)) ?? null;
  if (items === null) {
    return stateFailure(new Error(`over: path '${place.path}' not found in context`));
  }
  if (!isList(items)) {
    const type = isJsonObject(items) ? "object" : typeof items;
    return stateFailure(new Error(`over: path '${place.path}' is not a list (got ${type})`));
  }
  return { count: items.length, items };
}

/**
 * Runs the branches, started in order, a bounded number at a time in the whole run.
 *
 * @param level Where.
 * @param state The state.
 * @param plan The branches, and results of before that need no second run.
 * @returns The results in the order of the list.
 */
export async function runBranches(
  level: Level,
  state: State,
  plan: KnownPlan,
): Promise<Branches> {
  return await new FanOut(level, state, plan).run();
}

type KnownPlan = BranchPlan & { readonly known: ReadonlyMap<number, BranchResult> };

/** One fan-out while it runs. */
class FanOut {
  readonly #level: Level;
  readonly #state: State;
  readonly #plan: KnownPlan;
  readonly #unit: (index: number) => BranchUnit;
  readonly #results: (BranchResult | undefined)[];
  readonly #workers: Promise<void>[] = [];
  /** How many branches start, where a recorded run is repeated. */
  readonly #recorded: number | undefined;
  #next = 0;
  #held = 0;
  #stopped: Branches["stopped"];
  #thrown: { readonly error: unknown } | undefined;

  constructor(level: Level, state: State, plan: KnownPlan) {
    this.#level = level;
    this.#state = state;
    this.#plan = plan;
    this.#unit = branchUnit(level, state, plan);
    this.#results = new Array(plan.count).fill(undefined);
    this.#recorded = level.cap === undefined
      ? undefined
      : level.shared.options.fanOuts?.limit?.(level.path + state.id);
  }

  async run(): Promise<Branches> {
    const { shared, cap, path } = this.#level;
    const { slots } = shared.tree;
    const offer = (): boolean => this.#hasWork && this.#recruit();
    // Taken before the first branch starts, which may itself fan out and would take them.
    const slotsTaken = slots.take(Math.max(0, this.#plan.count - 1));
    slots.register(offer);
    this.#workers.push(this.#work());
    for (let i = 0; i < slotsTaken; i++) this.#recruit();
    // Workers may be added while these are waited for, but none once the branches are all started.
    for (let i = 0; i < this.#workers.length; i++) await this.#workers[i];
    slots.unregister(offer);
    if (this.#thrown !== undefined) throw this.#thrown.error;
    if (shared.signal.aborted) this.#stopped = "cancelled";
    if (cap !== undefined) shared.options.fanOuts?.started?.(path + this.#state.id, this.#next);
    const results = this.#results;
    const held = this.#held;
    const stopped = this.#stopped;
    return stopped === undefined ? { results, held } : { results, held, stopped };
  }

  get #hasWork(): boolean {
    return this.#next < this.#plan.count && this.#stopped === undefined;
  }

  #recruit(): boolean {
    this.#workers.push(this.#work().finally(() => this.#level.shared.tree.slots.release()));
    return true;
  }

  async #work(): Promise<void> {
    try {
      while (this.#hasWork) {
        const pause = this.#level.shared.breathe();
        if (pause !== undefined) {
          await pause;
          continue;
        }
        const index = this.#next;
        const known = this.#plan.known.get(index);
        if (known === undefined) this.#stopped = this.#whyStop(index);
        else this.#level.shared.tree.hold(traceSize(known.subTrace));
        if (this.#stopped !== undefined) return;
        this.#next++;
        this.#keep(index, known ?? await runBranch(this.#level, this.#state, this.#unit(index)));
      }
    } catch (error) {
      this.#stopped ??= "cancelled";
      this.#thrown ??= { error };
    }
  }

  #keep(index: number, result: BranchResult): void {
    const held = branchSize(result.value, result.reasoning);
    this.#results[index] = result;
    this.#held += held;
    this.#level.shared.tree.hold(held);
  }

  /** A branch is not started once the run is cancelled, has spent its cap or is at a limit. */
  #whyStop(index: number): Branches["stopped"] {
    const { shared, cap, spent, depth } = this.#level;
    if (shared.signal.aborted) return "cancelled";
    const isCapped = this.#recorded === undefined
      ? cap !== undefined && spent >= cap
      : index >= this.#recorded;
    return isCapped ? "cost-exhausted" : shared.tree.refuse(depth);
  }
}

/**
 * Gathers results into a step.
 *
 * @param state The state.
 * @param branches The results, in order, and why some were not started; these get a marker.
 * @param draft The step; written to.
 * @returns The list of raw values, and what the judge is shown as thinking.
 */
export function gatherBranches(
  state: State,
  { results, stopped = "cost-exhausted" }: Pick<Branches, "results" | "stopped">,
  draft: StepDraft,
): { readonly value: JsonValue[]; readonly reasoning?: string } {
  const notStarted = { value: BRANCH_ERROR(stopped), tokensIn: 0, tokensOut: 0 };
  const all: BranchResult[] = results.map((result) => result ?? notStarted);
  const value = all.map((result) => result.value);
  draft.branches = value.map((item) => typeof item === "string" ? item : formatValue(item));
  const traces = all.flatMap(({ subTrace }) => subTrace === undefined ? [] : [subTrace]);
  if (traces.length > 0) draft.subTrace = traces;
  for (const result of all) {
    draft.tokensIn += result.tokensIn;
    draft.tokensOut += result.tokensOut;
  }
  const cut = all.find((result) => result.truncated);
  if (cut !== undefined) {
    draft.truncated = true;
    if (cut.finishReason !== undefined) draft.finishReason = cut.finishReason;
  }
  if (state.kind !== "generative" || !state.reason) return { value };
  draft.reasonings = all.map(({ reasoning }) => reasoning ?? null);
  const reasoning = all.flatMap((result) => result.reasoning ? [result.reasoning] : []);
  return reasoning.length === 0 ? { value } : { value, reasoning: reasoning.join("\n---\n") };
}

/**
 * Turns branch results into JSON, for a frame.
 *
 * @param results The results; those that are missing are left out.
 * @returns Pairs of index and result.
 */
export function branchesToJson(results: readonly (BranchResult | undefined)[]): JsonValue {
  const done = [...results.entries()].filter(([, result]) => result !== undefined);
  return JSON.parse(JSON.stringify(done));
}

/**
 * Reads what {@linkcode branchesToJson} wrote.
 *
 * @param value The JSON.
 * @returns Results by index; what does not look like one is left out and so runs again.
 */
export function branchesFromJson(value: JsonValue | undefined): Map<number, BranchResult> {
  const results = new Map<number, BranchResult>();
  if (!isList(value)) return results;
  for (const pair of value) {
    if (!isList(pair)) continue;
    const [index, result] = pair;
    if (typeof index !== "number" || !isJsonObject(result) || !isBranchResult(result)) continue;
    results.set(index, result);
  }
  return results;
}

const BRANCH_ERROR = (message: string): string => `[branch-error: ${message}]`;

function branchUnit(level: Level, state: State, plan: BranchPlan): (index: number) => BranchUnit {
  const { remaining } = level;
  const cap = remaining === undefined
    ? undefined
    : Math.max(1, Math.floor(remaining / Math.max(1, plan.count)));
  const root = state.over === undefined ? undefined : overPlaceholder(state)?.root;
  const tainted = root !== undefined && level.tainted.has(root)
    ? new Set(level.tainted).add("item")
    : new Set(level.tainted);
  return (index) => ({
    scope: (key) => {
      if (key === "index") return index;
      if (key === "item" && plan.items !== undefined) return plan.items[index];
      return level.value(key);
    },
    tainted,
    feedback: "",
    cap,
    suspend: { budget: false, person: false },
    branch: index,
  });
}

type BranchUnit = Unit & { readonly branch: number };

async function runBranch(level: Level, state: State, unit: BranchUnit): Promise<BranchResult> {
  level.shared.tree.countStep(level.depth);
  const outcome = await execute(level, state, unit);
  const spent = "tokens" in outcome ? outcome.tokens : { input: 0, output: 0 };
  level.charge(spent.input, spent.output);
  level.emit({
    type: "branch-done",
    state: state.id,
    index: unit.branch,
    tokens: tokenCount(spent.input, spent.output),
  });
  return branchResult(outcome);
}

function branchResult(outcome: Outcome): BranchResult {
  switch (outcome.kind) {
    case "made": {
      const { kind: _kind, tokens, ...rest } = outcome;
      return { ...rest, tokensIn: tokens.input, tokensOut: tokens.output };
    }
    case "call-failed": {
      const { error, subTrace, tokens } = outcome;
      const value = BRANCH_ERROR(error);
      return { value, subTrace, tokensIn: tokens.input, tokensOut: tokens.output };
    }
    case "error":
      return { value: BRANCH_ERROR(outcome.message), tokensIn: 0, tokensOut: 0 };
    case "suspended":
      return { value: BRANCH_ERROR(outcome.error), tokensIn: 0, tokensOut: 0 };
  }
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isBranchResult(value: JsonObject): value is JsonObject & BranchResult {
  return Object.hasOwn(value, "value") && typeof value.tokensIn === "number" &&
    typeof value.tokensOut === "number";
}
