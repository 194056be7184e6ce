/**
 * Findings about a machine that was read, with their place in its text.
 *
 * @module
 */
import { placeholderOffset } from "./caret.ts";
import type { Diagnostic, Machine, Position } from "./document.ts";
import { clip } from "./format.ts";
import { mostImportant } from "./most_important.ts";
import { SourceText } from "./source_text.ts";

/** Most code points of a message or a hint: names come from the document and may be of any length. */
const MAX_TEXT_LENGTH = 1_000;

/** A finding before it has a place. */
export interface Finding {
  /** How grave it is. */
  readonly severity: Diagnostic["severity"];
  /** The stable word. */
  readonly code: string;
  /** What was found. */
  readonly message: string;
  /** What to write instead. */
  readonly hint?: string | undefined;
  /** The member it is about. */
  readonly path?: readonly (string | number)[];
  /** Whether it is about the key of that member; default its value. */
  readonly part?: "key";
  /** The placeholder in the member's text that it is about, by its path; of several the first. */
  readonly placeholder?: { readonly text: string; readonly path: string };
  /** The line of the text it is about, where no member is. */
  readonly line?: number;
}

/**
 * Gives findings their place.
 *
 * @param machine The machine they are about.
 * @param stage What found them.
 * @param findings All of them, in order.
 * @returns Diagnostics in the same order, limited in number.
 */
export function placeFindings(
  machine: Machine,
  stage: "check" | "lint",
  findings: readonly Finding[],
): readonly Diagnostic[] {
  const { shown, rest } = mostImportant(findings);
  const source = shown.length === 0 ? undefined : new SourceText(machine.source);
  return [
    ...shown.map(({ line, hint, message, part, placeholder, ...finding }) => {
      const { path } = finding;
      const position = line === undefined
        ? source && path && positionOf(machine, source, { path, part, placeholder })
        : { line, column: 1 };
      return {
        ...finding,
        stage,
        message: clip(message, MAX_TEXT_LENGTH),
        ...(hint === undefined ? {} : { hint: clip(hint, MAX_TEXT_LENGTH) }),
        ...(position === undefined || source === undefined
          ? {}
          : { position, excerpt: source.excerpt(position.line) }),
      };
    }),
    ...rest,
  ];
}

function positionOf(
  machine: Machine,
  source: SourceText,
  { path, part, placeholder }: {
    readonly path: readonly (string | number)[];
    readonly part: Finding["part"];
    readonly placeholder: Finding["placeholder"];
  },
): Position | undefined {
  const position = machine.position(path, part);
  if (position === undefined || placeholder === undefined) return position;
  const offset = placeholderOffset(source.text, source.offset(position), placeholder);
  return offset === undefined ? position : source.position(offset);
}

/**
 * Puts a name between single quotes, or between double quotes if it holds a single one and no double one.
 *
 * @param name The name.
 * @returns The quoted name, as the fixed messages of the language show names.
 */
export function quoted(name: string): string {
  const mark = name.includes("'") && !name.includes('"') ? '"' : "'";
  let text = "";
  for (const character of name) {
    if (character === mark || character === "\\") text += `\\${character}`;
    else if (character < " " || character === "\x7f") text += escapeControl(character);
    else text += character;
  }
  return mark + text + mark;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeControl(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0");
  return SHORT_ESCAPES[character] ?? `\\x${code}`;
}
