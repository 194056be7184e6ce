/**
 * Where in a written scalar a placeholder stands, so that a finding points at it and not at the start of its text.
 *
 * @module
 */

/** What stands for nothing but itself behind a backslash, or for white space, in a double-quoted scalar. */
const PLAIN_ESCAPES = /\\(?:([ntr \t]|\r?\n)|(["\\/]))/g;

/**
 * Finds a placeholder in the source of a scalar: plain, quoted, or a block.
 *
 * @param source The whole source.
 * @param start Where the scalar starts.
 * @param place `text`: the value of the scalar; `path`: the path of the placeholder, of which the first counts.
 * @returns Its offset; `undefined` if the scalar is written in a way that hides it, such as by an alias.
 */
export function placeholderOffset(
  source: string,
  start: number,
  place: { readonly text: string; readonly path: string },
): number | undefined {
  const pattern = new RegExp(
    String.raw`\{\{\s*${place.path.replaceAll(".", "\\.")}\s*\}\}`,
    "gu",
  );
  const inText = pattern.exec(place.text);
  if (inText === null) return undefined;
  const content = contentStart(source, start);
  pattern.lastIndex = content;
  const inSource = pattern.exec(source);
  if (inSource === null) return undefined;
  const before = written(source.slice(content, inSource.index));
  return before === squeezed(place.text.slice(0, inText.index)) ? inSource.index : undefined;
}

/** A block begins in the line after its header, which may have a comment. */
function contentStart(source: string, start: number): number {
  const isBlock = source.startsWith("|", start) || source.startsWith(">", start);
  return isBlock ? source.indexOf("\n", start) + 1 : start;
}

/** What the start of a scalar says, without white space, which is laid out freely; `undefined` if that takes a parser. */
function written(source: string): string | undefined {
  switch (source.charAt(0)) {
    case "'":
      return squeezed(source.slice(1).replaceAll("''", "'"));
    case '"': {
      const plain = source.slice(1).replace(
        PLAIN_ESCAPES,
        (_, _space, itself: string | undefined) => itself === "\\" ? "\0" : itself ?? "",
      );
      return plain.includes("\\") ? undefined : squeezed(plain.replaceAll("\0", "\\"));
    }
    default:
      return squeezed(source);
  }
}

function squeezed(text: string): string {
  return text.replace(/\s+/gu, "");
}
