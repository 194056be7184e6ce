/**
 * `--set k.path=value`.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { UsageError } from "./arguments.ts";

/**
 * Reads the values of `--set`.
 *
 * Each splits at its first `=`. The value is JSON if it reads as JSON, else text: `n=3` is a number, `n=007` and
 * `name=Ann` are text, `s="3"` is the text 3, `s=` is the empty text.
 *
 * @param settings As written; a later one of the same path wins.
 * @returns Values by dotted path. Without prototype, so that every path is a plain member.
 * @throws {UsageError} Without `=`, with a blank path, or with a number that a double cannot hold.
 */
export function readSettings(settings: readonly string[]): Record<string, JsonValue> {
  const inputs: Record<string, JsonValue> = Object.create(null);
  for (const setting of settings) {
    const cut = setting.indexOf("=");
    if (cut < 0) throw new UsageError(`invalid --set '${setting}'; expected k.path=value`);
    const path = setting.slice(0, cut).trim();
    if (path === "") throw new UsageError(`invalid --set '${setting}'; the key is blank`);
    inputs[path] = readValue(path, setting.slice(cut + 1));
  }
  return inputs;
}

function readValue(path: string, text: string): JsonValue {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return checked(path, value);
}

function checked(path: string, value: unknown): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) {
      return value;
    }
    throw new UsageError(
      `invalid --set '${path}': the number cannot be kept exactly; give it as text: ${path}='"…"'`,
    );
  }
  if (Array.isArray(value)) return value.map((item) => checked(path, item));
  const copy: Record<string, JsonValue> = Object.create(null);
  for (const [key, member] of Object.entries(value ?? {})) copy[key] = checked(path, member);
  return copy;
}
