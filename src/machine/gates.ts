/**
 * The choice of a gate as a pure function: which gates may fire, what to ask next, and what an answer means. The driver
 * asks; nothing here waits, and the same answers always lead to the same gate.
 *
 * @module
 */
import type { Gate } from "./document.ts";
import { firstChars } from "./format.ts";
import type { ChoiceNotes } from "./steps.ts";

/** A gate that may fire, with its place in the state's full list. */
export interface EligibleGate {
  /** Its index among all gates of the state. */
  readonly index: number;
  /** The gate. */
  readonly gate: Gate;
}

/** What the scan needs to know next. `at` and `next` are indexes among the eligible gates. */
export type GateQuestion =
  | {
    /** A host predicate decides this gate. */
    readonly kind: "hook";
    /** The gate. */
    readonly at: number;
    /** The hook's name. */
    readonly hook: string;
  }
  | {
    /** One judge call decides these neighbours together. */
    readonly kind: "judge";
    /** The first of them. */
    readonly at: number;
    /** The first gate after them. */
    readonly next: number;
  }
  | {
    /** A catch-all: it fires without a question. */
    readonly kind: "otherwise";
    /** The gate. */
    readonly at: number;
  }
  | {
    /** No gates are left. */
    readonly kind: "end";
  };

/** What a verdict on a batch means. */
export type BatchOutcome =
  | {
    /** A gate fires. */
    readonly kind: "fired";
    /** Its index among the eligible gates. */
    readonly at: number;
  }
  | {
    /** None of the batch is true: the scan goes on behind it. */
    readonly kind: "none";
  }
  | {
    /** The reply is no use and no catch-all is left. */
    readonly kind: "unparseable";
  };

/** A verdict on a batch: an index among its conditions, their number for "none", or a reply that names no choice. */
export type BatchVerdict =
  | {
    /** A number was named. */
    readonly index: number;
    /** How the reply was read, if not as strict JSON. */
    readonly method?: string | undefined;
  }
  | {
    /** The reply. */
    readonly raw: string;
  };

const RAW_CHARS = 200;

/**
 * Lists the gates that may fire: all but repairs that are used up.
 *
 * @param gates All gates of the state.
 * @param left What is left of repairs that fired, by index.
 * @returns The rest, in order.
 */
export function eligibleGates(
  gates: readonly Gate[],
  left?: ReadonlyMap<number, number>,
): readonly EligibleGate[] {
  // Documents that were not validated may have holes among their gates.
  const all = gates.flatMap((gate, index) => gate === undefined ? [] : [{ gate, index }]);
  return left === undefined
    ? all
    : all.filter(({ gate, index }) => gate.policy !== "repair" || left.get(index) !== 0);
}

/**
 * Finds what has to be known next, reading from the left.
 *
 * @param eligible The gates that may fire.
 * @param from Where to go on.
 * @returns The question.
 */
export function nextQuestion(eligible: readonly EligibleGate[], from: number): GateQuestion {
  const gate = eligible[from]?.gate;
  if (gate === undefined) return { kind: "end" };
  if (gate.catchAll) return { kind: "otherwise", at: from };
  if (isHookGate(gate)) return { kind: "hook", at: from, hook: gate.hook };
  let next = from + 1;
  while (isProse(eligible[next]?.gate)) next++;
  return { kind: "judge", at: from, next };
}

/**
 * Reads a verdict on a batch and notes what the trace has to say of it.
 *
 * @param eligible The gates that may fire.
 * @param batch The batch, as {@linkcode nextQuestion} gave it.
 * @param answer The verdict, the model that gave it, and the notes to add to.
 * @returns What it means.
 */
export function readVerdict(
  eligible: readonly EligibleGate[],
  batch: { readonly at: number; readonly next: number },
  answer: { readonly verdict: BatchVerdict; readonly model: string; readonly notes: ChoiceNotes },
): BatchOutcome {
  const { verdict, model, notes } = answer;
  const size = batch.next - batch.at;
  const problem = anomaly(verdict, size);
  if (problem !== undefined) {
    notes.judgeFallback = true;
    notes.judgeRaw = firstChars(problem, RAW_CHARS);
    const at = eligible.findIndex(({ gate }, i) => i >= batch.at && gate.catchAll);
    if (at === -1) return { kind: "unparseable" };
    notes.via = "otherwise";
    return { kind: "fired", at };
  }
  const { index, method } = "index" in verdict ? verdict : { index: size, method: undefined };
  notes.judgeModel = model;
  if (method !== undefined) notes.judgeParse = method;
  if (index === size) {
    notes.judgeNone = (notes.judgeNone ?? 0) + 1;
    return { kind: "none" };
  }
  notes.via = "llm";
  return { kind: "fired", at: batch.at + index };
}

function anomaly(verdict: BatchVerdict, size: number): string | undefined {
  if ("raw" in verdict) return verdict.raw === "" ? "(empty)" : verdict.raw;
  const { index } = verdict;
  if (Number.isInteger(index) && index >= 0 && index <= size) return undefined;
  return `out-of-range choice ${index} for n=${size + 1}`;
}

function isHookGate(gate: Gate): gate is Gate & { readonly hook: string } {
  return gate.hook !== undefined && gate.hook !== "";
}

function isProse(gate: Gate | undefined): boolean {
  return gate !== undefined && !gate.catchAll && !isHookGate(gate);
}
