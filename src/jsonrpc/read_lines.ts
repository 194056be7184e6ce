/**
 * Messages on a byte stream: one JSON text a line, as the stdio transport of MCP has it.
 *
 * @module
 */
import type { LineSplitter } from "./framing.ts";
import { type LineFault, LineGatherer } from "./line_gatherer.ts";

/** Not a literal within `import()`: what that leads to is read at the start of the program, reached or not. */
const FRAMING: string = "./framing.ts";

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
 * A block of one line is that line; a block of several goes through `TextLineStream`, which is loaded with the first of
 * them (README.md, "Streams are loaded when several lines come at once").
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
    if (block.lineCount === 1) {
      yield [inputLine(withoutEnd(block.text), block.faults.get(0))];
    } else {
      splitter ??= await openSplitter();
      yield (await splitter.split(block)).map((text, at) => inputLine(text, block.faults.get(at)));
    }
  }
  const remainder = gatherer.end();
  if (remainder?.kind === "fault") {
    yield [{ kind: "fault", fault: remainder.fault, isUnterminated: true }];
  } else if (remainder !== undefined) {
    yield [{ kind: "unterminated", text: remainder.text }];
  }
}

function inputLine(text: string, fault: LineFault | undefined): InputLine {
  return fault === undefined ? text : { kind: "fault", fault, isUnterminated: false };
}

function withoutEnd(text: string): string {
  return text.slice(0, text.endsWith("\r\n") ? -2 : -1);
}

async function openSplitter(): Promise<LineSplitter> {
  const { LineSplitter }: typeof import("./framing.ts") = await import(FRAMING);
  return new LineSplitter();
}
