/**
 * What a call cost, as results say it.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { Usage } from "../llm/mod.ts";

/**
 * Gives the member `cost` of a result.
 *
 * @param usage What was spent.
 * @returns Tokens and calls; `estimated` where an endpoint gave no count.
 */
export function costObject(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    llm_calls: usage.llmCalls,
    ...(usage.uncertainTokens > 0 ? { estimated: true } : {}),
  };
}

/**
 * Gives the last line of a text.
 *
 * @param usage What was spent.
 * @returns `cost: input_tokens=… output_tokens=… llm_calls=…`.
 */
export function costLine(usage: Usage): string {
  return `cost: input_tokens=${usage.inputTokens} output_tokens=${usage.outputTokens} ` +
    `llm_calls=${usage.llmCalls}`;
}

/**
 * Writes a ratio so that a whole one still looks like a ratio.
 *
 * @param ratio A number in [0, 1].
 * @returns `1.0`, `0.6666666666666666`.
 */
export function ratioText(ratio: number): string {
  return Number.isInteger(ratio) ? ratio.toFixed(1) : String(ratio);
}
