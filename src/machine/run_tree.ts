/**
 * Bounds that hold for a whole run: its states, its branches and the machines it calls share them.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { TraceStep } from "./trace.ts";
import { valueSize } from "./values.ts";

/** Most states and branches that called machines execute in one run, all calls together, unless an option says otherwise. */
export const MAX_CALLED_STEPS = 1_000_000;

/** Most characters that trace and contexts of a run hold at once, unless an option says otherwise: 256 Mi. */
export const MAX_HELD_CHARS = 256 * 2 ** 20;

/** Most characters that all runs of a process hold at once, but for those with a limit of their own: 512 Mi. */
const MAX_HELD_BY_ALL = 512 * 2 ** 20;

/** Branches that run at once in one run, unless an option says otherwise. */
export const MAX_WORKERS = 5;

/** What a step weighs beside its texts, in characters: its keys as JSON. */
const STEP_CHARS = 128;
/** What a branch weighs beside its text. */
const BRANCH_CHARS = 16;

/** Why a whole run is at its end. */
export type TreeLimit = "work-exhausted" | "memory-exhausted";

/** How large a run may become. */
export interface TreeLimits {
  /** Branches at once. */
  readonly workers: number;
  /** States and branches of called machines. */
  readonly calledSteps: number;
  /** Characters of trace and contexts; `undefined`: {@linkcode MAX_HELD_CHARS}, or a fair share of less if many runs hold much. */
  readonly heldChars: number | undefined;
}

/** What the runs that are under way in this process hold together: each is small enough alone, ten may not be. */
const underWay = { runs: 0, chars: 0 };

/** What the levels and branches of one run have done and hold, all together. */
export class RunTree {
  /** Who may run branches beside the chain that fans out. */
  readonly slots: BranchSlots;
  readonly #limits: TreeLimits;
  #calledSteps = 0;
  #isWorkExhausted = false;
  #held = 0;
  #isUnderWay = false;

  /** Starts a count. */
  constructor(limits: TreeLimits) {
    this.#limits = limits;
    this.slots = new BranchSlots(limits.workers);
  }

  /** Counts a state or a branch. Those of the root are bounded by its own step budget. */
  countStep(depth: number): void {
    if (depth > 0) this.#calledSteps++;
  }

  /** Counts characters that are held from now on, or no longer, if negative. */
  hold(chars: number): void {
    this.#held += chars;
    if (this.#isUnderWay) underWay.chars += chars;
  }

  /** Counts the run among those of the process while some work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isUnderWay = true;
    underWay.runs++;
    underWay.chars += this.#held;
    try {
      return await work();
    } finally {
      this.#isUnderWay = false;
      underWay.runs--;
      underWay.chars -= this.#held;
    }
  }

  /**
   * Why a level may not do one more state or branch, if so. Once a called machine was refused one, nobody may do more.
   *
   * @param depth How deep the level is, 0 for the root.
   * @returns The limit.
   */
  refuse(depth: number): TreeLimit | undefined {
    if (depth > 0 && this.#calledSteps >= this.#limits.calledSteps) this.#isWorkExhausted = true;
    if (this.#isWorkExhausted) return "work-exhausted";
    return this.#held > this.#mostChars ? "memory-exhausted" : undefined;
  }

  get #mostChars(): number {
    const { heldChars } = this.#limits;
    if (heldChars !== undefined) return heldChars;
    if (underWay.chars <= MAX_HELD_BY_ALL) return MAX_HELD_CHARS;
    return Math.min(MAX_HELD_CHARS, MAX_HELD_BY_ALL / underWay.runs);
  }
}

/**
 * Shares workers among the fan-outs of a run. A chain that fans out works on branches itself, so it never waits for
 * anybody; further workers come from here, and go back here when their fan-out has nothing left.
 */
export class BranchSlots {
  readonly #hungry = new Set<() => boolean>();
  #free: number;

  /** Makes slots. `workers`: how many branches run at once in all, at least 1. */
  constructor(workers: number) {
    this.#free = workers - 1;
  }

  /** Takes up to `most` slots. Returns how many. */
  take(most: number): number {
    const taken = Math.min(most, this.#free);
    this.#free -= taken;
    return taken;
  }

  /** Gives a slot back. The oldest fan-out that has work for it gets it. */
  release(): void {
    for (const offer of this.#hungry) if (offer()) return;
    this.#free++;
  }

  /** Registers a fan-out. `offer` starts a worker on the slot it is given, or says that it has no work. */
  register(offer: () => boolean): void {
    this.#hungry.add(offer);
  }

  /** Forgets a fan-out. */
  unregister(offer: () => boolean): void {
    this.#hungry.delete(offer);
  }
}

/** A step as it is weighed: those of a frame are what its file says, so no member is relied on. */
type WeighedStep = { readonly [Member in keyof TraceStep]?: unknown };

/**
 * Weighs a step without the steps within it.
 *
 * @param step The step; members of another kind than a step has weigh nothing.
 * @returns Characters.
 */
export function stepSize(step: WeighedStep): number {
  const { output, reasoning, branches, reasonings } = step;
  return STEP_CHARS + textSize(output) + textSize(reasoning) + textsSize(branches) +
    textsSize(reasonings);
}

/**
 * Weighs a trace with all steps within it.
 *
 * @param steps The steps; of a fan-out, lists of them. What is neither weighs nothing.
 * @returns Characters.
 */
export function traceSize(steps: unknown): number {
  let size = 0;
  for (const step of listOf(steps)) {
    if (Array.isArray(step)) size += traceSize(step);
    else if (isWeighed(step)) size += stepSize(step) + traceSize(step.sub_trace);
  }
  return size;
}

/**
 * Weighs what a branch gave, while its fan-out goes on.
 *
 * @param value The raw value.
 * @param reasoning What the model thought.
 * @returns Characters.
 */
export function branchSize(value: JsonValue, reasoning: string | undefined): number {
  return BRANCH_CHARS + valueSize(value) + (reasoning?.length ?? 0);
}

function isWeighed(step: unknown): step is WeighedStep {
  return typeof step === "object" && step !== null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsSize(texts: unknown): number {
  let size = 0;
  for (const text of listOf(texts)) size += BRANCH_CHARS + textSize(text);
  return size;
}

function textSize(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}
