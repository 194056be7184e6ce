/**
 * What was spent.
 *
 * @module
 */

/** What a piece of work spent, failed and refused requests included. */
export interface Usage {
  /** Prompt tokens. */
  readonly inputTokens: number;
  /** Completion tokens. */
  readonly outputTokens: number;
  /** Requests that left for an endpoint, each attempt counted. */
  readonly llmCalls: number;
  /** Tokens charged by estimate, because the endpoint gave no count or the request was cut off; within the sums. */
  readonly uncertainTokens: number;
}

/** Nothing spent. */
export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  llmCalls: 0,
  uncertainTokens: 0,
});

/**
 * Adds two spendings, field by field.
 *
 * @param left One.
 * @param right The other.
 * @returns The sum.
 */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    llmCalls: left.llmCalls + right.llmCalls,
    uncertainTokens: left.uncertainTokens + right.uncertainTokens,
  };
}
