/**
 * When two answers count as the same text.
 *
 * @module
 */

/** White space, spelled out because host languages disagree about it. */
const WHITE_SPACE =
  // deno-lint-ignore no-control-regex -- U+001C to U+001F are white space to some languages
  /[\t\n\v\f\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/g;
/** Marks that take no room: zero-width spaces and joiners, soft hyphens, direction marks, variation selectors. */
const ZERO_WIDTH = /[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]/gu;
const SINGLE_QUOTES = /[\u2018\u2019\u201a\u201b\u02bc]/g;
const DOUBLE_QUOTES = /[\u201c\u201d\u201e\u201f]/g;
const FENCE_OPENING = /^(?:`{3,}|~{3,})/;
const FENCE_LANGUAGE = /^[\w+.#-]{0,32}\n/;
const PAIRS: readonly (readonly [open: string, close: string])[] = [
  ["**", "**"],
  ["__", "__"],
  ["~~", "~~"],
  ["*", "*"],
  ["_", "_"],
  ["`", "`"],
  ['"', '"'],
  ["'", "'"],
  ["\u00ab", "\u00bb"],
  ["\u2039", "\u203a"],
];
/** How many layers of quotes, fences and emphasis are taken off. */
const MAX_WRAPPINGS = 8;

/**
 * Trims, and makes every run of white space one space.
 *
 * @param text Any text.
 * @returns The text, possibly empty.
 */
export function collapseWhiteSpace(text: string): string {
  return text.replace(WHITE_SPACE, " ").replace(/^ | $/g, "");
}

/**
 * Takes off marks that nobody sees.
 *
 * @param text Any text.
 * @returns The text in NFKC without them.
 */
export function foldCompatibility(text: string): string {
  return text.normalize("NFKC").replace(ZERO_WIDTH, "");
}

/**
 * What a text is compared by: NFKC without zero-width marks, case folded, white space collapsed, and wrapping quotes,
 * fences, emphasis and final `.` or `!` off. No step is taken that would leave nothing, so `-` and `+` stay apart.
 *
 * @param text Any text.
 * @returns The key; empty only if the text shows nothing.
 */
export function textKey(text: string): string {
  const plain = foldCompatibility(text)
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"');
  return foldCase(collapseWhiteSpace(unwrap(plain.trim())));
}

/** Full case folding, near enough: `\u00df` and `SS` meet, and so do both small sigmas. */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll("\u03c2", "\u03c3").normalize(
    "NFKC",
  );
}

function unwrap(text: string): string {
  let current = text;
  for (let layer = 0; layer < MAX_WRAPPINGS; layer += 1) {
    const inner = unwrapOnce(current);
    if (inner === current) return current;
    current = inner;
  }
  return current;
}

function unwrapOnce(text: string): string {
  const fence = FENCE_OPENING.exec(text)?.[0];
  if (fence !== undefined && text.length > 2 * fence.length && text.endsWith(fence)) {
    const inner = text.slice(fence.length, -fence.length).replace(FENCE_LANGUAGE, "");
    return keepUnlessEmpty(inner, text);
  }
  const closed = withoutFinalMarks(text);
  if (closed !== text && closed.trim() !== "") return closed.trim();
  for (const [open, close] of PAIRS) {
    const wraps = text.length > open.length + close.length && text.startsWith(open) &&
      text.endsWith(close);
    if (wraps) return keepUnlessEmpty(text.slice(open.length, -close.length), text);
  }
  return text;
}

/** Takes final `.` and `!` off, in one pass from the end. */
function withoutFinalMarks(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "." || text.charAt(end - 1) === "!") end -= 1;
  return text.slice(0, end);
}

function keepUnlessEmpty(inner: string, outer: string): string {
  const trimmed = inner.trim();
  return trimmed === "" ? outer : trimmed;
}
