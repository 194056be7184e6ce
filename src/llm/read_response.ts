/**
 * The door for answers of providers that no compiler has seen.
 *
 * @module
 */
import { LlmError } from "./errors.ts";
import type { FinishReason, LlmResponse, TokenUsage } from "./message.ts";
import { isTokenCount } from "./usage.ts";

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "refusal",
  "unknown",
]);

const NOT_COUNTED: TokenUsage = Object.freeze({ inputTokens: 0, outputTokens: 0, known: false });

/**
 * Takes an answer as a provider gave it. What is only beside the text, counts above all, never fails an answer that was
 * paid for: it is left out.
 *
 * @param answer What the provider gave.
 * @returns The same answer if nothing is wrong with it, else a copy with plain defaults.
 * @throws {LlmError} Code `bad_response`, if it has neither a text nor a tool call.
 */
export function readResponse(answer: LlmResponse): LlmResponse {
  const given: Partial<Record<keyof LlmResponse, unknown>> | undefined | null = answer;
  const toolCalls: LlmResponse["toolCalls"] = Array.isArray(given?.toolCalls)
    ? given.toolCalls
    : [];
  const content = given?.content ?? (toolCalls.length > 0 ? "" : undefined);
  if (typeof given !== "object" || given === null || typeof content !== "string") {
    throw new LlmError("bad_response", "The provider gave an answer without a text", {
      retryable: true,
    });
  }
  const isWhole = given.content === content && given.toolCalls === toolCalls &&
    FINISH_REASONS.has(given.finishReason) && isUsage(given.usage) &&
    Array.isArray(given.warnings);
  if (isWhole) return answer;
  return {
    ...answer,
    content,
    toolCalls,
    finishReason: FINISH_REASONS.has(given.finishReason) ? answer.finishReason : "unknown",
    usage: isUsage(given.usage) ? given.usage : NOT_COUNTED,
    warnings: Array.isArray(given.warnings) ? given.warnings : [],
  };
}

function isUsage(usage: unknown): usage is TokenUsage {
  if (typeof usage !== "object" || usage === null) return false;
  const { inputTokens, outputTokens, known }: Partial<Record<keyof TokenUsage, unknown>> = usage;
  return isTokenCount(inputTokens) && isTokenCount(outputTokens) && typeof known === "boolean";
}
