/**
 * Finds what a run spent that its own count does not hold: requests that were cut off, and answers without a count.
 *
 * @module
 */
import type { Usage } from "../../llm/mod.ts";
import type { Frame, TokenCount } from "../../machine/mod.ts";

/**
 * Says what is not in the count of a run.
 *
 * @param spent What the run's account holds of this part of it.
 * @param before Where it went on; what was spent up to there is in its count, but not in the account.
 * @param counted What the run counted in all.
 * @returns One sentence, or none where the count is whole.
 */
export function uncountedWarnings(
  spent: Usage,
  before: readonly Frame[],
  counted: TokenCount | null,
): readonly string[] {
  const earlier = before.reduce((sum, frame) => sum + frame.total_in + frame.total_out, 0);
  const here = counted === null ? 0 : counted.input_tokens + counted.output_tokens - earlier;
  const missing = spent.inputTokens + spent.outputTokens - here;
  if (missing <= 0) return [];
  return [
    `about ${missing} more tokens than usage says were spent, by requests that were cut off or gave no count`,
  ];
}
