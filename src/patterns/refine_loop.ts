/**
 * Drafts that are scored and made better until they are good enough.
 *
 * Method: Self-Refine ({@link https://arxiv.org/abs/2303.17651 | Madaan et al. 2023}), with a score as feedback.
 *
 * @module
 */
import { deepFreeze } from "../json/mod.ts";
import {
  KitError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  PatternError,
  raceSignal,
} from "../llm/mod.ts";
import { fingerprint } from "./fingerprint.ts";
import { judgeDraft } from "./judge.ts";
import {
  checkFunction,
  checkNames,
  checkNumber,
  checkProvider,
  checkText,
  checkWord,
  type PatternResult,
} from "./options.ts";
import { checkCheckpoint } from "./refine_checkpoint.ts";
import {
  DEFAULT_TARGET_SCORE,
  REFINE_NAMES,
  REFINE_TEMPERATURE,
  type RefineCheckpoint,
  type RefineMetadata,
  type RefineOptions,
  type RefineStopReason,
} from "./refine_options.ts";
import { type PatternRun, runPattern } from "./run_pattern.ts";
import { thrownText } from "./text_limits.ts";

const DEFAULT_MAX_ITERATIONS = 5;
const DEFAULT_PATIENCE = 3;
const DEFAULT_DELTA = 0.01;
const SCORE_DIGITS = 2;

/**
 * Makes a draft, scores it, and asks for better ones until one is good enough.
 *
 * Every new draft starts from the best so far. An empty or refused draft scores 0 and is not judged. The judge of Kit's
 * own is a model: its scores can be fooled, and small models judge badly, so bring an `evaluator` where a program can
 * tell good from bad.
 *
 * @example
 * ```ts
 * import { refineLoop } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider(["a first draft", "a much better draft"]);
 * const { value, score, metadata } = await refineLoop(model, "Write a slogan", {
 *   evaluator: (draft) => draft.includes("better") ? 0.95 : 0.4,
 * });
 * assertEquals([value, score, metadata.stopReason], ["a much better draft", 0.95, "target"]);
 * ```
 *
 * @param provider Whom to ask for drafts.
 * @param prompt What is wanted, not blank.
 * @param options How the loop runs.
 * @returns The best draft; `score` is its score.
 * @throws {ConfigError} Code `argument`, before anything is spent; `KitError` code `checkpoint` if `resumeFrom` does
 * not fit.
 * @throws {PatternError} `evaluator` if not even the first draft could be scored; `pattern` if no draft has text.
 * @throws {KitError} Of whatever ends it, `partial` has the metadata, and as `value` the best draft: the one that could not be
 * scored, without `score`, where there is no other.
 */
export async function refineLoop(
  provider: LlmProvider,
  prompt: string,
  options: RefineOptions = {},
): Promise<PatternResult<string, RefineMetadata>> {
  checkProvider(provider);
  checkText("prompt", prompt);
  checkOptions(options);
  const promptDigest = await fingerprint(prompt);
  if (options.resumeFrom !== undefined) checkCheckpoint(options.resumeFrom, promptDigest);
  return await runPattern("refine_loop", options, async (run) => {
    const refinement = new Refinement({ provider, prompt, promptDigest, options, run });
    run.keep((error) => refinement.partial(error));
    return await refinement.refine();
  });
}

function checkOptions(options: RefineOptions): void {
  checkNames("refineLoop", options, REFINE_NAMES);
  checkFunction("option evaluator", options.evaluator);
  checkFunction("option onCheckpoint", options.onCheckpoint);
  if (options.judge !== undefined) checkProvider(options.judge);
  const score = { min: 0, max: 1, integer: false };
  checkNumber("targetScore", options.targetScore ?? DEFAULT_TARGET_SCORE, score);
  checkNumber("maxIterations", options.maxIterations ?? DEFAULT_MAX_ITERATIONS, { min: 0 });
  checkNumber("patience", options.patience ?? DEFAULT_PATIENCE, { min: 1 });
  checkNumber("deltaThreshold", options.deltaThreshold ?? DEFAULT_DELTA, {
    min: 0,
    integer: false,
  });
  checkNumber("maxEvalChars", options.maxEvalChars ?? 1, { min: 1 });
  checkNumber("judgeMaxTokens", options.judgeMaxTokens ?? 1, { min: 1 });
  checkNumber("judgeTemperature", options.judgeTemperature ?? 0, {
    min: 0,
    max: 2,
    integer: false,
  });
  checkWord("onBudget", options.onBudget ?? "return", ["return", "throw"]);
}

interface Draft {
  readonly text: string;
  readonly score: number;
}

/** One refinement under way. */
class Refinement {
  readonly #provider: LlmProvider;
  readonly #prompt: string;
  readonly #promptDigest: string;
  readonly #options: RefineOptions;
  readonly #run: PatternRun;
  #best: Draft | undefined;
  /** The latest draft, until it is scored. */
  #unscored: string | undefined;
  #history: number[] = [];
  #stale = 0;
  #truncated = 0;
  #evaluatorError: string | undefined;

  constructor(parts: {
    readonly provider: LlmProvider;
    readonly prompt: string;
    readonly promptDigest: string;
    readonly options: RefineOptions;
    readonly run: PatternRun;
  }) {
    this.#provider = parts.provider;
    this.#prompt = parts.prompt;
    this.#promptDigest = parts.promptDigest;
    this.#options = parts.options;
    this.#run = parts.run;
    const { resumeFrom } = parts.options;
    if (resumeFrom === undefined) return;
    this.#best = { text: resumeFrom.bestText, score: resumeFrom.bestScore };
    this.#history = [...resumeFrom.scoreHistory];
    this.#stale = resumeFrom.stale;
  }

  async refine(): Promise<PatternResult<string, RefineMetadata>> {
    let reason = this.#reasonToStop();
    while (reason === undefined) {
      try {
        await this.#advance();
        reason = this.#reasonToStop();
      } catch (error) {
        reason = this.#reasonOf(error);
      }
    }
    const best = this.#usable();
    if (best === undefined) {
      throw new PatternError("pattern", "Cannot refine: the model gave no draft with text in it");
    }
    return this.#run.result({ value: best.text, score: best.score, metadata: this.#facts(reason) });
  }

  /** What an error leaves: the best draft, or the one that could not be scored where there is none with text. */
  partial(error: KitError): {
    readonly value: string | undefined;
    readonly score: number | undefined;
  } {
    const best = this.#usable() ?? { text: this.#unscored, score: undefined };
    return { value: best.text, score: best.score, ...this.#facts(partialReason(error)) };
  }

  /** The best draft, if it has text. */
  #usable(): Draft | undefined {
    return this.#best?.text.trim() === "" ? undefined : this.#best;
  }

  #facts(stopReason: RefineStopReason): RefineMetadata {
    return {
      iterations: Math.max(0, this.#history.length - 1),
      stopReason,
      scoreHistory: [...this.#history],
      truncatedResponses: this.#truncated,
      ...(this.#evaluatorError === undefined ? {} : { evaluatorError: this.#evaluatorError }),
    };
  }

  #reasonToStop(): RefineStopReason | undefined {
    const { targetScore = DEFAULT_TARGET_SCORE, patience = DEFAULT_PATIENCE } = this.#options;
    if (this.#best === undefined) return undefined;
    if (this.#best.score >= targetScore) return "target";
    if (this.#stale >= patience) return "plateau";
    const { maxIterations = DEFAULT_MAX_ITERATIONS } = this.#options;
    return this.#history.length > maxIterations ? "max_iterations" : undefined;
  }

  /** What a failure means for the work done so far: it is kept where that makes sense. */
  #reasonOf(error: unknown): RefineStopReason {
    if (this.#usable() === undefined) throw error;
    const code = error instanceof KitError ? error.code : undefined;
    if (code === "evaluator") return "evaluator_failed";
    const spent = code === "budget" || this.#timedOut();
    if (spent && this.#options.onBudget !== "throw") return "budget";
    throw error;
  }

  #timedOut(): boolean {
    return this.#run.signal.aborted && this.#options.signal?.aborted !== true;
  }

  async #advance(): Promise<void> {
    const response = await this.#run.call(this.#provider, this.#messages(), {
      temperature: this.#options.temperature ?? REFINE_TEMPERATURE,
      round: this.#history.length,
    });
    if (response.finishReason === "length") this.#truncated += 1;
    const text = isDraft(response) ? response.content : "";
    this.#unscored = text === "" ? undefined : text;
    const score = text === "" ? 0 : await this.#score(text);
    this.#unscored = undefined;
    this.#take({ text, score });
    await this.#checkpoint({ text, score });
  }

  #messages(): readonly Message[] {
    const { system } = this.#options;
    const best = this.#usable();
    return [
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content: this.#prompt },
      ...(best === undefined ? [] : [
        { role: "assistant", content: best.text } as const,
        { role: "user", content: improvementRequest(best.score) } as const,
      ]),
    ];
  }

  async #score(draft: string): Promise<number> {
    const { evaluator, judge } = this.#options;
    if (evaluator === undefined) {
      const parts = { provider: judge ?? this.#provider, run: this.#run, options: this.#options };
      return await this.#noting(() => judgeDraft(draft, this.#prompt, parts));
    }
    return await this.#noting(async () => {
      const score = await evaluator(draft, {
        task: this.#prompt,
        provider: this.#run.metered(judge ?? this.#provider),
        signal: this.#run.signal,
      });
      if (typeof score === "number" && score >= 0 && score <= 1) return score;
      throw new PatternError(
        "evaluator",
        `Cannot use the score of the evaluator: found ${score}, wanted a number from 0 to 1`,
      );
    });
  }

  /** What goes wrong in an evaluation is told as such, unless the request itself failed. */
  async #noting(evaluate: () => Promise<number>): Promise<number> {
    try {
      return await raceSignal(evaluate(), this.#run.signal);
    } catch (error) {
      if (error instanceof KitError && error.code !== "evaluator") throw error;
      this.#run.signal.throwIfAborted();
      const known = error instanceof KitError ? error : new PatternError(
        "evaluator",
        `Cannot score a draft: the evaluator failed: ${thrownText(error)}`,
        { cause: error },
      );
      this.#evaluatorError = known.message;
      throw known;
    }
  }

  #take(draft: Draft): void {
    const { deltaThreshold = DEFAULT_DELTA } = this.#options;
    const best = this.#best;
    this.#history.push(draft.score);
    if (best === undefined) {
      this.#best = draft;
      return;
    }
    this.#stale = draft.score - best.score > deltaThreshold ? 0 : this.#stale + 1;
    if (draft.score > best.score) this.#best = draft;
  }

  async #checkpoint(current: Draft): Promise<void> {
    const { onCheckpoint, onCheckpointError = "ignore" } = this.#options;
    const best = this.#best;
    if (onCheckpoint === undefined || best === undefined) return;
    const checkpoint: RefineCheckpoint = deepFreeze({
      version: 1,
      promptDigest: this.#promptDigest,
      iteration: this.#history.length - 1,
      bestText: best.text,
      bestScore: best.score,
      currentText: current.text,
      currentScore: current.score,
      scoreHistory: [...this.#history],
      stale: this.#stale,
      usage: { ...this.#run.ledger.spent },
    });
    let stored = true;
    try {
      await onCheckpoint(checkpoint);
    } catch (error) {
      stored = false;
      if (onCheckpointError === "throw") throw error;
    } finally {
      this.#run.point("checkpoint", { name: `draft ${checkpoint.iteration}`, stored });
    }
  }
}

function partialReason({ code }: KitError): RefineStopReason {
  if (code === "budget" || code === "aborted") return code;
  return code === "evaluator" ? "evaluator_failed" : "failed";
}

function isDraft(response: LlmResponse): boolean {
  return response.content.trim() !== "" && response.finishReason !== "refusal";
}

function improvementRequest(score: number): string {
  return `This scored ${
    score.toFixed(SCORE_DIGITS)
  } of 1. Write a better version: improve its quality, ` +
    "completeness and accuracy. Answer with the text alone.";
}
