/**
 * Messages on a byte stream: one JSON text a line, as the stdio transport of MCP has it.
 *
 * @module
 */
import type { LineSplitter } from "./framing.ts";
import { type LineBlock, type LineFault, LineGatherer } from "./line_gatherer.ts";

/** Not a literal within `import()`: what that leads to is read at the start of the program, reached or not. */
const FRAMING: string = "./framing.ts";

const CARRIAGE_RETURN = 0x0d;
/** How many lines of one block the stream splits: it costs 0.5 µs a line, a third of what a ping costs in all. */
const MAX_STREAMED_LINES = 16;

/** The longest line that is read by default: 64 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 67_108_864;

/** One line: its text, or why there is none, or what stood behind the last line feed. */
export type InputLine =
  | string
  | {
    /** Why the line has no text. */
    readonly kind: "fault";
    /** The fault. */
    readonly fault: LineFault;
    /** Whether the line was the last one and had no end. */
    readonly isUnterminated: boolean;
  }
  | {
    /** The last line, which had no end. */
    readonly kind: "unterminated";
    /** Its text. */
    readonly text: string;
  };

/** How lines are read. */
export interface ReadLinesOptions {
  /** The longest line in bytes; default {@linkcode DEFAULT_MAX_LINE_BYTES}. */
  readonly maxLineBytes?: number;
}

/**
 * Splits a byte stream into lines. The lines of one chunk come together, so that what answers them can leave together.
 *
 * A block of one line is that line, one of a few goes through `TextLineStream`, one of many is cut here (README.md, "The
 * stream that splits lines is used where it costs little").
 *
 * @param read Gives the next bytes, which may be overwritten at the following call, or `undefined` at the end.
 * @param options Limits.
 * @returns The lines in groups of at least one.
 */
export async function* readLines(
  read: () => Promise<Uint8Array | undefined>,
  options: ReadLinesOptions = {},
): AsyncGenerator<readonly InputLine[], void, undefined> {
  const gatherer = new LineGatherer({
    maxLineBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
  });
  let splitter: LineSplitter | undefined;
  for (let chunk = await read(); chunk !== undefined; chunk = await read()) {
    const block = gatherer.push(chunk);
    if (block === undefined) continue;
    if (block.lineCount === 1 || block.lineCount > MAX_STREAMED_LINES) {
      yield inputLines(cutLines(block), block);
    } else {
      splitter ??= await openSplitter();
      yield inputLines(await splitter.split(block), block);
    }
  }
  const remainder = gatherer.end();
  if (remainder?.kind === "fault") {
    yield [{ kind: "fault", fault: remainder.fault, isUnterminated: true }];
  } else if (remainder !== undefined) {
    yield [{ kind: "unterminated", text: remainder.text }];
  }
}

function inputLines(texts: readonly string[], block: LineBlock): readonly InputLine[] {
  const { faults } = block;
  if (faults.size === 0) return texts;
  return texts.map((text, at) => {
    const fault = faults.get(at);
    return fault === undefined ? text : { kind: "fault", fault, isUnterminated: false };
  });
}

/**
 * Cuts a block into lines as `TextLineStream` does.
 *
 * @param block Whole lines.
 * @returns Its lines without their ends.
 */
export function cutLines(block: LineBlock): string[] {
  const { text } = block;
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    const hasReturn = end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN;
    lines.push(text.slice(start, hasReturn ? end - 1 : end));
    start = end + 1;
  }
  return lines;
}

async function openSplitter(): Promise<LineSplitter> {
  const { LineSplitter }: typeof import("./framing.ts") = await import(FRAMING);
  return new LineSplitter();
}
