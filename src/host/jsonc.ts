/**
 * Reads JSON with comments. The one file that names `@std/jsonc`, and the only one loaded when a config file is read.
 *
 * @module
 */
import { parse } from "@std/jsonc";
import type { JsonValue } from "../json/mod.ts";

/**
 * Reads JSON with comments and trailing commas.
 *
 * @param text The text.
 * @returns The value.
 * @throws {SyntaxError} If the text is not JSON.
 */
export function parseJsonc(text: string): JsonValue {
  // The library types members as possibly undefined; what it returns is JSON.
  return parse(text) as JsonValue;
}
