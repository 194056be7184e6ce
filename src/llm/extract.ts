/**
 * JSON in what a model wrote. The one extractor of Kit, for structured answers, judges and scores.
 *
 * Candidates are ranked: the whole text, a fence tagged `json`, any other fence, an object in prose, an array in prose.
 * The best rank that has one decides. Strict first: what is valid is never mended, what is mended is marked, and what ends
 * too early is never completed. Time is linear in the text.
 *
 * @module
 */
import {
  deepEqual,
  isJsonObject,
  JsonError,
  type JsonFault,
  type JsonReadOptions,
  type JsonValue,
  type Problem,
  problemText,
  readJsonAt,
  skipSpace,
} from "../json/mod.ts";
import { readLenientJsonAt } from "./lenient_json.ts";
import { dropNulls } from "./null_members.ts";
import { splitReasoning } from "./reasoning.ts";

/** Why there is no value. Fixed words. */
export type ExtractionFault =
  | "no_json"
  | "ambiguous"
  | "truncated"
  | "invalid_number"
  | "unsafe_integer"
  | "duplicate_key"
  | "unrepairable"
  | "too_deep"
  | "validation";

/** What was found. */
export type Extraction =
  | {
    /** One value. */
    readonly kind: "value";
    /** The value; objects in it have no prototype. */
    readonly value: JsonValue;
    /** Whether it was mended mechanically. */
    readonly repaired: boolean;
  }
  | {
    /** None that can be used. */
    readonly kind: "error";
    /** Why. */
    readonly code: ExtractionFault;
    /** Why, for a model that is asked again. */
    readonly message: string;
    /** What the schema says, where the code is `validation`. */
    readonly problems: readonly Problem[];
  };

/** How JSON is looked for. */
export interface ExtractOptions {
  /** Which of several different candidates of one rank counts; default `only`: several are ambiguous. */
  readonly pick?: "only" | "first" | "last";
  /** Whether a whole text that is a string, number, boolean or null counts; default true. */
  readonly scalars?: boolean;
  /** Tells what is wrong with a value, such as a compiled schema does; candidates with problems do not count. */
  readonly accept?: (value: JsonValue) => readonly Problem[];
  /** Whether the endpoint said that the answer was cut off: nothing is mended then. */
  readonly truncated?: boolean;
  /** Whether mechanical mending is tried; default true. */
  readonly repair?: boolean;
  /** What a key that comes twice does; default the last one counts. */
  readonly duplicateKeys?: "last" | "refuse";
}

/** The longest text that is looked through. */
export const MAX_EXTRACT_LENGTH = 4 * 1024 * 1024;

/**
 * Finds the one JSON value in a model's answer.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const found = extractJson('Sure, here it is: {"score": 7}');
 * assertEquals(found.kind === "value" && found.value, { score: 7 });
 * ```
 *
 * @param text What the model wrote; thinking before the answer is skipped.
 * @param options How to look.
 * @returns The value, or why there is none. Never throws.
 */
export function extractJson(text: string, options: ExtractOptions = {}): Extraction {
  if (text.length > MAX_EXTRACT_LENGTH) {
    return failure("too_deep", `The answer has more than ${MAX_EXTRACT_LENGTH} characters`);
  }
  const answer = splitReasoning(text.replace(/^\uFEFF/, "")).content;
  const search = new Search(answer, options);
  let broken = false;
  for (const rank of [search.whole, search.taggedFences, search.otherFences, search.prose]) {
    const found = rank.call(search);
    const decided = decide(found, options);
    if (decided !== undefined) return decided;
    broken ||= found.some((candidate) => candidate.kind === "broken");
  }
  return broken
    ? failure("unrepairable", "The answer has something like JSON in it that cannot be read")
    : failure("no_json", "The answer has no JSON in it");
}

type Candidate =
  | { readonly kind: "value"; readonly value: JsonValue; readonly repaired: boolean }
  | { readonly kind: "fault"; readonly fault: JsonFault; readonly message: string }
  | { readonly kind: "broken" };

class Search {
  readonly #text: string;
  readonly #read: JsonReadOptions;
  readonly #mend: boolean;
  readonly #scalars: boolean;
  #apostrophes = 0;
  #broken = 0;

  constructor(text: string, options: ExtractOptions) {
    this.#text = text;
    this.#read = { duplicateKeys: options.duplicateKeys ?? "last" };
    this.#mend = options.repair !== false && options.truncated !== true;
    this.#scalars = options.scalars !== false;
  }

  /** The text as one strict value. */
  whole(): readonly Candidate[] {
    const start = skipSpace(this.#text, 0);
    const bracketed = /^[{[]/.test(this.#text.slice(start, start + 1));
    if (!bracketed && !this.#scalars) return [];
    const strict = this.#strictAt(start, "");
    if (strict === undefined) return [];
    const { found, end } = strict;
    if (found.kind === "fault") return bracketed ? [found] : [];
    return skipSpace(this.#text, end) < this.#text.trimEnd().length ? [] : [found];
  }

  taggedFences(): readonly Candidate[] {
    return this.#fences((tag) => /^json[5c]?$/i.test(tag));
  }

  otherFences(): readonly Candidate[] {
    return this.#fences((tag) => !/^json[5c]?$/i.test(tag));
  }

  prose(): readonly Candidate[] {
    const { objects, arrays } = this.#scan(0, "");
    return objects.some((candidate) => candidate.kind !== "broken")
      ? objects
      : [...objects, ...arrays];
  }

  #fences(wanted: (tag: string) => boolean): readonly Candidate[] {
    const all: Candidate[] = [];
    const opening = /```([A-Za-z0-9_+-]*)/g;
    while (true) {
      const fence = opening.exec(this.#text);
      if (fence === null) return all;
      const { objects, arrays, end } = this.#scan(opening.lastIndex, "```");
      if (wanted(fence[1] ?? "")) all.push(...(objects.length > 0 ? objects : arrays));
      opening.lastIndex = end + 3;
    }
  }

  /** Every value at the top level from an index up to a mark outside of values, or to the end. */
  #scan(
    start: number,
    mark: string,
  ): { readonly objects: Candidate[]; readonly arrays: Candidate[]; readonly end: number } {
    const objects: Candidate[] = [];
    const arrays: Candidate[] = [];
    const next = mark === "" ? /[{[]/g : /[{[]|```/g;
    next.lastIndex = start;
    while (true) {
      const opener = next.exec(this.#text);
      if (opener === null) return { objects, arrays, end: this.#text.length };
      if (opener[0] === mark) return { objects, arrays, end: opener.index };
      if (!canBegin(this.#text, opener.index)) continue;
      const { found, end } = this.#candidateAt(opener.index, mark);
      (opener[0] === "{" ? objects : arrays).push(found);
      next.lastIndex = Math.max(end, opener.index + 1);
    }
  }

  #candidateAt(
    start: number,
    mark: string,
  ): { readonly found: Candidate; readonly end: number } {
    const strict = this.#strictAt(start, mark);
    if (strict !== undefined) return strict;
    const broken: Candidate = { kind: "broken" };
    this.#broken += 1;
    if (this.#broken > MAX_BROKEN) return { found: broken, end: this.#text.length };
    if (!this.#mend) return { found: broken, end: regionEnd(this.#text, start, mark) };
    try {
      const { value, end } = readLenientJsonAt(this.#text, start);
      return { found: { kind: "value", value, repaired: true }, end };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (error.fault !== "syntax" && !this.#isProse(start, error.fault)) {
        return { found: faultOf(error), end: this.#text.length };
      }
    }
    return { found: broken, end: regionEnd(this.#text, start, mark) };
  }

  /** Whether an unfinished value in single quotes is rather an apostrophe in prose; so often only. */
  #isProse(start: number, fault: JsonFault): boolean {
    const next = skipSpace(this.#text, start + 1);
    if (fault !== "truncated" || this.#text[next] !== "'") return false;
    this.#apostrophes += 1;
    return this.#apostrophes <= MAX_APOSTROPHES;
  }

  /** A strict value, or why it cannot be held; `undefined` if it is no JSON. */
  #strictAt(
    start: number,
    mark: string,
  ): { readonly found: Candidate; readonly end: number } | undefined {
    try {
      const { value, end } = readJsonAt(this.#text, start, this.#read);
      return { found: { kind: "value", value, repaired: false }, end };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (error.fault === "syntax") return undefined;
      const toEnd = error.fault === "truncated" || error.fault === "too_deep";
      const end = toEnd ? this.#text.length : regionEnd(this.#text, start, mark);
      return { found: faultOf(error), end };
    }
  }
}

/** Broken values that are looked behind for a whole one. */
const MAX_BROKEN = 1000;

/** Brackets before an apostrophe that are looked behind; each may cost a look at the whole rest. */
const MAX_APOSTROPHES = 8;

function faultOf(error: JsonError): Candidate {
  return { kind: "fault", fault: error.fault, message: error.message };
}

/** Whether what follows a bracket can belong to JSON, strict or mendable. */
function canBegin(text: string, at: number): boolean {
  const next = skipSpace(text, at + 1);
  return text[at] === "{"
    ? /^["'}]/.test(text.slice(next, next + 1))
    : /^(?:["'[{\]]|-?\d|(?:true|false|null|True|False|None)\b)/.test(text.slice(next, next + 6));
}

/**
 * After the bracket that closes a broken value. Strings are skipped, and closing brackets of the wrong kind: nothing within a
 * broken value is taken for a value of its own.
 */
function regionEnd(text: string, start: number, mark: string): number {
  const open: string[] = [];
  const part = /[{[]|[}\]]|```|"(?:[^"\\\n]|\\.)*"/g;
  part.lastIndex = start;
  while (true) {
    const found = part.exec(text);
    if (found === null) return text.length;
    const [token] = found;
    if (token === mark) return found.index;
    if (token === "{") open.push("}");
    else if (token === "[") open.push("]");
    else if (token === open.at(-1)) open.pop();
    if (open.length === 0) return part.lastIndex;
  }
}

function decide(found: readonly Candidate[], options: ExtractOptions): Extraction | undefined {
  const readable = found.filter((candidate) => candidate.kind !== "broken");
  const chosen = options.pick === "first"
    ? readable.slice(0, 1)
    : options.pick === "last"
    ? readable.slice(-1)
    : readable;
  for (const candidate of chosen) {
    if (candidate.kind === "fault") {
      return failure(
        candidate.fault === "syntax" ? "unrepairable" : candidate.fault,
        candidate.message,
      );
    }
  }
  return chosen.length === 0 ? undefined : choose(chosen, options);
}

function choose(candidates: readonly Candidate[], options: ExtractOptions): Extraction {
  const accept = options.accept ?? (() => []);
  const fitting: { readonly value: JsonValue; readonly repaired: boolean }[] = [];
  let problems: readonly Problem[] = [];
  for (const candidate of candidates) {
    if (candidate.kind !== "value") continue;
    const checked = checkCandidate(candidate, accept, options);
    if ("problems" in checked) problems = checked.problems;
    else if (!fitting.some((other) => deepEqual(other.value, checked.value))) fitting.push(checked);
  }
  const [first, second] = fitting;
  if (first === undefined) {
    const text = problems.map(problemText).join("; ");
    return failure("validation", `The JSON does not fit: ${text}`, problems);
  }
  return second === undefined
    ? { kind: "value", ...first }
    : failure("ambiguous", "The answer has several different JSON values; give exactly one");
}

/** A member that is null although it may only be left out is left out, if that makes the value fit. */
function checkCandidate(
  candidate: { readonly value: JsonValue; readonly repaired: boolean },
  accept: (value: JsonValue) => readonly Problem[],
  options: ExtractOptions,
):
  | { readonly value: JsonValue; readonly repaired: boolean }
  | { readonly problems: readonly Problem[] } {
  const { value, repaired } = candidate;
  const problems = accept(value);
  if (problems.length === 0) return { value, repaired };
  if (options.repair === false || !isJsonObject(value)) return { problems };
  const without = dropNulls(value, problems.map((problem) => problem.pointer));
  return without !== undefined && accept(without).length === 0
    ? { value: without, repaired: true }
    : { problems };
}

function failure(
  code: ExtractionFault,
  message: string,
  problems: readonly Problem[] = [],
): Extraction {
  return { kind: "error", code, message, problems };
}
