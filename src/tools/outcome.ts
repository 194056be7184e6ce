/**
 * Turns what the host gives into what the protocol sends: two texts, the object, and facts for programs.
 *
 * @module
 */
import type { Emitted } from "../host/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { ToolOutcome } from "../mcp/mod.ts";

/** The `_meta` key under which failures say what they are. */
export const ERROR_META_KEY = "dev.kit/error";

/**
 * Most characters (UTF-16 units) of a model's answer that a result carries. It stands there three times, each unit in at
 * most 7 bytes, which together must stay below what clients take for one line (4 MiB).
 */
export const MAX_VALUE_CHARS = 200_000;

/** An answer as a result shows it. */
export interface ShownValue {
  /** Members for the object: the value, and `truncated` where it was cut. */
  readonly members: { readonly value: string; readonly truncated?: true };
  /** Lines for the short text: the value, and what was cut. */
  readonly lines: readonly string[];
}

/**
 * Cuts an answer that would make the result too large to be sent, so that the rest of it, the spend above all, arrives.
 *
 * @param value The answer.
 * @returns What to show, and whether it is all.
 */
export function shownValue(value: string): ShownValue {
  if (value.length <= MAX_VALUE_CHARS) return { members: { value }, lines: [value] };
  const shown = value.slice(0, MAX_VALUE_CHARS).replace(/[\uD800-\uDBFF]$/, "");
  const note = `truncated: the answer has ${value.length} characters, the first ${shown.length} ` +
    "are given; set max_tokens for shorter ones";
  return { members: { value: shown, truncated: true }, lines: [shown, "", note] };
}

/**
 * Gives a result its two text blocks.
 *
 * @param text The short one, for people and models.
 * @param object The whole, also as structured content.
 * @param options `isError`: whether the tool failed; `meta`: members of `_meta`.
 * @returns The outcome.
 */
export function outcome(
  text: string,
  object: JsonObject,
  options: { readonly isError?: boolean; readonly meta?: JsonObject } = {},
): EndOutcome {
  return {
    kind: "result",
    content: [{ type: "text", text }, { type: "text", text: JSON.stringify(object) }],
    structuredContent: object,
    isError: options.isError ?? false,
    ...(options.meta === undefined ? {} : { meta: options.meta }),
  };
}

/** A result, not a question. */
export type EndOutcome = Extract<ToolOutcome, { readonly kind: "result" }>;

/**
 * Gives what the host emitted.
 *
 * @param emitted From the host.
 * @returns The outcome; a failure names its slug in `_meta`.
 */
export function emittedOutcome(emitted: Emitted): EndOutcome {
  if (!emitted.isError) return outcome(emitted.text, emitted.object);
  const code = emitted.object["error"];
  const meta = { [ERROR_META_KEY]: { code: code ?? null, retryable: code === "busy" } };
  return outcome(emitted.text, emitted.object, { isError: true, meta });
}
