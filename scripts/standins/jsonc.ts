// deno-lint-ignore-file no-import-prefix no-external-import -- stands outside the import map, under vendor/
/**
 * Stand-in for `@std/jsonc`: JSON with comments and trailing commas, read with npm's `jsonc-parser`.
 *
 * @module
 */
import { parse as parseJsonc, type ParseError, printParseErrorCode } from "npm:jsonc-parser@3.3.1";

/** The JSON values. */
export type JsonValue =
  | { [key: string]: JsonValue | undefined }
  | JsonValue[]
  | string
  | number
  | boolean
  | null;

/**
 * Reads JSON with comments.
 *
 * @param text The text.
 * @returns The value.
 * @throws {SyntaxError} If `text` is not JSON with comments.
 */
export function parse(text: string): JsonValue {
  const errors: ParseError[] = [];
  const value = parseJsonc(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    throw new SyntaxError(
      `Cannot parse JSONC: ${printParseErrorCode(first.error)} at position ${first.offset}`,
    );
  }
  return value;
}
