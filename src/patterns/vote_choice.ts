/**
 * The one label of a closed set that an answer names.
 *
 * @module
 */
import { collapseWhiteSpace, foldCase, foldCompatibility, textKey } from "./vote_text.ts";

/** Longest answer in which a label is looked for, in characters. */
const MAX_CHOICE_TEXT = 100_000;
/** Words that turn a label into its opposite. */
const NEGATION =
  /(?<![\p{L}\p{N}_])(?:not|no|never|neither|nor|cannot|without|[a-z]+n't)(?![\p{L}\p{N}_])/u;

/**
 * Finds the label that an answer names.
 *
 * The whole answer is compared first, as texts are. Otherwise exactly one of the labels must occur in it as a whole
 * word, and no negation: "not accept" is no vote for `accept`.
 *
 * @param text The answer.
 * @param labels The closed set.
 * @returns The label as the set spells it, or `undefined`.
 */
export function onlyChoice(text: string, labels: readonly string[]): string | undefined {
  if (text.length > MAX_CHOICE_TEXT) return undefined;
  const whole = textKey(text);
  const exact = labels.find((label) => textKey(label) === whole);
  if (exact !== undefined) return exact;
  let rest = foldCase(collapseWhiteSpace(foldCompatibility(text))).replaceAll("\u2019", "'");
  const found: string[] = [];
  for (const label of [...labels].sort((left, right) => right.length - left.length)) {
    const without = removeWord(rest, foldCase(collapseWhiteSpace(foldCompatibility(label))));
    if (without !== rest) found.push(label);
    rest = without;
  }
  return found.length === 1 && !NEGATION.test(rest) ? found[0] : undefined;
}

/** Takes every whole-word occurrence out. Plain search: a label is data and never becomes a pattern. */
function removeWord(text: string, word: string): string {
  if (word === "") return text;
  let kept = "";
  let from = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    const before = text.charAt(at - 1) || " ";
    const after = text.charAt(at + word.length) || " ";
    if (isWordCharacter(before) || isWordCharacter(after)) continue;
    kept += `${text.slice(from, at)}\u0000`;
    from = at + word.length;
  }
  return kept + text.slice(from);
}

function isWordCharacter(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character);
}
