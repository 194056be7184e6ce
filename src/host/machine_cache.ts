/**
 * Keeps what was read last, because the same machine is often run again and reading it costs more than running it.
 *
 * @module
 */
import { loadReader, type Reader } from "../machine/load_reader.ts";
import type { ReadResult } from "../machine/mod.ts";

/** Most texts that are kept. */
const MAX_TEXTS = 64;
/** Most characters of all texts that are kept. */
const MAX_CHARS = 4_194_304;

/** Reads machines, and keeps what it read. */
export class MachineCache {
  /** By grammar and text, the one used longest ago first. */
  readonly #kept = new Map<string, ReadResult>();
  #chars = 0;
  /** Kept, since a process does its first imports one by one, even of what is loaded. */
  #reader: Promise<Reader> | undefined;

  /**
   * Reads a text.
   *
   * @param text The text.
   * @param grammar How strictly.
   * @returns What reading gave; equal texts give the same machine, which nobody changes.
   */
  async read(text: string, grammar: "enforced" | "lenient"): Promise<ReadResult> {
    // Before the look, so that calls that come together with one text do not read it once each.
    const { parseMachine } = await (this.#reader ??= loadReader());
    const key = `${grammar}:${text}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known;
    }
    const read = parseMachine(text, { grammar });
    this.#keep(key, read);
    return read;
  }

  #keep(key: string, read: ReadResult): void {
    this.#kept.set(key, read);
    this.#chars += key.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_TEXTS && this.#chars <= MAX_CHARS) break;
      this.#kept.delete(oldest);
      this.#chars -= oldest.length;
    }
  }
}
