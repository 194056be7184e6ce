/**
 * Blocks of text to lines, by the stream of the standard library that does this. Loaded with the first block of several
 * lines.
 *
 * @module
 */
import { TextLineStream } from "@std/streams/text-line-stream";
import type { LineBlock } from "./line_gatherer.ts";

/** Splits blocks into lines. */
export class LineSplitter {
  readonly #writer: WritableStreamDefaultWriter<string>;
  readonly #reader: ReadableStreamDefaultReader<string>;

  /** Starts before the first block. */
  constructor() {
    const stream = new TextLineStream();
    this.#writer = stream.writable.getWriter();
    this.#reader = stream.readable.getReader();
  }

  /**
   * Splits a block.
   *
   * @param block Whole lines, so that nothing of it stays behind.
   * @returns Its lines without their ends.
   */
  async split(block: LineBlock): Promise<string[]> {
    const written = this.#writer.write(block.text);
    const lines: string[] = [];
    while (lines.length < block.lineCount) {
      const { value = "" } = await this.#reader.read();
      lines.push(value);
    }
    await written;
    return lines;
  }
}
