/**
 * How a run stands that has no result of the engine: it goes on, was parked, or was dropped.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the keys of the language
import type { JsonObject } from "../../json/mod.ts";
import type { Frame } from "../../machine/mod.ts";

/** What is known of such a run. */
export interface RunStanding {
  /** Tokens so far. */
  readonly tokens: {
    /** Those that were sent. */
    readonly input_tokens: number;
    /** Those that came back. */
    readonly output_tokens: number;
  };
  /** The steps so far. */
  readonly trace: Frame["trace"];
}

/**
 * Writes it in the keys of the language.
 *
 * @param status `running`, `suspended` or `halt`.
 * @param error Why, if anything stopped it.
 * @param standing What is known of it.
 * @returns The keys that every result has, in order.
 */
export function runObject(
  status: "running" | "suspended" | "halt",
  error: string | null,
  { tokens, trace }: RunStanding,
): JsonObject {
  const object: unknown = { status, error, result: null, usage: { ...tokens }, trace };
  return object as JsonObject;
}
