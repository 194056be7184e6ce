/**
 * Counting answers: which count as the same, and which wins.
 *
 * Method: self-consistency ({@link https://arxiv.org/abs/2203.11171 | Wang et al. 2022}).
 *
 * @module
 */
import { canonicalJson, type JsonValue } from "../json/mod.ts";
import { ConfigError, extractJson, splitReasoning } from "../llm/mod.ts";
import { onlyChoice } from "./vote_choice.ts";
import { onlyNumber } from "./vote_number.ts";
import { collapseWhiteSpace, textKey } from "./vote_text.ts";

/**
 * When two answers are the same vote.
 *
 * - `text`: NFKC, zero-width marks off, case folded, white space collapsed, wrapping quotes, fences and emphasis and a
 *   final `.` or `!` off.
 * - `whitespace`: white space collapsed, nothing else.
 * - `exact`: to the letter.
 * - `number`: the only number in the text, by value; `1,000` and `$1000.0` are the same, `50%` and `0.5` are not.
 * - `json`: the JSON in the text, by value; the order of members does not count.
 * - `choice`: the one label of a closed set that the text names.
 * - a function, by itself or as `map`: what it gives; `undefined` or `""` is no vote.
 */
export type VoteNormalization =
  | "text"
  | "whitespace"
  | "exact"
  | "number"
  | "json"
  | {
    /** The labels, at least one, no two the same but for case. */
    readonly choice: readonly string[];
  }
  | {
    /** Gives what an answer is compared by. Must depend on the answer alone. */
    readonly map: (text: string) => string | undefined;
  }
  | ((text: string) => string | undefined);

/** One answer, ready to be counted. */
export interface Vote {
  /** What it is compared by. */
  readonly key: string;
  /** What is shown: the answer without thinking, trimmed; for `choice` the label. */
  readonly text: string;
  /** For `number` and `json`: the value. */
  readonly parsed?: JsonValue;
}

/** Answers that count as the same. */
export interface VoteGroup {
  /** The first of them in the order of samples, as first written; for `choice` the label. */
  readonly value: string;
  /** How many. */
  readonly count: number;
  /** Which samples, from 0, rising. */
  readonly indexes: readonly number[];
  /** For `number` and `json`: the value. */
  readonly parsed?: JsonValue;
}

/** The count of a vote. */
export interface VoteTally {
  /** Largest first; of equal ones the one with the earliest sample first. Empty if nobody voted. */
  readonly groups: readonly VoteGroup[];
  /** How many answers were votes. */
  readonly valid: number;
  /** How many groups share the highest count: 1 is a clear win, 0 if nobody voted. */
  readonly tieCount: number;
}

/**
 * Checks how votes are to be compared.
 *
 * @param normalization What the caller wants.
 * @throws {ConfigError} If it is unknown, or the labels of a choice are none, blank or ambiguous; code `argument`.
 */
export function checkNormalization(normalization: VoteNormalization): void {
  const words = ["text", "whitespace", "exact", "number", "json"];
  if (typeof normalization === "string") {
    if (words.includes(normalization)) return;
    throw new ConfigError(
      `Cannot use option normalize: found "${normalization}", wanted one of ${words.join(", ")}`,
      { code: "argument" },
    );
  }
  if (typeof normalization === "function") return;
  const given: { readonly map?: unknown; readonly choice?: unknown } | null = normalization;
  if (typeof given?.map === "function") return;
  const labels: unknown = given?.choice;
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string")) {
    throw new ConfigError(
      "Cannot use option normalize: wanted a word, a function, or an object with a function `map` or labels `choice`",
      { code: "argument" },
    );
  }
  const keys = new Set(labels.map(textKey));
  if (keys.size > 0 && keys.size === labels.length && !keys.has("")) return;
  throw new ConfigError(
    "Cannot use option normalize: the labels of a choice must be at least one, not blank and all different",
    { code: "argument" },
  );
}

/**
 * Reads one answer as a vote.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(castVote("**Paris.**")?.key, castVote("paris")?.key);
 * assertEquals(castVote("about $1,000", "number")?.parsed, 1000);
 * assertEquals(castVote("not accept", { choice: ["accept", "reject"] }), undefined);
 * ```
 *
 * @param text The answer; thinking in it is taken off first.
 * @param normalization When two answers are the same; default `text`.
 * @returns The vote, or `undefined` if the answer is blank or cannot be read that way.
 * @throws {ConfigError} Code `argument`, if a function gives something else than a text or `undefined`.
 */
export function castVote(
  text: string,
  normalization: VoteNormalization = "text",
): Vote | undefined {
  const answer = splitReasoning(text).content.trim();
  if (textKey(answer) === "") return undefined;
  if (typeof normalization === "function") return castMapped(answer, normalization);
  if (typeof normalization === "object") {
    // Told apart as the check does: a member may be there and undefined.
    const { map, choice = [] }: Partial<MapNormalization & ChoiceNormalization> = normalization;
    if (typeof map === "function") return castMapped(answer, map);
    const label = onlyChoice(answer, choice);
    return label === undefined ? undefined : { key: label, text: label };
  }
  switch (normalization) {
    case "text":
      return { key: textKey(answer), text: answer };
    case "whitespace":
      return { key: collapseWhiteSpace(answer), text: answer };
    case "exact":
      return { key: answer, text: answer };
    case "number":
      return castNumber(answer);
    case "json":
      return castJson(answer);
  }
}

/**
 * Counts votes. The result depends on the answers and their order alone.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const tally = tallyVotes(["Paris", "Lyon", "paris."]);
 * assertEquals(tally.groups[0], { value: "Paris", count: 2, indexes: [0, 2] });
 * ```
 *
 * @param texts What the samples said, in the order of requests.
 * @param options `normalize`: when two answers are the same, default `text`.
 * @returns The count.
 */
export function tallyVotes(
  texts: readonly string[],
  options: { readonly normalize?: VoteNormalization } = {},
): VoteTally {
  checkNormalization(options.normalize ?? "text");
  return countVotes(texts.map((text) => castVote(text, options.normalize)));
}

/**
 * Counts votes that were read already.
 *
 * @param votes By sample; `undefined` is no vote.
 * @returns The count.
 */
export function countVotes(votes: readonly (Vote | undefined)[]): VoteTally {
  const byKey = new Map<string, { vote: Vote; indexes: number[] }>();
  for (const [index, vote] of votes.entries()) {
    if (vote === undefined) continue;
    const group = byKey.get(vote.key);
    if (group === undefined) byKey.set(vote.key, { vote, indexes: [index] });
    else group.indexes.push(index);
  }
  const groups = [...byKey.values()].sort((left, right) =>
    right.indexes.length - left.indexes.length || (left.indexes[0] ?? 0) - (right.indexes[0] ?? 0)
  ).map(({ vote, indexes }) => ({
    value: vote.text,
    count: indexes.length,
    indexes,
    ...(vote.parsed === undefined ? {} : { parsed: vote.parsed }),
  }));
  const top = groups[0]?.count;
  return {
    groups,
    valid: groups.reduce((sum, group) => sum + group.count, 0),
    tieCount: groups.filter((group) => group.count === top).length,
  };
}

type MapNormalization = Extract<VoteNormalization, { readonly map: unknown }>;
type ChoiceNormalization = Extract<VoteNormalization, { readonly choice: unknown }>;

function castMapped(answer: string, map: (text: string) => unknown): Vote | undefined {
  const key = map(answer);
  if (key === undefined || key === "") return undefined;
  if (typeof key === "string") return { key, text: answer };
  throw new ConfigError(
    `Cannot use option normalize: its function gave ${typeof key}, wanted a text or undefined`,
    { code: "argument" },
  );
}

function castNumber(answer: string): Vote | undefined {
  const number = onlyNumber(answer);
  return number === undefined ? undefined : { key: number.key, text: answer, parsed: number.value };
}

function castJson(answer: string): Vote | undefined {
  const extracted = extractJson(answer);
  if (extracted.kind === "error") return undefined;
  return { key: canonicalJson(extracted.value), text: answer, parsed: extracted.value };
}
