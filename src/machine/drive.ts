/**
 * The loop of a run: guards, one state, its gate, where to go next. All decisions that depend on nothing but their
 * arguments are made elsewhere; here is what waits and what counts.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { Gate, State } from "./document.ts";
import { execute, hasEffect, type Outcome, tierOf } from "./execute.ts";
import { type Failure, stateFailure, UnknownStateError } from "./failure.ts";
import {
  type Branches,
  branchesFromJson,
  branchesToJson,
  gatherBranches,
  planBranches,
  runBranches,
} from "./fan_out.ts";
import { formatValue } from "./format.ts";
import { askingFrame, levelFrame, takeFrames } from "./frames.ts";
import { Level, type LevelStart } from "./level.ts";
import { pendingChoice, pendingToJson } from "./pending.ts";
import {
  callDepthExceeded,
  done,
  halt,
  record,
  resumeMismatch,
  sendFinish,
  suspended,
} from "./outcome.ts";
import { type Choice, selectGate } from "./select_gate.ts";
import { traceSize, type TreeLimit } from "./run_tree.ts";
import type { StepDraft } from "./steps.ts";
import { depositIsExternal } from "./taint.ts";
import type { RunResult } from "./trace.ts";
import { transition } from "./transition.ts";

/** How deep calls may go; the root is 0. */
export const MAX_CALL_DEPTH = 8;

/**
 * Runs one call level from its start, or from its frame, to its end.
 *
 * @param start What it starts with.
 * @returns How it ended.
 */
export async function runLevel(start: LevelStart): Promise<RunResult> {
  const refused = refusal(start);
  if (refused !== undefined) {
    sendFinish(start, refused);
    return refused;
  }
  const level = new Level(start);
  level.emit({ type: "run-start", entry: level.at, resumed: start.frames !== undefined });
  const result = await loop(level);
  if (start.depth > 0) level.release();
  if (result.status !== "suspended" || start.depth === 0) sendFinish(start, result);
  return result;
}

function refusal(start: LevelStart): RunResult | undefined {
  if (start.depth > MAX_CALL_DEPTH) return callDepthExceeded(start);
  const frame = start.frames?.[0];
  if (frame === undefined) return undefined;
  const fits = frame.machine === start.machine.name && start.machine.states.has(frame.state);
  return fits ? undefined : resumeMismatch(start, frame);
}

async function loop(level: Level): Promise<RunResult> {
  for (let first = true;; first = false) {
    const pause = level.shared.breathe();
    if (pause !== undefined) await pause;
    const stop = guard(level);
    if (stop !== undefined) return stop;
    if (!first) await settle(level);
    const end = await step(level);
    if (end !== undefined) return end;
  }
}

/** What is checked before a state, in the order of the language. */
function guard(level: Level): RunResult | undefined {
  if (isCancelled(level)) return halt(level, "cancelled", { at: level.at });
  // A state that was stopped half way is charged already.
  const charged = isCharged(level);
  if (!charged && level.steps >= level.machine.budget) return exhausted(level, "budget-exhausted");
  if (level.cap !== undefined && level.spent >= level.cap) {
    return exhausted(level, "cost-exhausted");
  }
  const limit = level.shared.tree.refuse(level.depth);
  if (limit !== undefined) return halt(level, limit, { at: level.at, diagnose: true });
  const most = level.machine.states.get(level.at)?.maxVisits;
  if (!charged && most !== undefined && level.visitsOf(level.at) >= most) {
    return halt(level, "loop-ceiling", { at: level.at });
  }
  return undefined;
}

function isCancelled(level: Level): boolean {
  if (level.shared.signal.aborted) return true;
  try {
    return level.shared.options.cancelRequested?.() === true;
  } catch {
    return false;
  }
}

function isCharged(level: Level): boolean {
  return level.pending?.kind === "choice";
}

function exhausted(level: Level, error: string): RunResult {
  if (!level.suspend.budget) return halt(level, error, { diagnose: true });
  return suspended(level, error, [levelFrame(level, { inCall: false }), ...(level.deeper ?? [])]);
}

/** Branches have no caller to go back to, so nothing within them is a point to resume from. */
async function settle(level: Level): Promise<void> {
  const { onSettled } = level.shared.options;
  if (onSettled === undefined || (level.depth > 0 && level.caller === undefined)) return;
  let root = level;
  while (root.caller !== undefined) root = root.caller;
  if (root.depth > 0) return;
  await onSettled({ at: level.at, steps: root.steps, frames: () => takeFrames(level) });
}

async function step(level: Level): Promise<RunResult | undefined> {
  const state = level.machine.states.get(level.at);
  if (state === undefined) {
    const cause = new UnknownStateError(`unknown state '${level.at}'`);
    return halt(level, `state-error: ${cause.message}`, { at: level.at, cause });
  }
  const { pending, deeper, replyVia } = level;
  level.pending = undefined;
  level.deeper = undefined;
  level.replyVia = undefined;
  const draft: StepDraft = {
    state: state.id,
    tier: tierOf(level.machine, state),
    tokensIn: 0,
    tokensOut: 0,
    ...(replyVia === undefined ? {} : { replyVia }),
  };
  const resumed = pending?.kind === "choice" ? pendingChoice(pending, state) : undefined;
  if (resumed !== undefined) {
    level.shared.tree.hold(traceSize(resumed.draft.subTrace));
    return await decide(level, resumed);
  }
  level.visits.set(state.id, level.visitsOf(state.id) + 1);
  if (deeper !== undefined && state.kind !== "call") {
    const error = `resume-mismatch: state '${state.id}' is not a call`;
    return halt(level, error, { at: state.id });
  }
  const { id, kind } = state;
  level.emit({ type: "state-start", state: id, step: level.steps + 1, kind, tier: draft.tier });
  const refused = guardFlow(level, state, draft);
  if (refused !== undefined) return refused;
  if (state.sample !== undefined || state.over !== undefined) {
    return await fanOut(level, { state, draft, known: branchesFromJson(pending?.branches) });
  }
  return await single(level, { state, draft, deeper });
}

/** An effectful tool is not reached unnoticed by a decision that data from outside swayed. */
function guardFlow(level: Level, state: State, draft: StepDraft): RunResult | undefined {
  if (state.kind !== "tool" || !level.flowTainted || !hasEffect(level, state)) return undefined;
  const policy = level.shared.options.onUntrustedFlow ?? "report";
  draft.untrustedControlFlow = true;
  level.emit({ type: "untrusted-control-flow", state: state.id, tool: state.tool, policy });
  if (policy === "report") return undefined;
  record(level, draft, { gate: null, policy: "untrusted-control-flow", to: null });
  return halt(level, "untrusted-control-flow", { at: state.id });
}

async function single(
  level: Level,
  work: {
    readonly state: State;
    readonly draft: StepDraft;
    readonly deeper: Level["deeper"];
  },
): Promise<RunResult | undefined> {
  const { state, draft } = work;
  const cap = level.remaining;
  level.steps++;
  level.shared.tree.countStep(level.depth);
  const outcome = await execute(level, state, {
    scope: (key) => level.value(key),
    tainted: level.tainted,
    feedback: level.feedback,
    cap,
    suspend: level.suspend,
    frames: work.deeper,
  });
  if (outcome.kind === "suspended") {
    const frames = [levelFrame(level, { inCall: true }), ...outcome.frames];
    return suspended(level, outcome.error, frames);
  }
  level.charge(outcome.tokens.input, outcome.tokens.output);
  if (outcome.kind === "error") return fail(level, outcome);
  draft.tokensIn = outcome.tokens.input;
  draft.tokensOut = outcome.tokens.output;
  if (outcome.subTrace !== undefined) draft.subTrace = outcome.subTrace;
  if (outcome.kind === "call-failed") {
    record(level, draft, { gate: null, policy: "call-failed", to: null });
    const { cause } = outcome;
    return halt(level, `call-failed: ${outcome.error}`, { at: state.id, cause });
  }
  describe(draft, outcome);
  level.feedback = "";
  return await finish(level, { state, result: outcome.value, reasoning: outcome.reasoning, draft });
}

function describe(draft: StepDraft, made: Outcome & { readonly kind: "made" }): void {
  const { value, reasoning, truncated, finishReason } = made;
  draft.output = typeof value === "string" ? value : formatValue(value);
  if (reasoning !== undefined) draft.reasoning = reasoning;
  if (truncated) draft.truncated = true;
  if (finishReason !== undefined) draft.finishReason = finishReason;
}

async function fanOut(
  level: Level,
  work: {
    readonly state: State;
    readonly draft: StepDraft;
    readonly known: ReturnType<typeof branchesFromJson>;
  },
): Promise<RunResult | undefined> {
  const { state, draft, known } = work;
  const plan = planBranches(level, state);
  if ("kind" in plan) return fail(level, plan);
  const branches = await runBranches(level, state, { ...plan, known });
  if (branches.stopped === "cancelled") return halt(level, "cancelled", { at: state.id });
  if (branches.stopped !== undefined) {
    return stopFanOut(level, work, { ...branches, stopped: branches.stopped });
  }
  level.steps += Math.max(1, plan.count);
  level.feedback = "";
  const { value, reasoning } = gatherBranches(state, branches, draft);
  level.shared.tree.hold(-branches.held);
  return await finish(level, { state, result: value, reasoning, draft });
}

/** A limit was reached before all branches were started: what they gave is kept, in the frame or in the trace. */
function stopFanOut(
  level: Level,
  work: { readonly state: State; readonly draft: StepDraft },
  branches: Branches & { readonly stopped: "cost-exhausted" | TreeLimit },
): RunResult {
  const { state, draft } = work;
  const { stopped } = branches;
  if (stopped === "cost-exhausted" && level.suspend.budget) {
    level.visits.set(state.id, level.visitsOf(state.id) - 1);
    level.pending = { kind: "branches", branches: branchesToJson(branches.results) };
    return exhausted(level, "cost-exhausted");
  }
  level.steps += Math.max(1, branches.results.length);
  gatherBranches(state, branches, draft);
  level.shared.tree.hold(-branches.held);
  record(level, draft, { gate: null, policy: stopped, to: null });
  if (stopped === "cost-exhausted") return exhausted(level, stopped);
  return halt(level, stopped, { at: state.id, diagnose: true });
}

async function finish(
  level: Level,
  made: {
    readonly state: State;
    readonly result: JsonValue;
    readonly reasoning: string | undefined;
    readonly draft: StepDraft;
  },
): Promise<RunResult | undefined> {
  const { state, result, draft } = made;
  try {
    level.deposit(state.output, result, { accumulate: state.accumulate });
  } catch (cause) {
    return failStep(level, draft, stateFailure(cause));
  }
  if (depositIsExternal(level, state)) level.external.add(state.output);
  return await decide(level, { ...made, from: 0, notes: {} });
}

async function decide(level: Level, choice: Choice): Promise<RunResult | undefined> {
  const { state, draft, notes } = choice;
  const selection = await selectGate(level, choice);
  switch (selection.kind) {
    case "error":
      return failStep(level, draft, selection);
    case "exhausted":
      return stopChoice(level, choice);
    case "no-gate-matched":
      record(level, draft, { gate: null, policy: "no-gate-matched", to: null });
      return halt(level, "no-gate-matched", { at: state.id });
    case "judge-unparseable":
      draft.choice = { judgeFallback: true };
      record(level, draft, { gate: null, policy: "judge-unparseable", to: null });
      return halt(level, "judge-unparseable", { at: state.id });
    case "fired": {
      const { gate, index } = selection.chosen;
      draft.choice = notes;
      updateFlowTaint(level, draft);
      record(level, draft, { gate: gate.when, policy: gate.policy, to: gate.to ?? null });
      return move(level, choice, { gate, index });
    }
  }
}

function stopChoice(level: Level, choice: Choice): RunResult {
  const { draft, notes } = choice;
  if (level.suspend.budget) {
    level.pending = pendingToJson(choice);
  } else {
    draft.choice = notes;
    record(level, draft, { gate: null, policy: "cost-exhausted", to: null });
  }
  return exhausted(level, "cost-exhausted");
}

/** Taint follows the choice, not only the text: a judge that saw data from outside taints where the run goes. */
function updateFlowTaint(level: Level, draft: StepDraft): void {
  const notes = draft.choice;
  if (notes?.via === "hook") {
    level.flowTainted = false;
    return;
  }
  const judged = notes?.judgeModel !== undefined || notes?.judgeFallback === true;
  if (judged && level.external.size > 0) {
    level.flowTainted = true;
    draft.decisionTainted = true;
  }
}

function move(
  level: Level,
  choice: Choice,
  fired: { readonly gate: Gate; readonly index: number },
): RunResult | undefined {
  const { gate, index } = fired;
  const next = transition(gate, { escalateSuspend: level.suspend.person });
  if (gate.policy === "repair" && gate.repairLimit !== undefined) {
    level.spendRepair(choice.state.id, index, gate.repairLimit);
  }
  switch (next.kind) {
    case "halt":
      return halt(level, next.error, { at: choice.state.id });
    case "done": {
      const key = level.machine.result;
      return done(level, key === undefined ? choice.result : level.value(key) ?? null);
    }
    case "suspend": {
      level.at = next.to;
      return suspended(level, "escalated", [askingFrame(level, gate)]);
    }
    case "go":
      level.at = next.to;
      level.feedback = next.feedback;
      return undefined;
  }
}

/** Fails after the work: the step is in no trace, so the steps within it are let go of. */
function failStep(level: Level, draft: StepDraft, failure: Failure): RunResult {
  level.shared.tree.hold(-traceSize(draft.subTrace));
  return fail(level, failure);
}

function fail(level: Level, failure: Failure): RunResult {
  const { error, cause } = failure;
  if (level.shared.signal.aborted) return halt(level, "cancelled", { at: level.at, cause });
  return halt(level, error, { at: level.at, cause });
}
