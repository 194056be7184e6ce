/**
 * One line to a message and back.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/value.ts";
import { classify, ErrorCode, type ErrorObject, type Incoming, type RequestId } from "./message.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

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

/** Linear, and mostly cheaper than a look at every character: a text with few opening brackets cannot be deep. */
function isNestedDeeper(text: string, limit: number): boolean {
  if (text.length <= limit || hasFewOpenings(text, limit)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
      depth -= 1;
    }
  }
  return false;
}

function hasFewOpenings(text: string, limit: number): boolean {
  let count = 0;
  for (const opening of ["{", "["]) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      count += 1;
      if (count > limit) return false;
    }
  }
  return true;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** Line ends of Unicode, which some readers take for the end of a message. */
const UNICODE_LINE_END = /[\u0085\u2028\u2029]/u;
const UNICODE_LINE_ENDS = new RegExp(UNICODE_LINE_END, "gu");

/** A message of ours. */
export type Outgoing =
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of the request that is answered. */
    readonly id: RequestId;
    /** What came of it. */
    readonly result: JsonObject;
  }
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of the request that is refused; left out where it could not be read. */
    readonly id?: RequestId;
    /** Why it is refused. */
    readonly error: ErrorObject;
  }
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of our own request; a notification has none. */
    readonly id?: RequestId;
    /** What is asked for or has happened. */
    readonly method: string;
    /** Its parameters. */
    readonly params: JsonObject;
  };

/**
 * Writes a message as one line.
 *
 * `JSON.stringify` escapes line feeds and lone surrogates; the line ends of Unicode are escaped here.
 *
 * @param message The message.
 * @returns JSON without any line end in it.
 */
export function encodeLine(message: Outgoing): string {
  const text = JSON.stringify(message);
  return UNICODE_LINE_END.test(text) ? text.replace(UNICODE_LINE_ENDS, escapeCodeUnit) : text;
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** How long one line of ours may be, in bytes: clients give up a connection far above it. */
export const MAX_OUTPUT_BYTES = 4_194_304;

/**
 * Counts the bytes of a text in UTF-8.
 *
 * @param text The text, without lone surrogates.
 * @returns How many bytes it takes on the wire.
 */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Makes a success.
 *
 * @param id Of the request.
 * @param result What came of it.
 * @returns The response.
 */
export function success(id: RequestId, result: JsonObject): Outgoing {
  return { jsonrpc: "2.0", id, result };
}

/**
 * Makes a refusal.
 *
 * @param id Of the request, or `undefined` where it could not be read: the member is left out then.
 * @param error Why.
 * @returns The response.
 */
export function failure(id: RequestId | undefined, error: ErrorObject): Outgoing {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

/**
 * Makes a notification.
 *
 * @param method What has happened.
 * @param params Its parameters.
 * @returns The notification.
 */
export function notification(method: string, params: JsonObject): Outgoing {
  return { jsonrpc: "2.0", method, params };
}
