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

/**
 * Adds up any number of spendings.
 *
 * @param usages What was spent; may be empty.
 * @returns The sum, field by field.
 */
export function sumUsage(usages: Iterable<Usage>): Usage {
  let sum = NO_USAGE;
  for (const usage of usages) sum = addUsage(sum, usage);
  return sum;
}

/**
 * Takes one spending from another, field by field. Nothing is clamped, so what was added comes off again exactly.
 *
 * @param left From this.
 * @param right This.
 * @returns The difference.
 */
export function subtractUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens - right.inputTokens,
    outputTokens: left.outputTokens - right.outputTokens,
    llmCalls: left.llmCalls - right.llmCalls,
    uncertainTokens: left.uncertainTokens - right.uncertainTokens,
  };
}

/**
 * Prompt and completion tokens together.
 *
 * @param usage What was spent.
 * @returns The number of tokens.
 */
export function totalTokens(
  usage: { readonly inputTokens: number; readonly outputTokens: number },
): number {
  return usage.inputTokens + usage.outputTokens;
}

/** The most tokens that are believed of one request. */
export const MAX_REPORTED_TOKENS = 1_000_000_000;

/**
 * Tells whether a number of tokens can be believed of one request.
 *
 * @param value What an endpoint reports.
 * @returns Whether it is an integer from 0 to {@linkcode MAX_REPORTED_TOKENS}.
 */
export function isTokenCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 &&
    value <= MAX_REPORTED_TOKENS;
}
