/**
 * A source text with its lines, so that offsets become positions and excerpts.
 *
 * @module
 */
import type { Position } from "./document.ts";

/** Most code points of a line that a diagnostic shows. */
export const EXCERPT_LENGTH = 200;

/** A text and where its lines start. Lines end with LF or CRLF. */
export class SourceText {
  /** The whole text, without a byte order mark. */
  readonly text: string;
  readonly #lineStarts: number[] = [0];
  /** The last position, from which one further on in its line is counted: many on a huge line stay cheap. */
  #counted = { line: 0, offset: 0, column: 0 };

  /**
   * Finds the lines of a text.
   *
   * @param text The text; a byte order mark at its start is dropped.
   */
  constructor(text: string) {
    this.text = text.startsWith("\ufeff") ? text.slice(1) : text;
    for (let at = this.text.indexOf("\n"); at !== -1; at = this.text.indexOf("\n", at + 1)) {
      this.#lineStarts.push(at + 1);
    }
  }

  /** How many lines there are; an empty text has one. */
  get lineCount(): number {
    return this.#lineStarts.length;
  }

  /**
   * Tells where an offset stands.
   *
   * @param offset UTF-16 units from the start; clamped to the text.
   * @returns Line and column from 1; the column counts code points.
   */
  position(offset: number): Position {
    const at = this.#startOfCharacter(Math.max(0, Math.min(offset, this.text.length)));
    const line = this.#lineOf(at);
    const known = this.#counted.line === line && this.#counted.offset <= at
      ? this.#counted
      : { line, offset: this.#lineStarts[line - 1] ?? 0, column: 1 };
    const column = known.column + countCodePoints(this.text, known.offset, at);
    this.#counted = { line, offset: at, column };
    return { line, column };
  }

  /**
   * Tells the offset of a position: the opposite of {@linkcode position}.
   *
   * @param position Line and column from 1; the column counts code points.
   * @returns UTF-16 units from the start; the end of the line if it has no such column.
   */
  offset({ line, column }: Position): number {
    let at = this.#lineStarts[line - 1] ?? this.text.length;
    const end = this.#lineEnd(line);
    for (let passed = 1; passed < column && at < end; passed++) {
      at += (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    }
    return at;
  }

  /**
   * Tells in which line an offset stands, without counting its column.
   *
   * @param offset UTF-16 units from the start; clamped to the text.
   * @returns The line, from 1.
   */
  lineOf(offset: number): number {
    return this.#lineOf(Math.max(0, Math.min(offset, this.text.length)));
  }

  /**
   * Gives a line without its line ending.
   *
   * @param line Its number, from 1.
   * @returns The line, or `""` if there is none of that number.
   */
  line(line: number): string {
    const start = this.#lineStarts[line - 1];
    if (start === undefined) return "";
    const next = this.#lineStarts[line];
    const text = this.text.slice(start, next === undefined ? undefined : next - 1);
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }

  /**
   * Gives a line as a diagnostic shows it.
   *
   * @param line Its number, from 1.
   * @returns The line, cut to {@linkcode EXCERPT_LENGTH} code points with `…` as the last one.
   */
  excerpt(line: number): string {
    const start = this.#lineStarts[line - 1] ?? 0;
    // Twice the length in units holds at least that many code points, so a huge line is never copied.
    const end = Math.min(this.#lineEnd(line), start + 2 * EXCERPT_LENGTH + 2);
    const points = Array.from(this.text.slice(start, end).replace(/\r$/, ""));
    if (points.length <= EXCERPT_LENGTH) return points.join("");
    return points.slice(0, EXCERPT_LENGTH - 1).join("") + "…";
  }

  /**
   * Gives the offset at which the line of an offset ends.
   *
   * @param offset Any offset in the line.
   * @returns The offset of its line feed, or the end of the text.
   */
  endOfLine(offset: number): number {
    return this.#lineEnd(this.#lineOf(offset));
  }

  #startOfCharacter(offset: number): number {
    const isSecondHalf = offset > 0 && (this.text.codePointAt(offset - 1) ?? 0) > 0xffff;
    return isSecondHalf ? offset - 1 : offset;
  }

  #lineEnd(line: number): number {
    const next = this.#lineStarts[line];
    return next === undefined ? this.text.length : next - 1;
  }

  #lineOf(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}

function countCodePoints(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; count++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return count;
}
