/**
 * Ends of a run: how they look in the result, in the trace and to an observer.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { notify } from "../llm/mod.ts";
import { countChars, firstChars } from "./format.ts";
import type { Level, LevelStart } from "./level.ts";
import { finishStep, type StepDraft, type StepEnd, tokenCount } from "./steps.ts";
import type { Diagnosis, Frame, RunResult, TraceStep } from "./trace.ts";

const PREVIEW_CHARS = 200;

/**
 * The end of a machine that is done.
 *
 * @param level The level.
 * @param result What it made.
 * @returns The result.
 */
export function done(level: Level, result: JsonValue): RunResult {
  return { ...common(level), status: "done", error: null, result };
}

/**
 * The end of a run that halts.
 *
 * @param level The level.
 * @param error The reason.
 * @param facts `at`: the state, for reasons that have a place; `diagnose`: whether to name the state entered most;
 * `cause`: the error behind it.
 * @returns The result.
 */
export function halt(
  level: Level,
  error: string,
  facts: { readonly at?: string; readonly diagnose?: boolean; readonly cause?: unknown },
): RunResult {
  const diagnosis = facts.diagnose ? diagnose(level) : undefined;
  return {
    ...common(level),
    status: "halt",
    error,
    ...(facts.at === undefined ? {} : { at: facts.at }),
    ...(diagnosis === undefined ? {} : { diagnosis }),
    ...(facts.cause === undefined ? {} : { cause: facts.cause }),
  };
}

/**
 * The end of a run that waits.
 *
 * @param level The level.
 * @param error The reason.
 * @param frames The frames from this level on.
 * @returns The result.
 */
export function suspended(level: Level, error: string, frames: readonly Frame[]): RunResult {
  const last = frames.at(-1);
  return {
    ...common(level),
    status: "suspended",
    error,
    at: last?.state ?? level.at,
    ...(last?.ask === undefined ? {} : { ask: last.ask }),
    ...(last?.reply_to === undefined ? {} : { reply_to: last.reply_to }),
    frames,
  };
}

/**
 * The end of a call that goes too deep.
 *
 * @param start The start that is refused.
 * @returns The result.
 */
export function callDepthExceeded(start: LevelStart): RunResult {
  return neverStarted(start, "call-depth-exceeded");
}

/**
 * The end of a resume whose frame belongs elsewhere.
 *
 * @param start The start that is refused.
 * @param frame The frame.
 * @returns The result.
 */
export function resumeMismatch(start: LevelStart, frame: Frame): RunResult {
  const error = `resume-mismatch: frame for '${frame.machine}'/'${frame.state}' ` +
    `does not fit machine '${start.machine.name}'`;
  return { ...neverStarted(start, error), context: frame.ctx };
}

/**
 * Records a step and tells the observers.
 *
 * @param level The level.
 * @param draft What is known of the step.
 * @param end How it ended.
 */
export function record(level: Level, draft: StepDraft, end: Omit<StepEnd, "step">): void {
  const step = finishStep(draft, { step: level.steps, ...end });
  level.trace.push(step);
  const { onStep, onEvent } = level.shared.options;
  if (onStep !== undefined && level.depth === 0) notify(onStep, step);
  if (onEvent !== undefined) sendStep(level, step);
}

/**
 * Tells the observer that a run is over.
 *
 * @param start What it started with.
 * @param result How it ended.
 */
export function sendFinish(start: LevelStart, result: RunResult): void {
  const { onEvent } = start.shared.options;
  if (onEvent === undefined) return;
  notify(onEvent, {
    type: "run-finished",
    status: result.status,
    error: result.error,
    ...(result.at === undefined ? {} : { at: result.at }),
    tokens: result.usage ?? tokenCount(0, 0),
    machine: start.machine.name,
    depth: start.depth,
  });
}

function common(level: Level): Pick<RunResult, "result" | "usage" | "trace" | "context"> {
  return {
    result: null,
    usage: level.usage(),
    trace: level.trace.steps(),
    context: level.keepContext(),
  };
}

function neverStarted(start: LevelStart, error: string): RunResult {
  const { context } = start;
  return { status: "halt", error, result: null, usage: null, trace: [], context };
}

function diagnose(level: Level): Diagnosis | undefined {
  let most: Diagnosis | undefined;
  for (const [state, visits] of level.visits) {
    if (visits >= 2 && visits > (most?.visits ?? 0)) most = { most_visited_state: state, visits };
  }
  return most;
}

function sendStep(level: Level, step: TraceStep): void {
  const { output, branches, cost, truncated, finish_reason } = step;
  level.emit({
    type: "state-done",
    state: step.state,
    step: step.step,
    gate: step.gate,
    policy: step.policy,
    to: step.to,
    ...(output === undefined ? {} : { output: preview(output) }),
    ...(branches === undefined ? {} : { branches: branches.length }),
    ...(cost === undefined ? {} : { tokens: cost }),
    ...(truncated === undefined ? {} : { truncated }),
    ...(finish_reason === undefined ? {} : { finish_reason }),
  });
}

function preview(text: string): string {
  if (text.length <= PREVIEW_CHARS || countChars(text) <= PREVIEW_CHARS) return text;
  return `${firstChars(text, PREVIEW_CHARS - 1)}…`;
}
