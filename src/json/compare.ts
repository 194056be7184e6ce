/**
 * Equality and copies of JSON values.
 *
 * @module
 */
import { isJsonObject, type JsonValue, member } from "./value.ts";

/**
 * Tells whether two values are equal as JSON: the order of keys does not count, that of items does, `-0` is `0`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(deepEqual({ a: 1, b: [2] }, { b: [2], a: 1 }), true);
 * ```
 *
 * @param left One.
 * @param right The other.
 * @returns Whether they are equal.
 */
export function deepEqual(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((item, index) => deepEqual(item, right[index] ?? null));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => {
    const ours = member(left, key);
    const theirs = member(right, key);
    return ours !== undefined && theirs !== undefined && deepEqual(ours, theirs);
  });
}

/**
 * Copies a value whole. Objects of the copy have no prototype.
 *
 * @param value The value.
 * @returns The copy.
 */
export function cloneJson<Value extends JsonValue>(value: Value): Value;
export function cloneJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => cloneJson<JsonValue>(item));
  if (!isJsonObject(value)) return value;
  const copy: Record<string, JsonValue> = Object.create(null);
  for (const key of Object.keys(value)) copy[key] = cloneJson<JsonValue>(value[key] ?? null);
  return copy;
}

/**
 * Freezes a value and everything in it. Only data is: arrays and plain objects. Bytes cannot be frozen, and what has a
 * class of its own may have to change.
 *
 * @param value Any value.
 * @returns The same value.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && isData(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

function isData(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
