/**
 * Random scripts that two implementations of the patterns are both played through.
 *
 * @module
 */
import { SeededRandom } from "../../src/testing/mod.ts";
import type { Reply } from "./endpoint.ts";

/** Which pattern a script runs. */
export type PatternName =
  | "consensus"
  | "react_loop"
  | "refine_loop"
  | "structured"
  | "map_reduce";

/** What in a script makes both differ by decision. */
export type Trait =
  | "truncated"
  | "empty"
  | "failed"
  | "usage-absent"
  | "prose-score"
  | "unusable-arguments"
  | "cut-json";

/** One script. */
export interface Script {
  /** Its number, which seeds it. */
  readonly id: number;
  /** The pattern. */
  readonly pattern: PatternName;
  /** Its options, by the names of Kit. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Cap on requests, if any. */
  readonly maxCalls?: number;
  /** What the endpoint says, in order; the last one again and again. */
  readonly replies: readonly Reply[];
  /** What is special about a reply, by its number. */
  readonly traits: ReadonlyMap<number, ReadonlySet<Trait>>;
}

const PATTERNS: readonly PatternName[] = [
  "consensus",
  "react_loop",
  "refine_loop",
  "structured",
  "map_reduce",
];
/** Spreads neighbouring numbers over the range of seeds. */
const SPREAD = 2_654_435_761;
const REPLIES = 24;
const ANSWERS = ["42", " 42 ", "42\n", "41", "forty  two", "forty two", "Paris", "a\tb", "a b"];
const JSON_TEXTS = [
  '{"a":1}',
  '```json\n{"a": [1, 2]}\n```',
  "[1,2,3]",
  'Here: {"b": "x"}',
  '"text"',
];
const BROKEN_TEXTS = ["no json here", "", "sorry"];
const RETRYABLE = [429, 500, 503];
const PERMANENT = [400, 401, 404];

/**
 * Makes a script.
 *
 * @param id Its number; the same number gives the same script.
 */
export function makeScript(id: number): Script {
  const maker = new Maker(id);
  const pattern = maker.pick(PATTERNS);
  const options = maker.options(pattern);
  const traits = new Map<number, ReadonlySet<Trait>>();
  const replies = Array.from({ length: REPLIES }, (_, index) => {
    const reply = maker.reply(pattern, index);
    traits.set(index, maker.takeTraits());
    return reply;
  });
  const capped = maker.chance(0.15);
  return {
    id,
    pattern,
    options,
    replies,
    traits,
    ...(capped ? { maxCalls: 1 + maker.below(6) } : {}),
  };
}

class Maker {
  #traits = new Set<Trait>();
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(Math.imul(seed + 1, SPREAD) >>> 0);
  }

  takeTraits(): ReadonlySet<Trait> {
    const taken = this.#traits;
    this.#traits = new Set();
    return taken;
  }

  below(bound: number): number {
    return Math.floor(this.#random.float() * bound);
  }

  chance(share: number): boolean {
    return this.#random.float() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("Cannot pick from nothing");
    return item;
  }

  options(pattern: PatternName): Readonly<Record<string, unknown>> {
    switch (pattern) {
      case "consensus":
        return { n: 1 + this.below(9), strategy: this.chance(0.2) ? "unanimous" : "majority" };
      case "react_loop":
        return { maxRounds: 1 + this.below(6) };
      case "refine_loop":
        return {
          target: this.pick([0.5, 0.8, 0.95]),
          maxIterations: this.below(5),
          patience: 1 + this.below(3),
          delta: this.pick([0, 0.05, 0.15]),
        };
      case "structured":
        return { maxRepairs: this.below(4) };
      case "map_reduce":
        return { items: Array.from({ length: this.below(6) }, (_, index) => `item ${index}`) };
    }
  }

  reply(pattern: PatternName, index: number): Reply {
    if (this.chance(0.06)) return { status: this.pick(RETRYABLE), raw: this.#mark("failed") };
    if (this.chance(0.01)) return { status: this.pick(PERMANENT), raw: this.#mark("failed") };
    const usage = this.chance(0.03) ? this.#absentUsage() : this.#usage();
    if (this.chance(0.03)) {
      this.#traits.add("truncated");
      return { text: "cut off in the mid", finishReason: "length", usage };
    }
    return { ...this.#message(pattern, index), usage };
  }

  #mark(trait: Trait): string {
    this.#traits.add(trait);
    return '{"error":{"message":"scripted"}}';
  }

  #usage(): Readonly<Record<string, unknown>> {
    const [input, output] = [1 + this.below(500), 1 + this.below(200)];
    return { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output };
  }

  #absentUsage(): null {
    this.#traits.add("usage-absent");
    return null;
  }

  #message(pattern: PatternName, index: number): Reply {
    switch (pattern) {
      case "consensus":
      case "map_reduce":
        return { text: this.#answer() };
      case "react_loop":
        return this.chance(0.6) ? this.#calls(index) : { text: this.#answer() };
      case "refine_loop":
        return { text: this.#score() };
      case "structured":
        return { text: this.#json() };
    }
  }

  #answer(): string {
    if (!this.chance(0.04)) return this.pick(ANSWERS);
    this.#traits.add("empty");
    return "";
  }

  /** Drafts and scores come in turn, unless something fails: so each reply can serve as both. */
  #score(): string {
    if (!this.chance(0.04)) return String(this.below(11));
    this.#traits.add("prose-score");
    return this.pick(["I would say 7 of 10", "good", "11"]);
  }

  #json(): string {
    if (this.chance(0.35)) return this.pick(BROKEN_TEXTS);
    if (!this.chance(0.04)) return this.pick(JSON_TEXTS);
    this.#traits.add("cut-json");
    return '{"a": [1, 2';
  }

  #calls(index: number): Reply {
    const count = 1 + this.below(2);
    const calls = Array.from({ length: count }, (_, n) => this.#call(`c${index}_${n}`));
    return {
      message: { role: "assistant", content: null, "tool_calls": calls },
      finishReason: "tool_calls",
    };
  }

  #call(id: string): Readonly<Record<string, unknown>> {
    const add = { name: "add", arguments: `{"a":${this.below(99)},"b":${this.below(99)}}` };
    const upper = { name: "upper", arguments: `{"text":"t${this.below(99)}"}` };
    const wire = this.chance(0.5) ? add : upper;
    if (!this.chance(0.03)) return { id, type: "function", function: wire };
    this.#traits.add("unusable-arguments");
    return { id, type: "function", function: { ...wire, arguments: "{broken" } };
  }
}
