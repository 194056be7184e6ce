/**
 * The answers in a batch's results.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { type FinishReason, isTokenCount, type Redactor, type TokenUsage } from "../llm/mod.ts";
import { truncateText } from "./text_limits.ts";

/** What became of an entry. */
export type BatchEntry =
  | {
    /** Answered. */
    readonly kind: "answer";
    /** The text. */
    readonly text: string;
    /** Why the model stopped. */
    readonly finishReason: FinishReason;
    /** What it cost. */
    readonly usage: TokenUsage;
  }
  | {
    /** Not answered, not there, or there twice. */
    readonly kind: "problem";
    /** What is wrong. */
    readonly problem: string;
  };

const MAX_PROBLEM_CHARACTERS = 200;
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "refusal"],
]);

/**
 * Sorts results by their ids.
 *
 * @param results As they came, in any order.
 * @param ids The ids that were sent, in order.
 * @param redact Masks secrets in what the endpoint says of a failed one.
 * @returns One entry for each id.
 */
export function readEntries(
  results: readonly JsonObject[],
  ids: readonly string[],
  redact: Redactor,
): readonly BatchEntry[] {
  const byId = new Map<string, JsonObject[]>();
  for (const result of results) {
    const id = member(result, "custom_id");
    if (typeof id !== "string") continue;
    byId.set(id, [...byId.get(id) ?? [], result]);
  }
  return ids.map((id) => {
    const found = byId.get(id) ?? [];
    const [only] = found;
    if (only === undefined) return { kind: "problem", problem: "it is missing" };
    if (found.length > 1) return { kind: "problem", problem: "it is there twice" };
    return readEntry(member(only, "result"), redact);
  });
}

function readEntry(result: JsonValue | undefined, redact: Redactor): BatchEntry {
  const type = isJsonObject(result) ? member(result, "type") : undefined;
  const message = isJsonObject(result) ? member(result, "message") : undefined;
  if (type !== "succeeded" || !isJsonObject(message)) {
    const error = isJsonObject(result) ? member(result, "error") : undefined;
    const text = typeof type === "string" ? type : "unreadable";
    const detail = error === undefined ? "" : `: ${JSON.stringify(error)}`;
    return {
      kind: "problem",
      problem: truncateText(redact(text + detail), MAX_PROBLEM_CHARACTERS).text,
    };
  }
  const reason = member(message, "stop_reason");
  return {
    kind: "answer",
    text: textOf(member(message, "content")),
    finishReason: FINISH_REASONS.get(String(reason)) ?? "unknown",
    usage: usageOf(member(message, "usage")),
  };
}

function textOf(content: JsonValue | undefined): string {
  if (!Array.isArray(content)) return "";
  return content.map((block) => {
    const text = isJsonObject(block) && member(block, "type") === "text"
      ? member(block, "text")
      : undefined;
    return typeof text === "string" ? text : "";
  }).join("");
}

function usageOf(usage: JsonValue | undefined): TokenUsage {
  const count = (name: string): number | undefined => {
    const found = isJsonObject(usage) ? member(usage, name) : undefined;
    return isTokenCount(found) ? found : undefined;
  };
  const [input, output] = [count("input_tokens"), count("output_tokens")];
  if (input === undefined || output === undefined) {
    return { inputTokens: 0, outputTokens: 0, known: false };
  }
  const cached = (count("cache_creation_input_tokens") ?? 0) +
    (count("cache_read_input_tokens") ?? 0);
  return { inputTokens: input + cached, outputTokens: output, known: true };
}
