/**
 * Messages on a byte stream: one JSON text a line, as the stdio transport of MCP has it.
 *
 * @module
 */
import { TextLineStream } from "@std/streams/text-line-stream";
import { type LineBlock, type LineFault, LineGatherer } from "./line_gatherer.ts";

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
  const splitter = new TextLineStream();
  const writer = splitter.writable.getWriter();
  const reader = splitter.readable.getReader();
  for (let chunk = await read(); chunk !== undefined; chunk = await read()) {
    const block = gatherer.push(chunk);
    if (block !== undefined) yield await splitBlock(block, { writer, reader });
  }
  const remainder = gatherer.end();
  if (remainder?.kind === "fault") {
    yield [{ kind: "fault", fault: remainder.fault, isUnterminated: true }];
  } else if (remainder !== undefined) {
    const text = await splitRemainder(remainder.text, { writer, reader });
    if (text !== undefined) yield [{ kind: "unterminated", text }];
  }
}

interface Splitter {
  readonly writer: WritableStreamDefaultWriter<string>;
  readonly reader: ReadableStreamDefaultReader<string>;
}

async function splitBlock(block: LineBlock, splitter: Splitter): Promise<readonly InputLine[]> {
  const { writer, reader } = splitter;
  const written = writer.write(block.text);
  const lines: InputLine[] = [];
  for (let at = 0; at < block.lineCount; at += 1) {
    const { value = "" } = await reader.read();
    const fault = block.faults.get(at);
    lines.push(fault === undefined ? value : { kind: "fault", fault, isUnterminated: false });
  }
  await written;
  return lines;
}

async function splitRemainder(text: string, splitter: Splitter): Promise<string | undefined> {
  const { writer, reader } = splitter;
  const finished = Promise.all([writer.write(text), writer.close()]);
  const { value } = await reader.read();
  await Promise.all([finished, reader.read()]);
  return value;
}
