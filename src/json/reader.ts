/**
 * Strict reading of JSON ({@link https://www.rfc-editor.org/rfc/rfc8259 | RFC 8259}) at any place of a text.
 *
 * Where `JSON.parse` is silent, this refuses: nesting beyond a depth, integers that a number cannot hold, numbers that
 * overflow, and on request a key that comes twice. Objects have no prototype. Time is linear in what is read.
 *
 * @module
 */
import type { JsonValue } from "./value.ts";

/** The deepest nesting of arrays and objects that is read, unless told otherwise. */
export const MAX_JSON_DEPTH = 128;

/** Why a text is not the JSON that is wanted. */
export type JsonFault =
  | "syntax"
  | "truncated"
  | "too_deep"
  | "unsafe_integer"
  | "invalid_number"
  | "duplicate_key";

/** A text that cannot be read. */
export class JsonError extends SyntaxError {
  /** The class, also where `instanceof` cannot tell. */
  override readonly name = "JsonError";
  /** Why. */
  readonly fault: JsonFault;
  /** Where, as an index of UTF-16 units. */
  readonly position: number;
  /** Makes an error. */
  constructor(fault: JsonFault, message: string, position: number) {
    super(message);
    this.fault = fault;
    this.position = position;
  }
}

/** How a text is read. */
export interface JsonReadOptions {
  /** The deepest nesting, default {@linkcode MAX_JSON_DEPTH}. */
  readonly maxDepth?: number;
  /** What a key that comes twice does: the last one counts (default), or it is refused. */
  readonly duplicateKeys?: "last" | "refuse";
}

/**
 * Reads a whole text as one JSON value. A byte order mark in front is skipped.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(parseJson('{"a": [1]}'), { a: [1] });
 * assertThrows(() => parseJson("9007199254740993"), JsonError, "loses digits");
 * ```
 *
 * @param text The text.
 * @param options How.
 * @returns The value; objects in it have no prototype.
 * @throws {JsonError} If the text is not one JSON value that can be held.
 */
export function parseJson(text: string, options: JsonReadOptions = {}): JsonValue {
  const { value, end } = readJsonAt(text, text.startsWith("\uFEFF") ? 1 : 0, options);
  const rest = skipSpace(text, end);
  if (rest < text.length) throw syntax(text, rest, "the end");
  return value;
}

/**
 * Reads one JSON value that begins at an index, white space skipped, whatever follows it.
 *
 * @param text The text.
 * @param start Where to begin.
 * @param options How.
 * @returns The value and the index after it.
 * @throws {JsonError} If no value that can be held begins there.
 */
export function readJsonAt(
  text: string,
  start: number,
  options: JsonReadOptions = {},
): { readonly value: JsonValue; readonly end: number } {
  const reader = new Reader(text, options);
  const value = reader.readValue(skipSpace(text, start), 0);
  return { value, end: reader.position };
}

class Reader {
  /** After the value read last. */
  position = 0;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #refuseDuplicates: boolean;

  constructor(text: string, options: JsonReadOptions) {
    this.#text = text;
    this.#maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
    this.#refuseDuplicates = options.duplicateKeys === "refuse";
  }

  /** Reads the value that begins exactly at `start`. */
  readValue(start: number, depth: number): JsonValue {
    const text = this.#text;
    switch (text[start]) {
      case "{":
        return this.#readObject(start, depth + 1);
      case "[":
        return this.#readArray(start, depth + 1);
      case '"':
        return this.#readString(start);
      case "t":
        return this.#readWord(start, "true");
      case "f":
        return this.#readWord(start, "false");
      case "n":
        return this.#readWord(start, "null");
      default:
        return this.#readNumber(start);
    }
  }

  #readObject(start: number, depth: number): JsonValue {
    this.#checkDepth(start, depth);
    const text = this.#text;
    const object: Record<string, JsonValue> = Object.create(null);
    let at = skipSpace(text, start + 1);
    if (text[at] === "}") {
      this.position = at + 1;
      return object;
    }
    while (true) {
      if (text[at] !== '"') throw syntax(text, at, "a key in double quotes");
      const keyAt = at;
      const key = this.#readString(at);
      if (this.#refuseDuplicates && key in object) {
        throw new JsonError("duplicate_key", `The key ${quote(key)} comes twice`, keyAt);
      }
      at = skipSpace(text, this.position);
      if (text[at] !== ":") throw syntax(text, at, '":"');
      setOwn(object, key, this.readValue(skipSpace(text, at + 1), depth));
      at = skipSpace(text, this.position);
      if (text[at] === "}") break;
      if (text[at] !== ",") throw syntax(text, at, '"," or "}"');
      at = skipSpace(text, at + 1);
    }
    this.position = at + 1;
    return object;
  }

  #readArray(start: number, depth: number): JsonValue {
    this.#checkDepth(start, depth);
    const text = this.#text;
    const array: JsonValue[] = [];
    let at = skipSpace(text, start + 1);
    if (text[at] === "]") {
      this.position = at + 1;
      return array;
    }
    while (true) {
      array.push(this.readValue(at, depth));
      at = skipSpace(text, this.position);
      if (text[at] === "]") break;
      if (text[at] !== ",") throw syntax(text, at, '"," or "]"');
      at = skipSpace(text, at + 1);
    }
    this.position = at + 1;
    return array;
  }

  #readString(start: number): string {
    const text = this.#text;
    let at = start + 1;
    let escaped = false;
    while (true) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) break;
      if (unit === BACKSLASH) {
        escaped = true;
        at += 2;
      } else if (unit < SPACE) {
        throw syntax(text, at, "no control character within a text");
      } else if (Number.isNaN(unit)) {
        throw new JsonError("truncated", "The text ends within a string", start);
      } else {
        at += 1;
      }
      if (at > text.length) {
        throw new JsonError("truncated", "The text ends within a string", start);
      }
    }
    this.position = at + 1;
    const raw = text.slice(start + 1, at);
    return escaped ? this.#unescape(start, raw) : raw;
  }

  #unescape(start: number, raw: string): string {
    const bad = /\\(?!["\\/bfnrt]|u[0-9A-Fa-f]{4})/.exec(raw.replaceAll("\\\\", "\0\0"));
    if (bad !== null) throw syntax(this.#text, start + 1 + bad.index, "a valid escape");
    return JSON.parse(`"${raw}"`);
  }

  #readWord(start: number, word: "true" | "false" | "null"): boolean | null {
    const found = this.#text.slice(start, start + word.length);
    if (found !== word) {
      if (word.startsWith(found) && start + found.length === this.#text.length) {
        throw new JsonError("truncated", "The text ends within a word", start);
      }
      throw syntax(this.#text, start, "a value");
    }
    this.position = start + word.length;
    return word === "null" ? null : word === "true";
  }

  #readNumber(start: number): number {
    const text = this.#text;
    NUMBER.lastIndex = start;
    const literal = NUMBER.exec(text)?.[0];
    if (literal === undefined) throw syntax(text, start, "a value");
    const end = start + literal.length;
    if (/[0-9.+\-eE]/.test(text[end] ?? "")) throw syntax(text, start, "a number in JSON's form");
    const value = Number(literal);
    if (!Number.isFinite(value)) {
      throw new JsonError("invalid_number", `The number ${cut(literal)} is too large`, start);
    }
    if (INTEGER.test(literal) && !Number.isSafeInteger(value) && losesDigits(literal, value)) {
      throw new JsonError(
        "unsafe_integer",
        `The integer ${cut(literal)} is beyond 2^53 and loses digits; write it as a text`,
        start,
      );
    }
    this.position = end;
    return value;
  }

  #checkDepth(start: number, depth: number): void {
    if (depth > this.#maxDepth) {
      throw new JsonError("too_deep", `Nested deeper than ${this.#maxDepth} levels`, start);
    }
  }
}

/** Whether an integer comes out as another one. What `JSON.stringify` writes never does, so values read back. */
function losesDigits(literal: string, value: number): boolean {
  return String(value) !== literal && BigInt(value) !== BigInt(literal);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const INTEGER = /^-?[0-9]+$/;

/** Sets a member as its own, `__proto__` included: the object has no prototype, so plain assignment is enough. */
function setOwn(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  object[key] = value;
}

/**
 * The index after the white space that begins at an index.
 *
 * @param text The text.
 * @param start Where to begin.
 * @returns The index of the first character that is not JSON's white space.
 */
export function skipSpace(text: string, start: number): number {
  let at = start;
  while (true) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return at;
    at += 1;
  }
}

const MAX_QUOTED = 40;

function cut(text: string): string {
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

function quote(text: string): string {
  return JSON.stringify(cut(text));
}

function syntax(text: string, at: number, wanted: string): JsonError {
  if (at >= text.length) {
    return new JsonError("truncated", `The text ends where ${wanted} is wanted`, text.length);
  }
  return new JsonError(
    "syntax",
    `Found ${quote(String.fromCodePoint(text.codePointAt(at) ?? 0))} where ${wanted} is wanted, ` +
      `at character ${at + 1}`,
    at,
  );
}
