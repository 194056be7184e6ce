/**
 * Scores in what an evaluator wrote.
 *
 * @module
 */
import { isJsonObject, member } from "../json/mod.ts";
import { extractJson } from "./extract.ts";
import { splitReasoning } from "./reasoning.ts";

/** A scale, its ends included. */
export interface Scale {
  /** The lowest score. */
  readonly min: number;
  /** The highest score. */
  readonly max: number;
}

const PLAIN =
  /^(?:(?:score|rating)\s*[:=]\s*)?([+-]?\d+(?:\.\d+)?)(?:\s*\/\s*(\d+(?:\.\d+)?))?\.?$/i;

/**
 * Reads a score. Only these forms count, as the whole answer after its thinking: a number; a number of the highest, such
 * as `7/10`; `score: 7`; or one JSON object with a numeric `score`. A number somewhere in prose is none: it may be an end
 * of the scale, or somebody else's.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseScore("Score: 7/10", { min: 0, max: 10 }), 7);
 * assertEquals(parseScore("On a scale of 0-10 I would say 7", { min: 0, max: 10 }), undefined);
 * ```
 *
 * @param text What the evaluator wrote.
 * @param scale The scale.
 * @returns The score on the scale, or `undefined` if there is none or it is off the scale.
 */
export function parseScore(text: string, scale: Scale): number | undefined {
  const answer = splitReasoning(text).content.trim();
  const plain = PLAIN.exec(answer.replace(/^[*_`"']{1,3}(.*?)[*_`"']{1,3}$/s, "$1").trim());
  const score = plain === null ? jsonScore(answer) : plainScore(plain, scale);
  return score !== undefined && score >= scale.min && score <= scale.max ? score : undefined;
}

function plainScore(match: RegExpExecArray, scale: Scale): number | undefined {
  const [, score, whole] = match;
  if (whole !== undefined && Number(whole) !== scale.max) return undefined;
  return Number(score);
}

function jsonScore(answer: string): number | undefined {
  const found = extractJson(answer, { scalars: false });
  if (found.kind !== "value" || !isJsonObject(found.value)) return undefined;
  const score = member(found.value, "score");
  return typeof score === "number" ? score : undefined;
}
