/**
 * The byte stage of framing: from chunks as the pipe gives them to whole decoded lines.
 *
 * Every byte is looked at a bounded number of times, however long a line is and however small the chunks are. Bytes of
 * an unfinished line are decoded as they gather, so that a long line costs its text and no second copy of its bytes.
 *
 * @module
 */

const LINE_FEED = 0x0a;
/** The UTF-8 form of U+FEFF. */
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];
/** How many bytes UTF-8 has for one character at most. */
const MAX_CHARACTER_BYTES = 4;
/** How many bytes of an unfinished line gather before they are decoded. */
const SEGMENT_BYTES = 65_536;

/** Why a line has no text. */
export type LineFault = "not-utf8" | "too-long";

/** Whole lines. */
export interface LineBlock {
  /** The lines, each with a line feed at its end; a line with a fault is empty. */
  readonly text: string;
  /** How many lines there are. */
  readonly lineCount: number;
  /** Faults by line, counted from 0. */
  readonly faults: ReadonlyMap<number, LineFault>;
}

/** What was left at the end of input. */
export type Remainder =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "fault"; readonly fault: LineFault };

const NO_FAULTS: ReadonlyMap<number, LineFault> = new Map();

/** Gathers bytes into lines. */
export class LineGatherer {
  readonly #maxLineBytes: number;
  readonly #segment = new Uint8Array(SEGMENT_BYTES);
  #segmentUsed = 0;
  /** Never used for a part of a character, so that it keeps nothing from one call to the next. */
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** Text of the unfinished line that is decoded already. */
  #text = "";
  /** Bytes of the unfinished line so far, decoded or not. */
  #lineBytes = 0;
  #fault: LineFault | undefined;
  #atStart = true;

  /**
   * Starts before the first byte.
   *
   * @param options `maxLineBytes`: a longer line is given up and its bytes are dropped as they arrive.
   */
  constructor(options: { readonly maxLineBytes: number }) {
    this.#maxLineBytes = options.maxLineBytes;
  }

  /**
   * Takes the next bytes.
   *
   * @param chunk Bytes; they may be overwritten after the call.
   * @returns The lines that are whole now, or `undefined` if none is.
   */
  push(chunk: Uint8Array): LineBlock | undefined {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last === -1) {
      this.#gather(chunk);
      return undefined;
    }
    const isFresh = this.#lineBytes === 0 && this.#fault === undefined && !this.#atStart;
    const first = isFresh ? -1 : chunk.indexOf(LINE_FEED);
    const head = isFresh ? undefined : this.#finishLine(chunk.subarray(0, first));
    const rest = this.#decodeLines(chunk.subarray(first + 1, last + 1));
    this.#gather(chunk.subarray(last + 1));
    return head === undefined ? rest : joined(head, rest);
  }

  /**
   * Takes the end of input.
   *
   * @returns What stands behind the last line feed, or `undefined` if nothing does.
   */
  end(): Remainder | undefined {
    if (this.#lineBytes === 0 && this.#fault === undefined) return undefined;
    const line = this.#finishLine(new Uint8Array(0));
    return typeof line === "string"
      ? { kind: "text", text: line }
      : { kind: "fault", fault: line.fault };
  }

  #gather(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#lineBytes += bytes.length;
    if (this.#fault !== undefined) return;
    if (this.#lineBytes > this.#maxLineBytes) {
      this.#giveUp("too-long");
      return;
    }
    let taken = 0;
    while (taken < bytes.length) {
      const part = bytes.subarray(taken, taken + SEGMENT_BYTES - this.#segmentUsed);
      this.#segment.set(part, this.#segmentUsed);
      this.#segmentUsed += part.length;
      taken += part.length;
      if (
        this.#segmentUsed === SEGMENT_BYTES && !this.#decodeSegment(wholeCharacters(this.#segment))
      ) {
        return;
      }
    }
  }

  /** Decodes the first bytes of the segment; the others move to its start. */
  #decodeSegment(length: number): boolean {
    try {
      this.#text += this.#decoder.decode(this.#withoutMark(this.#segment.subarray(0, length)));
      this.#segment.copyWithin(0, length, this.#segmentUsed);
      this.#segmentUsed -= length;
      return true;
    } catch {
      this.#giveUp("not-utf8");
      return false;
    }
  }

  #giveUp(fault: LineFault): void {
    this.#fault = fault;
    this.#text = "";
    this.#segmentUsed = 0;
  }

  #finishLine(bytes: Uint8Array): string | { readonly fault: LineFault } {
    this.#gather(bytes);
    if (this.#fault === undefined && this.#segmentUsed > 0) this.#decodeSegment(this.#segmentUsed);
    const line = this.#fault === undefined ? this.#text : { fault: this.#fault };
    this.#text = "";
    this.#lineBytes = 0;
    this.#fault = undefined;
    this.#atStart = false;
    return line;
  }

  #withoutMark(bytes: Uint8Array): Uint8Array {
    const isMarked = this.#atStart && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte);
    this.#atStart = false;
    return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  }

  /** Decodes whole lines that arrived within one chunk. */
  #decodeLines(bytes: Uint8Array): LineBlock {
    if (bytes.length <= this.#maxLineBytes) {
      try {
        return { text: this.#decoder.decode(bytes), lineCount: count(bytes), faults: NO_FAULTS };
      } catch {
        // One of the lines is not UTF-8; which one shows when each is decoded alone.
      }
    }
    return this.#decodeEachLine(bytes);
  }

  #decodeEachLine(bytes: Uint8Array): LineBlock {
    const faults = new Map<number, LineFault>();
    let text = "";
    let lineCount = 0;
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const line = this.#finishLine(bytes.subarray(start, end));
      if (typeof line === "string") text += `${line}\n`;
      else {
        text += "\n";
        faults.set(lineCount, line.fault);
      }
      lineCount += 1;
      start = end + 1;
    }
    return { text, lineCount, faults };
  }
}

/** How many of the bytes are left when a character that is cut off at their end is left out. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= MAX_CHARACTER_BYTES; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return back < wanted ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function count(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
  }
  return lines;
}

function joined(head: string | { readonly fault: LineFault }, rest: LineBlock): LineBlock {
  const isText = typeof head === "string";
  if (isText && rest.faults.size === 0) {
    return { text: `${head}\n${rest.text}`, lineCount: rest.lineCount + 1, faults: NO_FAULTS };
  }
  const faults = new Map<number, LineFault>();
  if (!isText) faults.set(0, head.fault);
  for (const [line, fault] of rest.faults) faults.set(line + 1, fault);
  return { text: `${isText ? head : ""}\n${rest.text}`, lineCount: rest.lineCount + 1, faults };
}
