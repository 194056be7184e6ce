/**
 * What the engine asks where it cannot decide alone: for a text, and for a choice. Verdicts carry their own token counts,
 * so that concurrent questions never mix them up.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../json/mod.ts";
import type { Tier } from "./document.ts";

/** Tokens that one answer cost. */
export interface Tokens {
  /** Prompt tokens. */
  readonly input: number;
  /** Completion tokens. */
  readonly output: number;
}

/** Where in a run a question comes from. */
export interface Origin {
  /** The machine. */
  readonly machine: string;
  /** The state. */
  readonly state: string;
  /** How deep in calls, 0 for the root. */
  readonly depth: number;
  /** The branch of a fan-out, from 0. */
  readonly branch?: number;
  /**
   * The call states and branches that lead here, and the state: the same place in the same run, whenever it runs.
   * Absent for questions outside a run.
   */
  readonly path?: string;
}

/** A state's question for a text. */
export interface ProduceRequest extends Origin {
  /** The instructions: contract, policy, rules, fences. */
  readonly system: string;
  /** The rendered prompt with its fences and any feedback. */
  readonly user: string;
  /** Which model. */
  readonly tier: Tier;
  /** Sampling temperature. */
  readonly temperature: number;
  /** Whether the model is to reason first. */
  readonly reason: boolean;
  /** Ends the question at once. */
  readonly signal: AbortSignal;
}

/** The answer to a {@linkcode ProduceRequest}. */
export interface Produced {
  /** The text, thinking removed. */
  readonly text: string;
  /** The thinking, if there is any. */
  readonly reasoning?: string;
  /** What it cost. */
  readonly tokens: Tokens;
  /** Whether the model was cut off at its output limit; default false. */
  readonly truncated?: boolean;
  /** The endpoint's word for why the model stopped. */
  readonly finishReason?: string;
}

/** A batch of conditions to choose from. */
export interface JudgeRequest extends Origin {
  /** The conditions as authored, at least one. The judge is also offered "none of these". */
  readonly conditions: readonly string[];
  /** What the state gave, as text. */
  readonly output: string;
  /** What the model thought, if known. */
  readonly reasoning?: string;
  /** The context after the deposit. Read it now: the engine goes on to change it. */
  readonly context: JsonObject;
  /** The tier of the state, for the choice of the model. */
  readonly tier: Tier;
  /** Ends the question at once. */
  readonly signal: AbortSignal;
}

/** The answer to a {@linkcode JudgeRequest}. */
export type Verdict =
  | {
    /** A choice. */
    readonly kind: "choice";
    /** The condition, from 0; equal to the number of conditions: none of them. Anything else is an anomaly. */
    readonly index: number;
    /** What it cost. */
    readonly tokens: Tokens;
    /** How the reply was read, if not as strict JSON. */
    readonly method?: "bare";
  }
  | {
    /** A reply that names no choice. */
    readonly kind: "unparseable";
    /** The reply. */
    readonly raw: string;
    /** What it cost. */
    readonly tokens: Tokens;
  };

/** Answers the questions of a run. */
export interface Oracle {
  /** Tiers that have a model, sorted. A state of another tier halts. */
  readonly tiers: readonly Tier[];
  /** The name of the model that judges for a tier, or `undefined` if none does. */
  judgeModel(tier: Tier): string | undefined;
  /**
   * Makes a text.
   *
   * @throws {RefusalError} If the model declined.
   * @throws {KitError} If the provider failed; its `usage` is counted.
   */
  produce(request: ProduceRequest): Promise<Produced> | Produced;
  /**
   * Chooses.
   *
   * @throws {RefusalError} If the model declined.
   * @throws {KitError} If the provider failed; its `usage` is counted.
   */
  judge(request: JudgeRequest): Promise<Verdict> | Verdict;
}

/**
 * Refuses an answer without the members that the engine counts on: oracles may be written by anybody.
 *
 * @param produced What an oracle produced.
 * @returns It.
 * @throws {TypeError} If it has no text or no tokens.
 */
export function requireProduced(produced: Produced): Produced {
  const { text, tokens } = object(produced, "produce");
  if (typeof text !== "string") {
    throw new TypeError("oracle: produce answered without a text (wanted {text, tokens})");
  }
  requireTokens(tokens, "produce");
  return produced;
}

/**
 * Refuses a verdict without the members that the engine counts on.
 *
 * @param verdict What an oracle judged.
 * @returns It.
 * @throws {TypeError} If it is neither a choice nor unparseable, or has no tokens.
 */
export function requireVerdict(verdict: Verdict): Verdict {
  const { kind, index, raw, tokens } = object(verdict, "judge");
  const fits = kind === "choice" ? typeof index === "number" : typeof raw === "string";
  if ((kind !== "choice" && kind !== "unparseable") || !fits) {
    throw new TypeError(
      'oracle: judge answered neither {kind: "choice", index, tokens} nor {kind: "unparseable", raw, tokens}',
    );
  }
  requireTokens(tokens, "judge");
  return verdict;
}

function object(value: unknown, who: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  throw new TypeError(`oracle: ${who} answered with no object`);
}

function requireTokens(tokens: unknown, who: string): void {
  if (isJsonObject(tokens) && isCount(tokens.input) && isCount(tokens.output)) return;
  throw new TypeError(
    `oracle: ${who} answered without tokens (wanted {input, output}, numbers of at least 0)`,
  );
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The model declined to answer. */
export class RefusalError extends Error {
  /** The class. */
  override readonly name = "RefusalError";
  /** What the declined call cost. */
  readonly tokens: Tokens;
  /** Makes an error. `message`: what the model said, or a sentence that it declined. */
  constructor(message: string, tokens: Tokens = { input: 0, output: 0 }) {
    super(message);
    this.tokens = tokens;
  }
}
