/**
 * JSON values ({@link https://www.rfc-editor.org/rfc/rfc8259 | RFC 8259}) as TypeScript types, and the questions asked
 * of them at every door.
 *
 * @module
 */

/** Any JSON value. Values are data: nobody changes one it did not make. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. Ask for members with `Object.hasOwn`, since an object may come with or without a prototype. */
export interface JsonObject {
  /** The members. */
  readonly [key: string]: JsonValue;
}

/**
 * Tells whether a value is a JSON object: neither `null` nor an array.
 *
 * @param value Anything.
 * @returns Whether `value` is an object in the sense of JSON.
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads an own member of an object, never an inherited one.
 *
 * @param object The object.
 * @param key The member's name, `__proto__` and the like included.
 * @returns The member, or `undefined` if the object has none of its own by this name.
 */
export function member(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
