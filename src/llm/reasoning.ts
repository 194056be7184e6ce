/**
 * Thinking that a model writes into its answer, told apart from the answer.
 *
 * @module
 */

/** An answer and the thinking before it. */
export interface SplitText {
  /** The answer, trimmed where thinking was cut off; else the text as it was. */
  readonly content: string;
  /** The thinking, trimmed; `""` if there is none. */
  readonly reasoning: string;
}

const OPENING = /\s*(<think>|<thinking>|\[THINK\])/iy;
const CLOSING = /<\/think>|<\/thinking>|\[\/THINK\]/gi;

/**
 * Splits thinking from an answer: think blocks at the beginning, and everything before a closing tag that nothing opened.
 * Tags within the answer or within code stay. A block that is never closed is thinking to its end.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(splitReasoning("<think>2 and 2</think>\n4"), { content: "4", reasoning: "2 and 2" });
 * ```
 *
 * @param text What the model wrote.
 * @returns The answer and the thinking.
 */
export function splitReasoning(text: string): SplitText {
  const thoughts: string[] = [];
  let at = 0;
  while (true) {
    OPENING.lastIndex = at;
    const opening = OPENING.exec(text);
    const tag = opening?.[1];
    if (tag === undefined) break;
    const from = OPENING.lastIndex;
    const end = indexOfTag(text, closingOf(tag), from);
    thoughts.push(text.slice(from, end?.start ?? text.length).trim());
    at = end?.end ?? text.length;
  }
  if (at === 0) {
    const bare = bareClosing(text);
    if (bare === undefined) return { content: text, reasoning: "" };
    thoughts.push(text.slice(0, bare.start).trim());
    at = bare.end;
  }
  return { content: text.slice(at).trim(), reasoning: thoughts.filter((one) => one).join("\n\n") };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function closingOf(opening: string): string {
  return opening.startsWith("[") ? "[/THINK]" : `</${opening.slice(1)}`;
}

function indexOfTag(text: string, tag: string, from: number): Range | undefined {
  const pattern = new RegExp(tag.replaceAll(/[[\]/]/g, "\\$&"), "gi");
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  return found === null ? undefined : { start: found.index, end: pattern.lastIndex };
}

/** The first closing tag outside code that has no opening tag before it. */
function bareClosing(text: string): Range | undefined {
  let code: readonly Range[] | undefined;
  let passed = 0;
  for (const found of text.matchAll(CLOSING)) {
    const range = { start: found.index, end: found.index + found[0].length };
    code ??= codeRanges(text);
    while ((code[passed]?.end ?? Infinity) < range.start) passed += 1;
    const span = code[passed];
    if (span !== undefined && span.start < range.start && range.end < span.end) continue;
    const opening = found[0].startsWith("[") ? "[THINK]" : `<${found[0].slice(2)}`;
    return indexOfTag(text.slice(0, range.start), opening, 0) === undefined ? range : undefined;
  }
  return undefined;
}

/** Code between runs of equally many backticks; short runs do not reach over a blank line. */
function codeRanges(text: string): readonly Range[] {
  const runs = [...text.matchAll(/`+|\n\s*\n/g)];
  const ranges: Range[] = [];
  let open: { readonly start: number; readonly ticks: string } | undefined;
  for (const run of runs) {
    const mark = run[0];
    if (!mark.startsWith("`")) {
      if (open !== undefined && open.ticks.length < FENCE) open = undefined;
    } else if (open === undefined) open = { start: run.index, ticks: mark };
    else if (open.ticks === mark) {
      ranges.push({ start: open.start, end: run.index + mark.length });
      open = undefined;
    }
  }
  return ranges;
}

const FENCE = 3;
