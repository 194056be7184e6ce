/**
 * Asking for the choice of a gate: hooks and judges, until one gate fires or none is left.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { State } from "./document.ts";
import { awaitAnswer, missingTier, tierOf } from "./execute.ts";
import { type Failure, stateFailure, tokensOf } from "./failure.ts";
import { formatValue } from "./format.ts";
import {
  type EligibleGate,
  eligibleGates,
  type GateQuestion,
  nextQuestion,
  readVerdict,
} from "./gates.ts";
import { resolveHook } from "./hooks.ts";
import type { Level } from "./level.ts";
import { requireVerdict, type Verdict } from "./oracle.ts";
import type { ChoiceNotes, StepDraft } from "./steps.ts";

/** What the choice is made of, and how far it has come. */
export interface Choice {
  /** The state. */
  readonly state: State;
  /** Its raw output. */
  readonly result: JsonValue;
  /** What the model thought, for the judge. */
  readonly reasoning: string | undefined;
  /** The step; tokens of judges are added to it. */
  readonly draft: StepDraft;
  /** Where to go on among the eligible gates. */
  from: number;
  /** What the trace will say of the choice. */
  readonly notes: ChoiceNotes;
}

/** How a choice ends. */
export type Selection =
  | {
    /** A gate fires. */
    readonly kind: "fired";
    /** The gate. */
    readonly chosen: EligibleGate;
  }
  | {
    /** No gate fires, or the judge's reply is no use. */
    readonly kind: "no-gate-matched" | "judge-unparseable";
  }
  | {
    /** The token budget forbids the next judge call. */
    readonly kind: "exhausted";
  }
  | Failure;

const eligibleByState = new WeakMap<State, readonly EligibleGate[]>();

/**
 * Chooses a gate, reading them from the left.
 *
 * @param level Where.
 * @param choice What it is made of; advanced as verdicts come.
 * @returns The gate, or why there is none.
 */
export async function selectGate(level: Level, choice: Choice): Promise<Selection> {
  const { state, notes } = choice;
  const eligible = eligibleOf(level, state);
  if (eligible.length === 0) return { kind: "no-gate-matched" };
  const tier = tierOf(level.machine, state);
  const model = level.shared.oracle.judgeModel(tier);
  if (model === undefined) return stateFailure(missingTier(level, tier));
  for (;;) {
    const question = nextQuestion(eligible, choice.from);
    if (question.kind === "end") return { kind: "no-gate-matched" };
    if (question.kind === "otherwise") {
      notes.via = "otherwise";
      return fired(eligible, question.at);
    }
    if (question.kind === "hook") {
      const verdict = await askHook(level, choice, question.hook);
      if (typeof verdict !== "boolean") return verdict;
      if (verdict) {
        notes.via = "hook";
        notes.hook = question.hook;
        return fired(eligible, question.at);
      }
      choice.from++;
      continue;
    }
    if (level.cap !== undefined && level.spent >= level.cap) return { kind: "exhausted" };
    const verdict = await askJudge(level, choice, { eligible, question });
    if (verdict.kind === "error") return verdict;
    const outcome = readVerdict(eligible, question, {
      verdict: batchVerdict(verdict),
      model,
      notes,
    });
    if (outcome.kind === "unparseable") return { kind: "judge-unparseable" };
    if (outcome.kind === "fired") return fired(eligible, outcome.at);
    choice.from = question.next;
  }
}

function eligibleOf(level: Level, state: State): readonly EligibleGate[] {
  const spent = level.repairs.get(state.id);
  if (spent !== undefined) return eligibleGates(state.gates, spent);
  let all = eligibleByState.get(state);
  if (all === undefined) {
    all = eligibleGates(state.gates);
    eligibleByState.set(state, all);
  }
  return all;
}

function fired(eligible: readonly EligibleGate[], at: number): Selection {
  const chosen = eligible[at];
  return chosen === undefined ? { kind: "no-gate-matched" } : { kind: "fired", chosen };
}

async function askHook(level: Level, choice: Choice, name: string): Promise<boolean | Failure> {
  const hook = resolveHook(name, level.shared.options.hooks);
  if (hook === undefined) {
    return stateFailure(
      new Error(`hook: unknown hook '${name}' (this host has none of that name)`),
    );
  }
  try {
    const { machine, context, path } = level;
    const answer = hook(context, choice.result, {
      machine: machine.name,
      state: choice.state.id,
      path: path + choice.state.id,
    });
    const verdict: unknown = await awaitAnswer(level, answer);
    return typeof verdict === "boolean"
      ? verdict
      : stateFailure(new TypeError("hook: not a boolean"));
  } catch (cause) {
    return stateFailure(cause);
  }
}

async function askJudge(
  level: Level,
  choice: Choice,
  batch: {
    readonly eligible: readonly EligibleGate[];
    readonly question: GateQuestion & { readonly kind: "judge" };
  },
): Promise<Verdict | Failure> {
  const { state, result, reasoning, draft } = choice;
  const { at, next } = batch.question;
  let verdict: Verdict;
  try {
    const answer = level.shared.oracle.judge({
      machine: level.machine.name,
      state: state.id,
      depth: level.depth,
      path: level.path + state.id,
      conditions: batch.eligible.slice(at, next).map(({ gate }) => gate.when),
      output: formatValue(result),
      ...(reasoning === undefined ? {} : { reasoning }),
      context: level.context,
      tier: tierOf(level.machine, state),
      signal: level.shared.signal,
    });
    verdict = requireVerdict(await awaitAnswer(level, answer));
  } catch (cause) {
    const tokens = tokensOf(cause);
    level.charge(tokens.input, tokens.output);
    return stateFailure(cause);
  }
  const { input, output } = verdict.tokens;
  level.charge(input, output);
  if (isUsable(verdict, next - at)) {
    draft.tokensIn += input;
    draft.tokensOut += output;
  }
  return verdict;
}

/** Tokens of an unusable reply count for the run, but the step's cost lists only what its gate was chosen by. */
function isUsable(verdict: Verdict, size: number): boolean {
  return verdict.kind === "choice" && Number.isInteger(verdict.index) && verdict.index >= 0 &&
    verdict.index <= size;
}

function batchVerdict(
  verdict: Verdict,
): { readonly index: number; readonly method?: string | undefined } | { readonly raw: string } {
  return verdict.kind === "choice"
    ? { index: verdict.index, method: verdict.method }
    : { raw: verdict.raw };
}
