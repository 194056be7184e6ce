/**
 * Patterns one after another, on one budget.
 *
 * @module
 */
import { deepFreeze } from "../json/mod.ts";
import {
  ConfigError,
  copyError,
  KitError,
  type LlmProvider,
  subtractUsage,
  type Usage,
} from "../llm/mod.ts";
import {
  checkFunction,
  checkNames,
  checkProvider,
  checkText,
  COMMON_NAMES,
  type PatternOptions,
  type PatternResult,
  requireMethod,
} from "./options.ts";
import { type PatternRun, runPattern } from "./run_pattern.ts";
import { type StepContext, stepContext, valueText } from "./step_context.ts";

/** One step of a pipe. */
export interface PipeStep<T = unknown> {
  /** Its name, for errors and metadata; default `step <number>`. */
  readonly name?: string;
  /**
   * Does the work.
   *
   * @param context What it works with.
   * @param input What the step before gave, as a text.
   */
  run(context: StepContext, input: string): Promise<PatternResult<T>>;
  /** Whether to run at all; default always. A step that is skipped passes its input on. */
  when?(input: string): boolean;
  /** What to hand to the next step; default the value: a text as it is, anything else as JSON text. */
  select?(result: PatternResult<T>): string;
}

/** How a pipe runs. */
export interface PipeOptions extends PatternOptions {
  /** The steps, in order; without any the input is the value. */
  readonly steps: readonly PipeStep[];
}

const PIPE_NAMES = {
  ...COMMON_NAMES,
  steps: true,
} satisfies Record<keyof PipeOptions, true>;

/** What became of a step. */
export interface PipeStepReport {
  /** Its name. */
  readonly name: string;
  /** Whether `when` kept it from running. */
  readonly skipped: boolean;
  /** What it spent. */
  readonly usage: Usage;
  /** How its result came about. */
  readonly metadata?: unknown;
}

/** How a pipe came about. */
export interface PipeMetadata {
  /** How many steps ran. */
  readonly stepCount: number;
  /** Every step, in order. */
  readonly steps: readonly PipeStepReport[];
}

/**
 * Runs steps one after another; each gets what the one before gave.
 *
 * All steps share one account: its budget holds for the whole, whatever a step asks and however.
 *
 * @example
 * ```ts
 * import { consensus, pipe, structured } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider(["Paris", "Paris", "Paris", '{"city": "Paris"}']);
 * const { value, metadata } = await pipe(model, "Capital of France?", {
 *   budget: { maxCalls: 4 },
 *   steps: [
 *     { run: ({ provider, options }, text) => consensus(provider, text, { ...options, numSamples: 3 }) },
 *     { run: ({ provider, options }, text) => structured(provider, `As JSON: ${text}`, options) },
 *   ],
 * });
 * assertEquals([value, metadata.stepCount], [{ city: "Paris" }, 2]);
 * ```
 *
 * @param provider Whom the steps ask.
 * @param input What the first step gets.
 * @param options The steps, the budget, and what else holds for the whole.
 * @returns The value and score of the last step that ran.
 * @throws {KitError} What the failing step threw, with the spending of the whole; `partial` holds the finished steps and
 * the input of the failing one, `details.step` its name.
 */
export async function pipe(
  provider: LlmProvider,
  input: string,
  options: PipeOptions,
): Promise<PatternResult<unknown, PipeMetadata>> {
  checkNames("pipe", options, PIPE_NAMES);
  checkSteps(options.steps);
  checkProvider(provider);
  checkText("input", input);
  return await runPattern("pipe", options, async (run) => {
    const line = new Line(provider, run, options);
    run.keep(() => line.partial(input));
    for (const [index, step] of options.steps.entries()) {
      await line.take(step, { name: step.name ?? `step ${index + 1}`, input });
    }
    return line.end(input);
  });
}

function checkSteps(steps: unknown): void {
  if (!Array.isArray(steps) || steps.some((step) => typeof step !== "object" || step === null)) {
    throw new ConfigError("Cannot use option steps: wanted a list of steps", { code: "argument" });
  }
  for (const step of steps) {
    requireMethod("steps", step, "run");
    checkFunction("a step's when", step.when);
    checkFunction("a step's select", step.select);
  }
}

class Line {
  readonly #context: StepContext;
  readonly #run: PatternRun;
  readonly #reports: PipeStepReport[] = [];
  #latest: { readonly result: PatternResult<unknown>; readonly text: string } | undefined;

  constructor(provider: LlmProvider, run: PatternRun, options: PatternOptions) {
    this.#context = stepContext({ provider, run, options });
    this.#run = run;
  }

  async take(
    step: PipeStep,
    facts: { readonly name: string; readonly input: string },
  ): Promise<void> {
    const input = this.#latest?.text ?? facts.input;
    const before = this.#run.ledger.spent;
    const spent = (): Usage => subtractUsage(this.#run.ledger.spent, before);
    this.#run.signal.throwIfAborted();
    if (step.when?.(input) === false) {
      this.#reports.push({ name: facts.name, skipped: true, usage: spent() });
      return;
    }
    try {
      const result = await step.run(this.#context, input);
      const text = step.select?.(result) ?? valueText(result.value);
      this.#latest = { result, text };
      const { metadata } = result;
      this.#reports.push({ name: facts.name, skipped: false, usage: spent(), metadata });
    } catch (error) {
      this.#reports.push({ name: facts.name, skipped: false, usage: spent() });
      throw error instanceof KitError
        ? copyError(error, { details: { ...error.details, step: facts.name } })
        : error;
    }
  }

  partial(input: string): {
    readonly steps: readonly PipeStepReport[];
    readonly input: string;
  } {
    return { steps: [...this.#reports], input: this.#latest?.text ?? input };
  }

  end(input: string): PatternResult<unknown, PipeMetadata> {
    const result = this.#latest?.result;
    const steps = deepFreeze([...this.#reports]);
    const score = result?.score;
    return this.#run.result({
      value: result === undefined ? input : result.value,
      ...(score === undefined ? {} : { score }),
      metadata: { stepCount: steps.filter((step) => !step.skipped).length, steps },
    });
  }
}
