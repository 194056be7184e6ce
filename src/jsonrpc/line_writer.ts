/**
 * The way out: whole lines, in order, as few writes as possible.
 *
 * @module
 */

/** How much text one write takes at most, unless a single line is longer. */
const MAX_WRITE_CHARACTERS = 1_048_576;
/** How much may wait before the writer calls itself congested. */
const CONGESTED_CHARACTERS = 8_388_608;

/** Where the bytes go. */
export interface LineWriterOptions {
  /** Takes bytes and tells how many; rejects when nobody reads any more. */
  readonly write: (bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  /** How many characters may wait before {@linkcode LineWriter.isCongested}; default 8 Mi. */
  readonly congestedCharacters?: number;
}

/**
 * A queue of lines before a byte stream. Lines that are there when a write begins leave in that write.
 *
 * A write begins when the current turn has ended, so all that is pushed within one turn is one write.
 */
export class LineWriter {
  readonly #write: LineWriterOptions["write"];
  readonly #congestedCharacters: number;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  /** Owners of waiting lines, at the same index; most have none. */
  #owners: unknown[] = [];
  #waitingCharacters = 0;
  #writtenBytes = 0;
  #pumping: Promise<void> | undefined;
  #broken: unknown;
  #relieved: (() => void)[] = [];
  #firstWritten: (() => void) | undefined;

  /** Settles when the first line has left. */
  readonly started: Promise<void>;
  /** Settles when a write failed: nobody reads any more, and what is pushed from then on is dropped. */
  readonly broken: Promise<void>;
  #breakUp: () => void;

  /**
   * Starts with nothing to write.
   *
   * @param options Where the bytes go.
   */
  constructor(options: LineWriterOptions) {
    this.#write = options.write;
    this.#congestedCharacters = options.congestedCharacters ?? CONGESTED_CHARACTERS;
    const started = Promise.withResolvers<void>();
    this.started = started.promise;
    this.#firstWritten = started.resolve;
    const broken = Promise.withResolvers<void>();
    this.broken = broken.promise;
    this.#breakUp = broken.resolve;
  }

  /** Whether so much waits that whoever makes more should stop for a while. */
  get isCongested(): boolean {
    return this.#waitingCharacters > this.#congestedCharacters;
  }

  /** How many bytes have left. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Whether anything waits or is being written. */
  get isBusy(): boolean {
    return this.#pumping !== undefined;
  }

  /**
   * Queues a line.
   *
   * @param line Text without any line end.
   * @param options `owner`: what {@linkcode discard} may name to take the line back.
   */
  push(line: string, options?: { readonly owner?: unknown }): void {
    if (this.#broken !== undefined) return;
    this.#waiting.push(line);
    this.#owners.push(options?.owner);
    this.#waitingCharacters += line.length + 1;
    this.#pumping ??= this.#pump();
  }

  /**
   * Takes back what waits and has not begun to leave.
   *
   * @param owner As given to {@linkcode push}.
   */
  discard(owner: unknown): void {
    if (!this.#owners.includes(owner)) return;
    const owners = this.#owners;
    this.#waiting = this.#waiting.filter((_, at) => owners[at] !== owner);
    this.#owners = owners.filter((other) => other !== owner);
    this.#waitingCharacters = this.#waiting.reduce((sum, line) => sum + line.length + 1, 0);
  }

  /** Settles when the writer is not congested, or broken. */
  async relieved(): Promise<void> {
    if (!this.isCongested || this.#broken !== undefined) return;
    const relief = Promise.withResolvers<void>();
    this.#relieved.push(relief.resolve);
    await relief.promise;
  }

  /** Settles when everything has left, or cannot. */
  async drained(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping;
  }

  async #pump(): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) await this.#writeAll(this.#encoder.encode(this.#take()));
    } catch (error) {
      this.#broken = error ?? "broken";
      this.#waiting = [];
      this.#owners = [];
      this.#waitingCharacters = 0;
      this.#breakUp();
      this.#relieve();
    } finally {
      this.#pumping = undefined;
    }
  }

  #take(): string {
    const taken = this.#waitingCharacters <= MAX_WRITE_CHARACTERS
      ? this.#waiting.length
      : this.#fitting();
    const text = `${this.#waiting.slice(0, taken).join("\n")}\n`;
    this.#waiting = this.#waiting.slice(taken);
    this.#owners = this.#owners.slice(taken);
    this.#waitingCharacters -= text.length;
    return text;
  }

  /** How many lines fit into one write, at least one. */
  #fitting(): number {
    let characters = 0;
    const tooMany = this.#waiting.findIndex((line) => {
      characters += line.length + 1;
      return characters > MAX_WRITE_CHARACTERS;
    });
    return Math.max(1, tooMany === -1 ? this.#waiting.length : tooMany);
  }

  async #writeAll(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const count = await this.#write(bytes.subarray(written));
      written += count;
      this.#writtenBytes += count;
    }
    this.#firstWritten?.();
    this.#firstWritten = undefined;
    if (!this.isCongested) this.#relieve();
  }

  #relieve(): void {
    const relieved = this.#relieved;
    this.#relieved = [];
    for (const resolve of relieved) resolve();
  }
}
