/**
 * Members that are null where they are meant to be absent.
 *
 * @module
 */
import { cloneJson, isJsonObject, type JsonObject, parsePointer } from "../json/mod.ts";

/**
 * Leaves out members that are null.
 *
 * @param value The object.
 * @param pointers Which members, as JSON pointers.
 * @returns A copy without them, or `undefined` if some pointer does not name a member that is null.
 */
export function dropNulls(value: JsonObject, pointers: readonly string[]): JsonObject | undefined {
  const copy = cloneJson(value);
  for (const pointer of pointers) {
    const path = parsePointer(pointer);
    const key = path.at(-1);
    let owner: unknown = copy;
    for (const part of path.slice(0, -1)) {
      owner = typeof owner === "object" && owner !== null ? Reflect.get(owner, part) : undefined;
    }
    if (key === undefined || !isJsonObject(owner) || owner[key] !== null) return undefined;
    Reflect.deleteProperty(owner, key);
  }
  return copy;
}
