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
): ToolOutcome {
  return {
    kind: "result",
    content: [{ type: "text", text }, { type: "text", text: JSON.stringify(object) }],
    structuredContent: object,
    isError: options.isError ?? false,
    ...(options.meta === undefined ? {} : { meta: options.meta }),
  };
}

/**
 * Gives what the host emitted.
 *
 * @param emitted From the host.
 * @returns The outcome; a failure names its slug in `_meta`.
 */
export function emittedOutcome(emitted: Emitted): ToolOutcome {
  if (!emitted.isError) return outcome(emitted.text, emitted.object);
  const code = emitted.object["error"];
  const meta = { [ERROR_META_KEY]: { code: code ?? null, retryable: code === "busy" } };
  return outcome(emitted.text, emitted.object, { isError: true, meta });
}
