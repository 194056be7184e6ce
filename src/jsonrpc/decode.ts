/**
 * From the text of a line to a message.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { ErrorCode } from "./codes.ts";
import { classify, type Incoming } from "./message.ts";
import { isNestedDeeper } from "./nesting.ts";

/** How deep a message may be nested: far above any real one, far below what a recursive reader survives. */
export const MAX_NESTING = 512;

/**
 * Reads one line.
 *
 * @param line The text of a line without its end.
 * @returns The message or the batch; `invalid` with -32700 and no id if the text is not JSON or nested too deep.
 */
export function decodeLine(line: string): Incoming {
  if (isNestedDeeper(line, MAX_NESTING)) {
    return unreadable(`Line is nested deeper than ${MAX_NESTING} levels`);
  }
  try {
    return classify(parseJson(line));
  } catch {
    return unreadable("Line is not JSON");
  }
}

function parseJson(text: string): JsonValue {
  return JSON.parse(text);
}

/**
 * The refusal of a line that cannot be read at all.
 *
 * @param message Why.
 * @returns An `invalid` message with -32700 and no id.
 */
export function unreadable(message: string): Incoming {
  return { kind: "invalid", id: undefined, error: { code: ErrorCode.parse, message } };
}
