/**
 * What a command is: a row of the table that help, argument checking and shell completions are made from.
 *
 * @module
 */
import type { Arguments } from "./arguments.ts";
import type { CliContext } from "./context.ts";
import type { Output } from "./output.ts";

/** How a command can print. */
export type Format = "text" | "json" | "github" | "sarif";

/** What a shell offers for a value; `machine`: files and the names of machines, `name`: names alone. */
export type Completion = "file" | "directory" | "machine" | "name" | "none";

/** A flag. */
export interface OptionSpec {
  /** Its name without dashes. */
  readonly name: string;
  /** What its value is called in help; absent: it takes none. */
  readonly value?: string;
  /** Whether it may be given several times. */
  readonly repeat?: boolean;
  /** Its only values. */
  readonly choices?: readonly string[];
  /** What it does, in one line. */
  readonly description: string;
  /** What a shell offers for its value; default nothing. */
  readonly completion?: Completion;
}

/** A word of the command line. */
export interface PositionalSpec {
  /** What it is called in help. */
  readonly name: string;
  /** Whether it may be left out. */
  readonly optional?: boolean;
  /** Whether more of it may follow. */
  readonly many?: boolean;
  /** Its only values. */
  readonly choices?: readonly string[];
  /** What a shell offers for it; default nothing. */
  readonly completion?: Completion;
}

/** A command as it is called. */
export interface Invocation {
  /** Its own flags and words. */
  readonly args: Arguments;
  /** How to print. */
  readonly format: Format;
  /** Where to print. */
  readonly out: Output;
  /** The outside. */
  readonly context: CliContext;
  /** The whole table. */
  readonly commands: readonly Command[];
}

/** What a command does. */
export interface CommandModule {
  /**
   * Runs the command.
   *
   * @param invocation What was asked.
   * @returns The exit code.
   */
  run(invocation: Invocation): Promise<number>;
}

/** A row of the command table. */
export interface Command {
  /** The word. */
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Its words. */
  readonly positionals: readonly PositionalSpec[];
  /** Its flags, without the common ones. */
  readonly options: readonly OptionSpec[];
  /** How it can print; the first is what people get. */
  readonly formats: readonly Format[];
  /** Whether `--format auto` prints JSON where the output is not a terminal. */
  readonly jsonWhenPiped?: boolean;
  /** Whole command lines to learn from. */
  readonly examples: readonly string[];
  /** What a reader must know beyond the flags. */
  readonly notes?: string;
  /** Loads what it does, on first use. Absent for `mcp`, which the program serves itself. */
  readonly load?: () => Promise<CommandModule>;
}
