/**
 * Trace steps while they grow, and the log that keeps them.
 *
 * @module
 */
import { type RunTree, stepSize, traceSize } from "./run_tree.ts";
import type { StepPolicy, TokenCount, TraceStep } from "./trace.ts";

/** What is known of a step so far. */
export interface StepDraft {
  /** The state. */
  readonly state: string;
  /** Its tier. */
  readonly tier: string;
  /** The flow guard was hit. */
  untrustedControlFlow?: boolean;
  /** The output as text. */
  output?: string;
  /** The outputs of branches as texts. */
  branches?: readonly string[];
  /** The thinking. */
  reasoning?: string;
  /** The thinking of the branches. */
  reasonings?: readonly (string | null)[];
  /** Steps of called machines. */
  subTrace?: TraceStep["sub_trace"];
  /** The model was cut off. */
  truncated?: boolean;
  /** The endpoint's word for that. */
  finishReason?: string;
  /** Prompt tokens. */
  tokensIn: number;
  /** Completion tokens. */
  tokensOut: number;
  /** What chose the gate, and how. */
  choice?: ChoiceNotes;
  /** A judge chose with outside data in sight. */
  decisionTainted?: boolean;
  /** The way on which a person's reply came. */
  replyVia?: string;
}

/** What the selection of a gate left behind. */
export interface ChoiceNotes {
  /** What chose. */
  via?: "hook" | "llm" | "otherwise";
  /** The hook. */
  hook?: string;
  /** The model that judged. */
  judgeModel?: string;
  /** How many batches had no true condition. */
  judgeNone?: number;
  /** How a reply was read. */
  judgeParse?: string;
  /** The catch-all was taken for want of a usable reply. */
  judgeFallback?: boolean;
  /** The start of that reply. */
  judgeRaw?: string;
}

/** How a step ended. */
export interface StepEnd {
  /** Steps charged so far. */
  readonly step: number;
  /** The condition that fired, or `null`. */
  readonly gate: string | null;
  /** How. */
  readonly policy: StepPolicy;
  /** Where to. */
  readonly to: string | null;
}

/**
 * Writes a step with its keys in the order of the language.
 *
 * @param draft What is known of it.
 * @param end How it ended.
 * @returns The step.
 */
export function finishStep(draft: StepDraft, end: StepEnd): TraceStep {
  const step: { -readonly [K in keyof TraceStep]?: TraceStep[K] } = {
    state: draft.state,
    tier: draft.tier,
  };
  if (draft.untrustedControlFlow) step.untrusted_control_flow = true;
  if (draft.output !== undefined) step.output = draft.output;
  if (draft.branches !== undefined) step.branches = draft.branches;
  if (draft.reasoning !== undefined) step.reasoning = draft.reasoning;
  if (draft.reasonings !== undefined) step.reasonings = draft.reasonings;
  if (draft.subTrace !== undefined) step.sub_trace = draft.subTrace;
  if (draft.truncated) step.truncated = true;
  if (draft.finishReason !== undefined) step.finish_reason = draft.finishReason;
  if (draft.tokensIn !== 0 || draft.tokensOut !== 0) {
    step.cost = tokenCount(draft.tokensIn, draft.tokensOut);
  }
  if (draft.choice !== undefined) addChoice(step, draft.choice);
  if (draft.decisionTainted) step.decision_tainted = true;
  if (draft.replyVia !== undefined) step.reply_via = draft.replyVia;
  return Object.assign(step, end) as TraceStep;
}

/**
 * Counts tokens in the spelling of results.
 *
 * @param input Prompt tokens.
 * @param output Completion tokens.
 * @returns The count.
 */
export function tokenCount(input: number, output: number): TokenCount {
  return { input_tokens: input, output_tokens: output };
}

/** The steps of one call level, all or the last ones. What it holds is counted in the run's tree. */
export class TraceLog {
  readonly #limit: number;
  readonly #tree: RunTree;
  #steps: TraceStep[];

  /** Makes a log. `limit`: how many steps are kept; `start`: steps of before. */
  constructor(limit: number, tree: RunTree, start: readonly TraceStep[] = []) {
    this.#limit = limit;
    this.#tree = tree;
    this.#steps = limit === 0 ? [] : start.slice(-limit);
    if (this.#steps.length > 0) tree.hold(traceSize(this.#steps));
  }

  /** Adds a step. The steps within it were counted by their own log, and are let go of with it. */
  push(step: TraceStep): void {
    if (this.#limit === 0) return;
    this.#tree.hold(stepSize(step));
    this.#steps.push(step);
    // Let go of old steps in bulk, so that a step costs the same however long the run is.
    if (this.#steps.length >= 2 * this.#limit) this.#trim();
  }

  /** The kept steps, as a list of the caller's own. */
  steps(): TraceStep[] {
    if (this.#steps.length > this.#limit) this.#trim();
    return [...this.#steps];
  }

  #trim(): void {
    const dropped = this.#steps.length - this.#limit;
    this.#tree.hold(-traceSize(this.#steps.slice(0, dropped)));
    this.#steps = this.#steps.slice(dropped);
  }
}

function addChoice(
  step: { -readonly [K in keyof TraceStep]?: TraceStep[K] },
  choice: ChoiceNotes,
): void {
  if (choice.via !== undefined) step.gate_via = choice.via;
  if (choice.hook !== undefined) step.hook = choice.hook;
  if (choice.judgeModel !== undefined) step.judge_model = choice.judgeModel;
  if (choice.judgeNone !== undefined) step.judge_none = choice.judgeNone;
  if (choice.judgeParse !== undefined) step.judge_parse = choice.judgeParse;
  if (choice.judgeFallback) step.judge_fallback = true;
  if (choice.judgeRaw !== undefined) step.judge_raw = choice.judgeRaw;
}
