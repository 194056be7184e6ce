/**
 * JSON values as the engine compares and changes them.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";

/** How deep a value may be nested that comes from a model, a tool or a host. */
export const MAX_VALUE_DEPTH = 256;

/**
 * Compares two values deeply, as the language does: the order of members does not count, absent is null, and truth
 * values equal the numbers 1 and 0.
 *
 * @param left One.
 * @param right The other.
 * @returns Whether they are the same.
 */
export function sameValue(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  const a = plain(left);
  const b = plain(right);
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}

function plain(value: JsonValue | undefined): JsonValue {
  if (value === undefined) return null;
  return typeof value === "boolean" ? Number(value) : value;
}

/**
 * Copies a value so that nobody else holds a part of it.
 *
 * @param value The value.
 * @returns The copy; its objects have no prototype.
 */
export function copyValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyValue);
  if (!isJsonObject(value)) return value;
  return copyObject(value);
}

/**
 * Copies an object deeply.
 *
 * @param object The object.
 * @returns The copy, without prototype.
 */
export function copyObject(object: JsonObject): JsonObject {
  const copy = emptyObject();
  for (const key of Object.keys(object)) copy[key] = copyValue(object[key] ?? null);
  return copy;
}

/**
 * Copies the top level of an object.
 *
 * @param object The object.
 * @returns The copy, without prototype, its members shared.
 */
export function shallowCopy(object: JsonObject): Record<string, JsonValue> {
  return Object.assign(emptyObject(), object);
}

/**
 * Makes an object without prototype, so that no key is special.
 *
 * @returns The object.
 */
export function emptyObject(): Record<string, JsonValue> {
  return Object.create(null);
}

/**
 * Writes a value at a dotted path: missing objects on the way are made, and what is no object is replaced. Objects on
 * the way are copied, never changed.
 *
 * @param object The object to start from.
 * @param path The path; its parts are separated by dots.
 * @param value The value.
 * @returns A changed copy.
 */
export function setPath(object: JsonObject, path: string, value: JsonValue): JsonObject {
  const keys = path.split(".");
  const top = shallowCopy(object);
  let at = top;
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    const copy = isJsonObject(next) ? shallowCopy(next) : emptyObject();
    at[key] = copy;
    at = copy;
  }
  at[keys.at(-1) ?? ""] = value;
  return top;
}

/**
 * Tells whether a value is nested too deeply to be handled by recursion.
 *
 * @param value The value.
 * @param depth Levels that are left; default {@linkcode MAX_VALUE_DEPTH}.
 * @returns Whether it goes deeper than that.
 */
export function isTooDeep(value: JsonValue, depth: number = MAX_VALUE_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => isTooDeep(item, depth - 1));
}

/** How large a value of a context may be, counted in lists, objects and what they hold. */
export const MAX_VALUE_NODES = 1_000_000;

/** How large a value is. */
export interface Extent {
  /** Lists, objects and plain values in it, shared parts counted each time. */
  readonly nodes: number;
  /** Levels of nesting; 0 for a plain value. */
  readonly depth: number;
  /** Characters of the texts and keys in a list or an object, with {@linkcode NODE_CHARS} for each node; else 0. */
  readonly chars: number;
}

/** What a value in a list or an object weighs beside its text. */
const NODE_CHARS = 8;
const PLAIN: Extent = { nodes: 1, depth: 0, chars: 0 };
const extents = new WeakMap<object, Extent>();

/**
 * Measures a value. Lists and objects are measured once, so that a value made of shared parts costs no more than its
 * parts.
 *
 * @param value The value; what was measured is not to be changed but through {@linkcode growList}.
 * @param known What was measured before. Default all that was ever measured; for values that others may change a new one.
 * @returns Its extent.
 */
export function measureValue(value: JsonValue, known: WeakMap<object, Extent> = extents): Extent {
  if (typeof value !== "object" || value === null) return PLAIN;
  const before = known.get(value);
  if (before !== undefined) return before;
  let nodes = 1;
  let depth = 0;
  let chars = NODE_CHARS;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const part = measureValue(item, known);
    nodes += part.nodes;
    depth = Math.max(depth, part.depth);
    chars += itemSize(item, part);
  }
  if (!Array.isArray(value)) { for (const key of Object.keys(value)) chars += key.length; }
  const extent = { nodes, depth: depth + 1, chars };
  known.set(value, extent);
  return extent;
}

/**
 * Appends to a list that nobody else holds.
 *
 * @param list The list; changed.
 * @param item What to append.
 */
export function growList(list: JsonValue[], item: JsonValue): void {
  const whole = measureValue(list);
  const part = measureValue(item);
  list.push(item);
  extents.set(list, {
    nodes: whole.nodes + part.nodes,
    depth: Math.max(whole.depth, part.depth + 1),
    chars: whole.chars + itemSize(item, part),
  });
}

/**
 * Weighs a value. Parts are measured once, as by {@linkcode measureValue}.
 *
 * @param value The value.
 * @returns Its characters, with something for each list, object and member.
 */
export function valueSize(value: JsonValue): number {
  return typeof value === "string" ? value.length : measureValue(value).chars;
}

function itemSize(item: JsonValue, part: Extent): number {
  return typeof item === "string" ? NODE_CHARS + item.length : Math.max(part.chars, NODE_CHARS);
}

/**
 * Refuses a value that no prompt, frame or trace could carry.
 *
 * @param value The value.
 * @param name What it is, for the message.
 * @param known As for {@linkcode measureValue}.
 * @throws {RangeError} If it is nested too deeply or holds too much.
 */
export function checkExtent(
  value: JsonValue,
  name: string,
  known: WeakMap<object, Extent> = extents,
): void {
  const { nodes, depth } = measureValue(value, known);
  if (depth > MAX_VALUE_DEPTH) {
    throw new RangeError(`${name} is nested over ${MAX_VALUE_DEPTH} levels deep`);
  }
  if (nodes > MAX_VALUE_NODES) {
    throw new RangeError(`${name} holds over ${MAX_VALUE_NODES} values`);
  }
}
