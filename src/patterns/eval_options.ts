/**
 * What an evaluation takes and gives.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { Usage } from "../llm/mod.ts";
import type { Clock } from "../ports/mod.ts";

/**
 * What a check says: `null`, `undefined`, `true` and `""` pass; `false` fails; any other text fails and is the reason.
 * Anything else fails, as does what is thrown.
 */
export type EvalVerdict = unknown;

/** One thing to be tried. */
export interface EvalCase<Output = unknown> {
  /** Its name, unique in the suite. */
  readonly name: string;
  /** Most milliseconds for one try; default the suite's. */
  readonly timeoutMs?: number;
  /** Facts for the report. */
  readonly metadata?: JsonObject;
  /**
   * Does the work.
   *
   * @param context `signal` fires when the time is over.
   * @returns What is checked. If it is a pattern's result, its spending is counted.
   */
  run(context: { readonly signal: AbortSignal }): Promise<Output> | Output;
  /**
   * Looks at the output.
   *
   * @param output What `run` gave.
   * @returns The verdict; a promise is awaited.
   */
  check(output: Output): EvalVerdict;
}

/** What a suite may use. An absent field is no limit. */
export interface EvalLimits {
  /** Most requests to models. */
  readonly maxCalls?: number;
  /** Most tokens, of prompts and answers together. */
  readonly maxTokens?: number;
  /** Most milliseconds for the slowest case of a hundred: the 99th percentile of all cases. */
  readonly p99Ms?: number;
  /** Most milliseconds for half of the cases: their median. */
  readonly p50Ms?: number;
}

/** How a suite runs. */
export interface EvalSuiteOptions {
  /** The least share of tries that must pass, from 0 to 1; default all. */
  readonly minAccuracy?: number;
  /** What the suite may use; one that used more has not passed, and `exceeded` says of what. Default no limits. */
  readonly limits?: EvalLimits;
  /** How often each case is tried, at least 1; default 1. */
  readonly repeat?: number;
  /** Most tries under way at once, at least 1; default 1. */
  readonly concurrency?: number;
  /** Most milliseconds for one try; default 120000. */
  readonly timeoutMs?: number;
  /** Ends the suite: what was not tried has failed. */
  readonly signal?: AbortSignal;
  /** Time; default the ambient clock. */
  readonly clock?: Clock;
  /** Masks secrets in reasons; default Kit's own rules. */
  readonly redact?: (text: string) => string;
  /** Told about each finished case; what it throws is swallowed. */
  readonly onCase?: (result: EvalResult) => void;
}

/** A share that was seen, and where the true one may lie: the 95 % interval of Wilson. */
export interface PassRate {
  /** The share that passed, from 0 to 1. */
  readonly rate: number;
  /** The lower end. */
  readonly low: number;
  /** The upper end. */
  readonly high: number;
}

/** How a case went. */
export interface EvalResult {
  /** Its name. */
  readonly name: string;
  /** Whether every try passed. */
  readonly passed: boolean;
  /** How often it was tried. */
  readonly runs: number;
  /** How many tries passed. */
  readonly passedRuns: number;
  /** The share that passed. */
  readonly passRate: PassRate;
  /** Why the first failed try failed; secrets masked, cut. */
  readonly reason?: string;
  /** How long all tries took, in milliseconds. */
  readonly durationMs: number;
  /** What all tries spent, as far as their outputs tell. */
  readonly usage: Usage;
  /** The case's facts. */
  readonly metadata?: JsonObject;
}

/** How a suite went. */
export interface EvalReport {
  /** How many cases there are. */
  readonly total: number;
  /** Whether every case passed and no limit was passed; false if there are no cases. */
  readonly passed: boolean;
  /** How many cases passed. */
  readonly passedCount: number;
  /** How many did not. */
  readonly failedCount: number;
  /** Share of tries that passed; 0 if there were none. */
  readonly accuracy: PassRate;
  /** Whether the accuracy is what was asked for, whatever was used for it; false if there are no cases. */
  readonly accuracyPassed: boolean;
  /** Every case, in order. */
  readonly results: readonly EvalResult[];
  /** What all cases spent. */
  readonly usage: Usage;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** How long half of the cases took at most, in milliseconds: the median; 0 if there are none. */
  readonly p50Ms: number;
  /** How long 99 of 100 cases took at most, in milliseconds; 0 if there are none. */
  readonly p99Ms: number;
  /** The limits that were passed, by name; empty if none was. */
  readonly exceeded: readonly (keyof EvalLimits)[];
  /** One line for people, such as `7/9 passed (77.8% accuracy)`, with the limits that were passed. */
  readonly summary: string;
}
