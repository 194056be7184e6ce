/**
 * Reads arguments that fit a tool's schema already, member by member.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";

/**
 * Reads a text.
 *
 * @param args The arguments.
 * @param key The member.
 * @returns The text, or `undefined` if it is absent or no text.
 */
export function textArgument(args: JsonObject, key: string): string | undefined {
  const value = member(args, key);
  return typeof value === "string" ? value : undefined;
}

/**
 * Reads a number.
 *
 * @param args The arguments.
 * @param key The member.
 * @returns The number, or `undefined` if it is absent or no finite number.
 */
export function numberArgument(args: JsonObject, key: string): number | undefined {
  const value = member(args, key);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * Reads a switch.
 *
 * @param args The arguments.
 * @param key The member.
 * @returns The switch, or `undefined` if it is absent.
 */
export function booleanArgument(args: JsonObject, key: string): boolean | undefined {
  const value = member(args, key);
  return typeof value === "boolean" ? value : undefined;
}

/**
 * Reads an object.
 *
 * @param args The arguments.
 * @param key The member.
 * @returns The object, or `undefined` if it is absent.
 */
export function objectArgument(args: JsonObject, key: string): JsonObject | undefined {
  const value = member(args, key);
  return isJsonObject(value) ? value : undefined;
}

/** What of `T` is there: members that may be absent, and are then left out. */
export type Present<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/**
 * Leaves out members that are `undefined`, so that absent stays absent.
 *
 * @param members Members, some of them `undefined`.
 * @returns The others.
 */
export function present<T extends object>(members: T): Present<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}
