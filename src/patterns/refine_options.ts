/**
 * What a refinement takes and gives.
 *
 * @module
 */
import type { LlmProvider, Usage } from "../llm/mod.ts";
import { COMMON_NAMES, type PatternOptions } from "./options.ts";

/** Score to reach where the caller names none. */
export const DEFAULT_TARGET_SCORE = 0.9;
/** Sampling temperature of drafts where the caller names none. */
export const REFINE_TEMPERATURE = 0.7;
/** Sampling temperature of the built-in judge where the caller names none. */
export const JUDGE_TEMPERATURE = 0.1;

/** What an evaluator knows beside the draft. */
export interface EvaluationContext {
  /** What was asked for. */
  readonly task: string;
  /** The loop's provider, on the loop's account: what is asked through it is counted and capped. */
  readonly provider: LlmProvider;
  /** Fires when the loop ends. */
  readonly signal: AbortSignal;
}

/** Scores a draft from 0 to 1. */
export type Evaluator = (draft: string, context: EvaluationContext) => Promise<number> | number;

/**
 * Why a refinement ended. `target`: the score was reached. `plateau`: the best did not get better. `budget`: no more may
 * be spent. `evaluator_failed`: a draft could not be scored. Only in what an error leaves as `partial`: `aborted`, and
 * `failed` for any other error, whose `code` says what it was.
 */
export type RefineStopReason =
  | "target"
  | "plateau"
  | "max_iterations"
  | "budget"
  | "aborted"
  | "evaluator_failed"
  | "failed";

/** A refinement between two drafts. Plain data: it can be written as JSON and read back. */
export interface RefineCheckpoint {
  /** The form of this record. */
  readonly version: 1;
  /** Digest of the prompt, so that another task is not resumed by mistake. */
  readonly promptDigest: string;
  /** Drafts after the first. */
  readonly iteration: number;
  /** The best draft so far. */
  readonly bestText: string;
  /** Its score. */
  readonly bestScore: number;
  /** The latest draft. */
  readonly currentText: string;
  /** Its score. */
  readonly currentScore: number;
  /** All scores, in order. */
  readonly scoreHistory: readonly number[];
  /** Drafts in a row that did not better the best. */
  readonly stale: number;
  /** What was spent. */
  readonly usage: Usage;
}

/** How a refinement runs. */
export interface RefineOptions extends PatternOptions {
  /** Scores drafts; default a judge of Kit's own. */
  readonly evaluator?: Evaluator;
  /** Whom the built-in judge asks; default the provider of the drafts. */
  readonly judge?: LlmProvider;
  /** Most characters of a draft that the built-in judge sees, at least 1; default 32768. */
  readonly maxEvalChars?: number;
  /** The score that is good enough, from 0 to 1; default 0.9. */
  readonly targetScore?: number;
  /** Most drafts after the first, 0 or more; default 5. */
  readonly maxIterations?: number;
  /** Drafts in a row without betterment that end it, at least 1; default 3. */
  readonly patience?: number;
  /** How much better a draft must be to count, 0 or more; default 0.01. */
  readonly deltaThreshold?: number;
  /** Sampling temperature of the built-in judge; default 0.1. */
  readonly judgeTemperature?: number;
  /** Most tokens of the built-in judge's answer, at least 1; default 64, and 1024 when that was too few. */
  readonly judgeMaxTokens?: number;
  /** What a spent budget does once there is a scored draft: `return` it (default), or `throw`. */
  readonly onBudget?: "return" | "throw";
  /** Given the loop after each scored draft. */
  readonly onCheckpoint?: (checkpoint: RefineCheckpoint) => Promise<void> | void;
  /** What a failing `onCheckpoint` does: `ignore` (default, it is traced) or `throw`. */
  readonly onCheckpointError?: "ignore" | "throw";
  /** Goes on from here instead of making a first draft. */
  readonly resumeFrom?: RefineCheckpoint;
}

/** The names of the options. */
export const REFINE_NAMES = {
  ...COMMON_NAMES,
  evaluator: true,
  judge: true,
  maxEvalChars: true,
  targetScore: true,
  maxIterations: true,
  patience: true,
  deltaThreshold: true,
  judgeTemperature: true,
  judgeMaxTokens: true,
  onBudget: true,
  onCheckpoint: true,
  onCheckpointError: true,
  resumeFrom: true,
} satisfies Record<keyof RefineOptions, true>;

/** How a refinement came about. */
export interface RefineMetadata {
  /** Drafts after the first; 0 means that the first was accepted. */
  readonly iterations: number;
  /** Why it ended. */
  readonly stopReason: RefineStopReason;
  /** All scores, in order, the first draft's included. */
  readonly scoreHistory: readonly number[];
  /** Drafts that were cut off. */
  readonly truncatedResponses: number;
  /** What was wrong with the evaluation, where that ended the loop. */
  readonly evaluatorError?: string;
}
