/**
 * JSON values as text.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "./value.ts";

/**
 * Writes a value with `", "` and `": "` between its parts, as machines show values in prompts.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(jsonText({ a: [1, "é"], b: null }), '{"a": [1, "é"], "b": null}');
 * ```
 *
 * @param value The value; its numbers print as JSON prints them.
 * @returns One line of JSON.
 */
export function jsonText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).map((key) =>
      `${JSON.stringify(key)}: ${jsonText(value[key] ?? null)}`
    );
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}

/**
 * Writes a value so that equal values give equal texts: keys sorted by UTF-16 units, nothing between the parts, in the
 * manner of {@link https://www.rfc-editor.org/rfc/rfc8785 | RFC 8785}.
 *
 * @param value The value.
 * @returns One line of JSON.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).sort().map((key) =>
      `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`
    );
    return `{${members.join(",")}}`;
  }
  return Object.is(value, -0) ? "0" : JSON.stringify(value);
}
