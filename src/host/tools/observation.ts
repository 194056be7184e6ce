/**
 * What a host tool tells a machine: one JSON text with the same head for every tool.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import { jsonText } from "../../machine/mod.ts";

/** What kind of observation it is. */
export interface ObservationFacts {
  /** The tool. */
  readonly tool: string;
  /** Whether nothing outside was touched. */
  readonly stub: boolean;
  /** What went wrong, if something did. */
  readonly error?: string;
}

/**
 * Writes an observation.
 *
 * @param facts The head.
 * @param payload What follows it.
 * @returns JSON text with `tool`, `stub`, `error`, `status`, `retryable`, `untrusted`, then the payload.
 */
export function observation(facts: ObservationFacts, payload: JsonObject = {}): string {
  return jsonText({
    tool: facts.tool,
    stub: facts.stub,
    error: facts.error ?? null,
    status: facts.error === undefined ? "ok" : "error",
    retryable: false,
    untrusted: true,
    ...payload,
  });
}

/**
 * Reads a text of a tool's input under the first of some names that has one.
 *
 * @param input The input.
 * @param names The member's names.
 * @returns The text; numbers and booleans as their JSON text; `undefined` if there is none.
 */
export function inputText(input: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = member(input, name);
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (isJsonObject(value) || Array.isArray(value)) return jsonText(value);
  }
  return undefined;
}

/**
 * Reads a whole number of a tool's input.
 *
 * @param value The member, a number or a numeric text.
 * @returns The number; `undefined` if the member is absent; `"invalid"` if it is no whole number.
 */
export function inputInteger(value: JsonValue | undefined): number | undefined | "invalid" {
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" && /^\s*[+-]?\d{1,15}\s*$/.test(value)
    ? Number(value)
    : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : "invalid";
}

/**
 * Keeps a number within bounds.
 *
 * @param value The number.
 * @param low The lowest.
 * @param high The highest.
 * @returns The nearest number within them.
 */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
