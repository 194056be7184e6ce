/**
 * The only number in an answer, by value.
 *
 * @module
 */
import { foldCompatibility } from "./vote_text.ts";

/** A number as it is compared: exactly, whatever its size. */
export interface VotedNumber {
  /** Equal for equal values and only for them; per cent stay apart from plain numbers. */
  readonly key: string;
  /** The nearest double. */
  readonly value: number;
}

/** Longest answer in which a number is looked for, in characters. */
const MAX_NUMBER_TEXT = 100_000;
/** Largest absolute exponent of a written number. */
const MAX_DECIMAL_EXPONENT = 10_000;
/** A number not glued to a word or to another number. */
const NUMBER =
  /(?<![\p{L}\p{N}_.,])([-+]?)\p{Sc}?(\d+(?:,\d+)*(?:\.\d+)*|\.\d+)(?:e([-+]?\d{1,6})(?![\p{L}\p{N}]))?\s?(%?)/giu;
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const UNGROUPED = /^\d*(?:\.\d+)?$/;

/**
 * Finds the number that an answer gives.
 *
 * Thousands may be grouped by commas in threes, a currency sign may stand before, per cent behind. The same number
 * may occur more than once.
 *
 * @param text The answer.
 * @returns The number, or `undefined` if there is none, more than one, or one that cannot be read with certainty.
 */
export function onlyNumber(text: string): VotedNumber | undefined {
  if (text.length > MAX_NUMBER_TEXT) return undefined;
  const plain = foldCompatibility(text).replaceAll("\u2212", "-");
  let found: VotedNumber | undefined;
  for (const match of plain.matchAll(NUMBER)) {
    const number = readNumber(match);
    if (number === undefined || (found !== undefined && found.key !== number.key)) return undefined;
    found = number;
  }
  return found;
}

function readNumber(match: RegExpExecArray): VotedNumber | undefined {
  const [, sign = "", written = "", exponent = "0", percent = ""] = match;
  if (!GROUPED.test(written) && !UNGROUPED.test(written)) return undefined;
  const power = Number(exponent);
  if (Math.abs(power) > MAX_DECIMAL_EXPONENT) return undefined;
  const [whole = "", fraction = ""] = written.replaceAll(",", "").split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const value = Number(`${whole === "" ? "0" : whole}.${fraction}e${power}`);
  if (significant === "") return { key: `0${percent}`, value: 0 };
  const scale = power - fraction.length + (digits.length - significant.length);
  const minus = sign === "-" ? "-" : "";
  return { key: `${minus}${significant}e${scale}${percent}`, value: minus === "" ? value : -value };
}
