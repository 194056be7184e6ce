/**
 * The standard streams of this process as plain functions.
 *
 * @module
 */

/** How much is read at once: what a pipe holds. */
const READ_SIZE = 65_536;

/** Where the bytes of the client come from and where ours go. */
export interface Stdio {
  /**
   * Reads what is there, waiting for at least one byte.
   *
   * @returns The bytes, good until the next call, or `undefined` at the end of input.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Writes to stdout.
   *
   * @returns How many bytes were taken, at least one.
   * @throws {Error} If nobody reads any more.
   */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
  /** Writes to stderr, as `write` does to stdout. */
  writeError(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
  /** Whether stdin is a terminal, where a person types. */
  readonly inputIsTerminal: boolean;
  /** Whether stdout is a terminal, where a person reads. */
  readonly outputIsTerminal: boolean;
  /** Whether stderr is a terminal. */
  readonly errorIsTerminal: boolean;
  /** Width of the terminal in columns, or `undefined` where there is none. */
  readonly columns: number | undefined;
}

/**
 * Opens the standard streams.
 *
 * @returns The three of them.
 */
export function openStdio(): Stdio {
  const buffer = new Uint8Array(READ_SIZE);
  return {
    async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const count = await Deno.stdin.read(buffer);
      return count === null ? undefined : buffer.subarray(0, count);
    },
    write: (bytes) => Deno.stdout.write(bytes),
    writeError: (bytes) => Deno.stderr.write(bytes),
    get inputIsTerminal(): boolean {
      return Deno.stdin.isTerminal();
    },
    get outputIsTerminal(): boolean {
      return Deno.stdout.isTerminal();
    },
    get errorIsTerminal(): boolean {
      return Deno.stderr.isTerminal();
    },
    get columns(): number | undefined {
      try {
        return Deno.consoleSize().columns;
      } catch {
        return undefined;
      }
    },
  };
}
