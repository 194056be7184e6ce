// deno-lint-ignore-file no-external-import -- argument parsing and colours come from Node's library, which Deno carries
/**
 * The parts of `node:util` that the command line uses, named in this one file.
 *
 * @module
 */
import { parseArgs, styleText } from "node:util";

/** One element of a command line, in order. */
export type ArgumentToken =
  | {
    /** A flag. */
    readonly kind: "option";
    /** Its name without dashes. */
    readonly name: string;
    /** As written, with dashes. */
    readonly rawName: string;
    /** Its value, if one was given. */
    readonly value: string | undefined;
    /** Whether the value was given with `=`. */
    readonly inlineValue: boolean;
  }
  | {
    /** A word. */
    readonly kind: "positional";
    /** The word. */
    readonly value: string;
  };

/** What {@linkcode tokenize} must know of a flag. */
export interface TokenOption {
  /** `string` flags take a value. */
  readonly type: "string" | "boolean";
  /** One-letter form. */
  readonly short?: string;
}

/**
 * Splits a command line into flags and words.
 *
 * @param args The arguments.
 * @param options The known flags, by name.
 * @returns The elements in order; unknown flags are among them.
 */
export function tokenize(
  args: readonly string[],
  options: Readonly<Record<string, TokenOption>>,
): ArgumentToken[] {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const found: ArgumentToken[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") found.push({ kind: "positional", value: token.value });
    if (token.kind !== "option") continue;
    const { name, rawName } = token;
    const inlineValue = token.inlineValue === true;
    found.push({ kind: "option", name, rawName, value: token.value, inlineValue });
  }
  return found;
}

/** Styles the program uses. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan";

/**
 * Puts the escape sequences of a style around a text.
 *
 * @param style The style.
 * @param text The text.
 * @returns The styled text.
 */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false });
}
