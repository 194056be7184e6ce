/**
 * Diagnostics as sentences, for doors that show texts.
 *
 * @module
 */
import type { Diagnostic } from "../machine/mod.ts";

/** What goes before a problem of the text, by stage; only for documents given inline. */
const INLINE_PREFIXES: Readonly<Partial<Record<NonNullable<Diagnostic["stage"]>, string>>> = {
  yaml: "invalid YAML: ",
  schema: "schema: ",
};

/**
 * Writes a diagnostic as one sentence: the message to the letter, where it stands, and what to write instead.
 *
 * @param diagnostic The finding.
 * @param options `inline`: the document has no file, so problems of its text name their stage.
 * @returns The sentence.
 */
export function sentence(
  diagnostic: Diagnostic,
  options: { readonly inline: boolean },
): string {
  const { message, hint, position, stage } = diagnostic;
  const prefix = options.inline && stage !== undefined ? INLINE_PREFIXES[stage] ?? "" : "";
  const own = prefix !== "" && message.startsWith(prefix) ? message : prefix + message;
  const place = position === undefined ? "" : ` (line ${position.line}, column ${position.column})`;
  return own + place + (hint === undefined ? "" : `; ${hint}`);
}
