/**
 * Stand-in for `@std/jsonc`: JSON with comments and trailing commas.
 *
 * Comments and trailing commas become blanks, the rest is read by `JSON.parse`. The npm package `jsonc-parser` was looked
 * at and left: it is a CommonJS module, whose loading costs every program that reads a configuration 40 ms.
 *
 * @module
 */

/** The JSON values. */
export type JsonValue =
  | { [key: string]: JsonValue | undefined }
  | JsonValue[]
  | string
  | number
  | boolean
  | null;

const STRINGS_AND_COMMENTS = /"(?:[^"\\]|\\.)*"|\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g;
/** A comma that follows a value, and that only blanks separate from a closing bracket. */
const STRINGS_AND_LAST_COMMAS = /"(?:[^"\\]|\\.)*"|(?<![[{,:]\s*),(?=\s*[}\]])/g;

/**
 * Reads JSON with comments.
 *
 * @param text The text.
 * @returns The value.
 * @throws {SyntaxError} If `text` is not JSON with comments.
 */
export function parse(text: string): JsonValue {
  const json = text.replace(STRINGS_AND_COMMENTS, blankUnlessString)
    .replace(STRINGS_AND_LAST_COMMAS, blankUnlessString);
  try {
    return JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SyntaxError(`Cannot parse JSONC: ${reason}`);
  }
}

function blankUnlessString(part: string): string {
  return part.startsWith('"') ? part : part.replace(/[^\n\r]/g, " ");
}
