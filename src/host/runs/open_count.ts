/**
 * Finds what a run's count of tokens leaves open: what is missing in it, requests that were cut off, and what in it is
 * estimated, since the endpoint gave no count.
 *
 * @module
 */
import { totalTokens, type Usage } from "../../llm/mod.ts";
import type { Frame } from "../../machine/mod.ts";
import type { SavedRun } from "./saved_run.ts";

/** What a count leaves open. */
export interface OpenCount {
  /** Tokens that were spent and are not in the count. */
  readonly missing: number;
  /** Tokens of the count that are estimated, those of earlier parts of the run included. */
  readonly estimated: number;
}

/**
 * Compares a run's count with its account.
 *
 * @param spent What the account holds of this part of the run.
 * @param saved Where this part began; what was spent up to there is in the count, but not in the account.
 * @param counted Tokens that the run counts by now, in all.
 * @returns What is open; both are 0 where every answer had a count.
 */
export function openCount(
  spent: Usage,
  saved: Pick<SavedRun, "frames" | "estimated_tokens">,
  counted: number,
): OpenCount {
  const here = counted - countedIn(saved.frames);
  const missing = Math.max(0, totalTokens(spent) - here);
  const estimated = Math.max(0, spent.uncertainTokens - missing);
  return { missing, estimated: (saved.estimated_tokens ?? 0) + estimated };
}

/**
 * Adds up what the frames of a run count.
 *
 * @param frames The frames; those of calls under way have counts of their own.
 * @returns Tokens.
 */
export function countedIn(frames: readonly Frame[]): number {
  return frames.reduce((sum, frame) => sum + frame.total_in + frame.total_out, 0);
}

/**
 * Says what is missing in a count.
 *
 * @param missing Tokens.
 * @returns One sentence, or none where nothing is.
 */
export function missingWarnings(missing: number): readonly string[] {
  if (missing === 0) return [];
  return [
    `about ${missing} more tokens than usage says were spent, by requests that were cut off or gave no count`,
  ];
}

/**
 * Says what of a count is estimated.
 *
 * @param estimated Tokens.
 * @returns One sentence, or none where nothing is.
 */
export function estimateWarnings(estimated: number): readonly string[] {
  if (estimated === 0) return [];
  return [`about ${estimated} of the tokens in usage are estimated: the endpoint gave no count`];
}
