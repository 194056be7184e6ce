/**
 * Checkpoints of refinements, as they come back from wherever they were kept.
 *
 * @module
 */
import { KitError } from "../llm/mod.ts";
import type { RefineCheckpoint } from "./refine_options.ts";

const MAX_HISTORY = 100_000;

/**
 * Checks that a checkpoint can be gone on from. Nothing is coerced.
 *
 * @param checkpoint What the caller gave, possibly read from a file.
 * @param promptDigest Digest of the prompt that is to be gone on with.
 * @throws {KitError} Code `checkpoint`, naming the member that does not fit.
 */
export function checkCheckpoint(checkpoint: RefineCheckpoint, promptDigest: string): void {
  const given: unknown = checkpoint;
  if (typeof given !== "object" || given === null) {
    throw new KitError(
      "checkpoint",
      "Cannot resume the refinement: what is to be resumed is no object",
    );
  }
  const { scoreHistory } = checkpoint;
  const facts: readonly (readonly [member: string, fits: boolean])[] = [
    ["version", checkpoint.version === 1],
    ["promptDigest", checkpoint.promptDigest === promptDigest],
    ["bestText", typeof checkpoint.bestText === "string"],
    ["bestScore", isScore(checkpoint.bestScore)],
    [
      "scoreHistory",
      Array.isArray(scoreHistory) && scoreHistory.length > 0 &&
      scoreHistory.length <= MAX_HISTORY && scoreHistory.every(isScore) &&
      Math.max(...scoreHistory) === checkpoint.bestScore,
    ],
    ["iteration", checkpoint.iteration === scoreHistory?.length - 1],
    ["stale", Number.isSafeInteger(checkpoint.stale) && checkpoint.stale >= 0],
  ];
  const wrong = facts.find(([, fits]) => !fits);
  if (wrong === undefined) return;
  throw new KitError("checkpoint", `Cannot resume the refinement: "${wrong[0]}" does not fit`);
}

function isScore(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}
