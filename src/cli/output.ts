/**
 * Prints: text for people, JSON for programs, colours where a person looks.
 *
 * @module
 */
import type { CliStdio } from "./context.ts";
import type { Env } from "../ports/mod.ts";
import { type Style, styled } from "./node_util.ts";

const CONTROL = /(?![\n\t])\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Where a command prints. */
export class Output {
  readonly #stdio: CliStdio;
  readonly #colorOut: boolean;
  readonly #colorError: boolean;

  /** Prints on `stdio`; `color` is the flag's value. */
  constructor(stdio: CliStdio, options: { readonly color: string; readonly env: Env }) {
    this.#stdio = stdio;
    this.#colorOut = wantsColor(options, { terminal: stdio.stdoutIsTerminal });
    this.#colorError = wantsColor(options, { terminal: stdio.stderrIsTerminal });
  }

  /** Prints a line on the standard output. */
  async line(text = ""): Promise<void> {
    await this.raw(`${text}\n`);
  }

  /** Prints text as it is on the standard output. */
  async raw(text: string): Promise<void> {
    await this.#print(() => this.#stdio.write(text));
  }

  /** Prints a line on the standard error. */
  async error(text: string): Promise<void> {
    await this.rawError(`${text}\n`);
  }

  /** Prints a value as JSON, indented by 2, on the standard output. */
  async json(value: unknown): Promise<void> {
    await this.raw(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** A text in a style, for the standard output. */
  style(style: Style, text: string): string {
    return this.#colorOut ? styled(style, text) : text;
  }

  /** A text in a style, for the standard error. */
  styleError(style: Style, text: string): string {
    return this.#colorError ? styled(style, text) : text;
  }

  /** Whether a person reads the standard error. */
  get errorIsTerminal(): boolean {
    return this.#stdio.stderrIsTerminal;
  }

  /** Columns to print in; terminals that do not know their width say 0. */
  get columns(): number {
    return this.#stdio.columns || 80;
  }

  /** Writes to the standard error without a line's end, for the progress line. */
  async rawError(text: string): Promise<void> {
    await this.#print(() => this.#stdio.writeError(text));
  }

  /** A reader that has gone, such as `head`, takes nothing from what the command does and from its exit code. */
  async #print(write: () => Promise<void> | void): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof Error && error.name === "BrokenPipe")) throw error;
    }
  }
}

/**
 * Makes text from a file or a model safe for a terminal.
 *
 * @param text Any text.
 * @returns The text with control characters and direction marks shown as `\\u….`; line feeds and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(
    CONTROL,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Puts rows under each other in columns.
 *
 * @param rows Cells, the first row being the head.
 * @returns Lines, without trailing blanks.
 */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, [...cell].length);
    });
  }
  return rows.map((row) =>
    row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length))
      .join("  ").trimEnd()
  );
}

function wantsColor(
  options: { readonly color: string; readonly env: Env },
  stream: { readonly terminal: boolean },
): boolean {
  if (options.color !== "auto") return options.color === "always";
  // https://no-color.org: any value but the empty one counts.
  if ((options.env.get("NO_COLOR") ?? "") !== "") return false;
  if (options.env.get("TERM") === "dumb") return false;
  return stream.terminal;
}
