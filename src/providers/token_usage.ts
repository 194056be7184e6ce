/**
 * Counts of tokens as endpoints report them.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { copyError, isTokenCount, LlmError, type TokenUsage } from "../llm/mod.ts";

/** Nothing reported. */
export const NO_REPORT: TokenUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  known: false,
});

/**
 * Reads counts in either dialect: `input_tokens` before `prompt_tokens`, `output_tokens` before `completion_tokens`. One
 * that is missing follows from the total. Counts that cannot be believed make the whole unknown, never an error: the answer
 * is paid for.
 *
 * @param usage The endpoint's `usage`.
 * @returns The counts, 0 where unknown.
 */
export function readTokenUsage(usage: JsonValue | undefined): TokenUsage {
  if (!isJsonObject(usage)) return NO_REPORT;
  const input = countOf(usage, ["input_tokens", "prompt_tokens"]);
  const output = countOf(usage, ["output_tokens", "completion_tokens"]);
  const total = countOf(usage, ["total_tokens"]);
  const inputTokens = input ?? difference(total, output);
  const outputTokens = output ?? difference(total, input);
  const known = inputTokens !== undefined && outputTokens !== undefined &&
    inputTokens + outputTokens > 0;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, known };
}

function countOf(usage: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = member(usage, name);
    if (value === undefined || value === null) continue;
    return isTokenCount(value) ? value : undefined;
  }
  return undefined;
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

/**
 * Reads an answer whose counts are known already. If the rest of it cannot be read, the error says what it cost, since the
 * endpoint bills what it counted and not what could be used.
 *
 * @param usage The counts.
 * @param read Reads the answer.
 * @returns What `read` gives.
 * @throws What `read` throws, with `usage` if the counts are known.
 */
export function readBilled<T>(usage: TokenUsage, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!usage.known || !(error instanceof LlmError)) throw error;
    const { inputTokens, outputTokens } = usage;
    throw copyError(error, {
      usage: { inputTokens, outputTokens, llmCalls: 1, uncertainTokens: 0 },
    });
  }
}

/** Bytes of prompt for one reported token from which on it looks as if the endpoint had cut the prompt. */
const SUSPICIOUS_BYTES_PER_TOKEN = 16;

/** Shorter prompts are not suspected. */
const SUSPICIOUS_BYTES = 8000;

/**
 * Tells whether an endpoint seems to have read less than it was sent, as local servers do beyond their context size.
 *
 * @param sentBytes How long the prompt was.
 * @param usage What the endpoint reports.
 * @returns A warning, or `undefined`.
 */
export function promptCutWarning(sentBytes: number, usage: TokenUsage): string | undefined {
  const suspicious = usage.known && usage.inputTokens > 0 && sentBytes >= SUSPICIOUS_BYTES &&
    sentBytes / usage.inputTokens > SUSPICIOUS_BYTES_PER_TOKEN;
  return suspicious
    ? `The prompt seems to have been truncated: ${sentBytes} bytes were sent, ${usage.inputTokens} tokens were ` +
      "read; raise the model's context size"
    : undefined;
}
