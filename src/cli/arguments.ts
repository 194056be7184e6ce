/**
 * Flags and words of a command line, once they are read.
 *
 * @module
 */

/** A command line that cannot be followed. Ends with exit code 2. */
export class UsageError extends Error {
  /** The class. */
  override readonly name = "UsageError";
}

/** Something that a command was given and cannot use, or that is not there. Ends with exit code 2. */
export class InputError extends Error {
  /** The class. */
  override readonly name = "InputError";
}

/** Flags and words of one command, checked. */
export class Arguments {
  readonly #flags: ReadonlyMap<string, readonly string[]>;
  /** The words, in order. */
  readonly positionals: readonly string[];

  /** Keeps what was read: values by flag, `""` where a flag takes none. */
  constructor(flags: ReadonlyMap<string, readonly string[]>, positionals: readonly string[]) {
    this.#flags = flags;
    this.positionals = positionals;
  }

  /** Whether a flag was given. */
  has(name: string): boolean {
    return this.#flags.has(name);
  }

  /** The value of a flag, the last one given, or `undefined`. */
  value(name: string): string | undefined {
    return this.#flags.get(name)?.at(-1);
  }

  /** All values of a flag, in order. */
  values(name: string): readonly string[] {
    return this.#flags.get(name) ?? [];
  }

  /**
   * A flag's value as a whole number above 0.
   *
   * @throws {UsageError} If it is anything else.
   */
  positiveInteger(name: string): number | undefined {
    const text = this.value(name);
    if (text === undefined) return undefined;
    const number = /^\d+$/.test(text) ? Number(text) : 0;
    if (number > 0 && Number.isSafeInteger(number)) return number;
    throw new UsageError(`--${name} takes a whole number above 0, not "${text}"`);
  }

  /** The word at a place that the command table says is there. */
  word(index: number): string {
    return this.positionals[index] ?? "";
  }
}
