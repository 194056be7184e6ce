/**
 * Values that survive being written as JSON and read back.
 *
 * @module
 */
import { cloneJson, deepFreeze, formatPointer, type JsonValue } from "../json/mod.ts";

const MAX_DEPTH = 128;

/** Where a value is not JSON, and why. */
export interface NotJson {
  /** Where, as a JSON pointer; `""` is the whole value. */
  readonly pointer: string;
  /** What is there. */
  readonly found: string;
}

/** A value as JSON, or where it is not. */
export type PlainJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: NotJson };

/**
 * Copies a value as JSON data. Nothing is converted: a date, a `NaN` or a member that is `undefined` is a problem, because
 * it would come back as something else. `undefined` as a whole is `null`.
 *
 * @param value Any value.
 * @returns A frozen copy, or the first problem.
 */
export function toPlainJson(value: unknown): PlainJson {
  if (value === undefined) return { ok: true, value: null };
  const problem = findProblem(value, []);
  return problem === undefined
    ? { ok: true, value: deepFreeze(cloneJson(value as JsonValue)) }
    : { ok: false, problem };
}

function findProblem(value: unknown, path: readonly (string | number)[]): NotJson | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return undefined;
  const pointer = formatPointer(path);
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : { pointer, found: String(value) };
  }
  if (typeof value !== "object") return { pointer, found: typeof value };
  if (path.length >= MAX_DEPTH) return { pointer, found: "deeper nesting than is kept" };
  if (!Array.isArray(value)) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype) {
      return { pointer, found: prototype.constructor?.name ?? "an object of a class" };
    }
  }
  for (const [key, item] of Object.entries(value)) {
    const problem = findProblem(item, [...path, key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
