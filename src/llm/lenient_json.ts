/**
 * Mechanical mending of JSON that models write with another language's habits: commas before a closing bracket, single
 * quotes, `True`, `False` and `None`, comments, line breaks within a text. Nothing is guessed and nothing is completed: a
 * text that ends too early stays unread.
 *
 * @module
 */
import { JsonError, type JsonValue, MAX_JSON_DEPTH, readJsonAt } from "../json/mod.ts";

/**
 * Reads one value that begins at an index, mending what can be mended mechanically.
 *
 * @param text The text.
 * @param start Where the value begins.
 * @returns The value and the index after it.
 * @throws {JsonError} If no value begins there even so. `truncated` if the text ends within it.
 */
export function readLenientJsonAt(
  text: string,
  start: number,
): { readonly value: JsonValue; readonly end: number } {
  const reader = new LenientReader(text);
  const value = reader.readValue(start, 0);
  return { value, end: reader.position };
}

const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["True", true],
  ["False", false],
  ["None", null],
]);
const NOT_A_NUMBER = new Set(["NaN", "Infinity"]);
const WORD = /-?[A-Za-z]+/y;

class LenientReader {
  position = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(start: number, depth: number): JsonValue {
    const at = this.#skip(start);
    const first = this.#text[at];
    if (first === undefined) throw ended(at);
    if (first === "{") return this.#readObject(at, depth + 1);
    if (first === "[") return this.#readArray(at, depth + 1);
    if (first === '"' || first === "'") return this.#readString(at);
    WORD.lastIndex = at;
    const word = WORD.exec(this.#text)?.[0];
    if (word !== undefined) return this.#readWord(at, word);
    const { value, end } = readJsonAt(this.#text, at);
    this.position = end;
    return value;
  }

  #readObject(start: number, depth: number): JsonValue {
    checkDepth(start, depth);
    const object: Record<string, JsonValue> = Object.create(null);
    let at = this.#skip(start + 1);
    while (this.#text[at] !== "}") {
      const quote = this.#text[at];
      if (quote === undefined) throw ended(at);
      if (quote !== '"' && quote !== "'") throw wrong(at);
      const key = this.#readString(at);
      at = this.#expect(this.position, ":");
      object[key] = this.readValue(at, depth);
      at = this.#separator(this.position, "}");
    }
    this.position = at + 1;
    return object;
  }

  #readArray(start: number, depth: number): JsonValue {
    checkDepth(start, depth);
    const array: JsonValue[] = [];
    let at = this.#skip(start + 1);
    while (this.#text[at] !== "]") {
      array.push(this.readValue(at, depth));
      at = this.#separator(this.position, "]");
    }
    this.position = at + 1;
    return array;
  }

  /** After a comma, or at the closing bracket. */
  #separator(start: number, closing: string): number {
    const at = this.#skip(start);
    const found = this.#text[at];
    if (found === undefined) throw ended(at);
    if (found === closing) return at;
    if (found !== ",") throw wrong(at);
    return this.#skip(at + 1);
  }

  #expect(start: number, wanted: string): number {
    const at = this.#skip(start);
    if (this.#text[at] === undefined) throw ended(at);
    if (this.#text[at] !== wanted) throw wrong(at);
    return at + 1;
  }

  #readString(start: number): string {
    const quote = this.#text[start] ?? '"';
    const parts: string[] = [];
    let from = start + 1;
    let at = from;
    while (true) {
      const found = this.#text[at];
      if (found === undefined) throw ended(start);
      if (found === quote) break;
      if (found === "\\") {
        const escape = /^\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt'])/.exec(this.#text.slice(at, at + 6))
          ?.[0];
        if (escape === undefined) throw this.#text.length - at < 6 ? ended(at) : wrong(at);
        parts.push(this.#text.slice(from, at), escape === "\\'" ? "'" : JSON.parse(`"${escape}"`));
        at += escape.length;
        from = at;
      } else at += 1;
    }
    parts.push(this.#text.slice(from, at));
    this.position = at + 1;
    return parts.join("");
  }

  #readWord(at: number, word: string): JsonValue {
    if (NOT_A_NUMBER.has(word.replace("-", ""))) {
      throw new JsonError("invalid_number", `${word} is not a number that JSON can hold`, at);
    }
    const value = WORDS.get(word);
    if (value === undefined) throw at + word.length === this.#text.length ? ended(at) : wrong(at);
    this.position = at + word.length;
    return value;
  }

  /** Skips white space and comments. */
  #skip(start: number): number {
    let at = start;
    while (true) {
      while (/\s/.test(this.#text[at] ?? "")) at += 1;
      if (this.#text.startsWith("//", at)) at = indexAfter(this.#text, "\n", at);
      else if (this.#text.startsWith("/*", at)) at = indexAfter(this.#text, "*/", at + 2);
      else return at;
    }
  }
}

function indexAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

function checkDepth(at: number, depth: number): void {
  if (depth > MAX_JSON_DEPTH) {
    throw new JsonError("too_deep", `Nested deeper than ${MAX_JSON_DEPTH} levels`, at);
  }
}

function ended(at: number): JsonError {
  return new JsonError("truncated", "The text ends within a value", at);
}

function wrong(at: number): JsonError {
  return new JsonError("syntax", `Not JSON at character ${at + 1}`, at);
}
