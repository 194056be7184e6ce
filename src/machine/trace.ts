// deno-lint-ignore-file camelcase -- the language fixes these names: results, traces and frames are stored as they are
/**
 * What a run gives back: the result, one trace step for each state that was executed, and the frames of a suspended
 * run. All of it is plain JSON in the spelling that the language fixes.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";

/** Tokens as results and traces count them. */
export interface TokenCount {
  /** Prompt tokens. */
  readonly input_tokens: number;
  /** Completion tokens, thinking included. */
  readonly output_tokens: number;
}

/** What decided how a step ended: the policy of the gate that fired, or why none did. */
export type StepPolicy =
  | "ok"
  | "repair"
  | "escalate"
  | "fail"
  | "no-gate-matched"
  | "judge-unparseable"
  | "call-failed"
  | "untrusted-control-flow"
  | "cost-exhausted"
  | "work-exhausted"
  | "memory-exhausted";

/** One executed state. Keys appear in this order; those that do not apply are absent. */
export interface TraceStep {
  /** The state. */
  readonly state: string;
  /** Its tier, or the machine's default. */
  readonly tier: string;
  /** Present if an effectful tool was reached by a decision that outside data swayed. */
  readonly untrusted_control_flow?: true;
  /** What a single execution gave, as text. */
  readonly output?: string;
  /** What the branches of a fan-out gave, as texts, in the order of the list. */
  readonly branches?: readonly string[];
  /** What the model thought before it answered. */
  readonly reasoning?: string;
  /** The same for the branches of a fan-out, `null` where there was none. */
  readonly reasonings?: readonly (string | null)[];
  /** The steps of a called machine; of a fan-out, one list for each branch that called one. */
  readonly sub_trace?: readonly TraceStep[] | readonly (readonly TraceStep[])[];
  /** Present if the model was cut off at its output limit. */
  readonly truncated?: true;
  /** The endpoint's word for that. */
  readonly finish_reason?: string;
  /** Tokens of the step, its judge calls and sub-runs included; absent if none. */
  readonly cost?: TokenCount;
  /** What chose the gate. */
  readonly gate_via?: "hook" | "llm" | "otherwise";
  /** The hook that chose it. */
  readonly hook?: string;
  /** The model that judged. */
  readonly judge_model?: string;
  /** How many judge calls found no condition true. */
  readonly judge_none?: number;
  /** Present if the reply of the judge was read by another rule than strict JSON. */
  readonly judge_parse?: string;
  /** Present if the judge's reply could not be used and the catch-all was taken instead. */
  readonly judge_fallback?: true;
  /** The start of such a reply. */
  readonly judge_raw?: string;
  /** Present if a judge chose while data from outside the run was in sight. */
  readonly decision_tainted?: true;
  /** Present on the first step after a person replied: the way on which the reply came. */
  readonly reply_via?: string;
  /** Steps charged so far, this one included. */
  readonly step: number;
  /** The condition of the gate that fired, or `null`. */
  readonly gate: string | null;
  /** How it ended. */
  readonly policy: StepPolicy;
  /** The next state or `END`, or `null`. */
  readonly to: string | null;
}

/** The state that a run came back to most often. */
export interface Diagnosis {
  /** The state. */
  readonly most_visited_state: string;
  /** How often it was entered, at least 2. */
  readonly visits: number;
}

/** How a run ended, or where it waits. */
export interface RunResult {
  /** `done`, `halt` or `suspended`. */
  readonly status: "done" | "halt" | "suspended";
  /** `null` if done, else a fixed word, some followed by a colon and a text for people. */
  readonly error: string | null;
  /** What the machine made; `null` unless done. */
  readonly result: JsonValue;
  /** Tokens of all calls, failed ones included; `null` if the run never started. */
  readonly usage: TokenCount | null;
  /** The executed states, in order. */
  readonly trace: readonly TraceStep[];
  /** Where the run stopped, for the reasons that have a place. */
  readonly at?: string;
  /** For an exhausted budget: the state that was entered most, if any was entered twice. */
  readonly diagnosis?: Diagnosis;
  /** What to ask a person, literally. */
  readonly ask?: string;
  /** Where the reply goes. */
  readonly reply_to?: string;
  /** The context at the end; not part of the wire form. */
  readonly context: JsonObject;
  /** Where a suspended run goes on, outermost call first; not part of the wire form. */
  readonly frames?: readonly Frame[];
  /** The error behind a halt, for callers that branch on its code; not part of the wire form. */
  readonly cause?: unknown;
}

/** One call level of a run that waits. JSON throughout. */
export interface Frame {
  /** The machine. */
  readonly machine: string;
  /** The state to run on resume: the handler of an escalation, the call state in an outer frame. */
  readonly state: string;
  /** The whole context. */
  readonly ctx: JsonObject;
  /** Steps charged, an unfinished call excluded. */
  readonly steps: number;
  /** Prompt tokens so far, an unfinished call excluded. */
  readonly total_in: number;
  /** Completion tokens so far, an unfinished call excluded. */
  readonly total_out: number;
  /** Repair feedback that waits for the state. */
  readonly feedback: string;
  /** Spent repairs: state, index of the gate, how many are left. */
  readonly repair_left: readonly (readonly [state: string, gate: number, left: number])[];
  /** Steps so far. */
  readonly trace: readonly TraceStep[];
  /** Keys that are not the author's, sorted; absent: all keys. */
  readonly tainted?: readonly string[];
  /** Keys from outside the run, sorted; absent: as `tainted`. */
  readonly external?: readonly string[];
  /** Whether outside data swayed where the run is; absent: it did. */
  readonly flow_tainted?: boolean;
  /** How often states were entered; absent: never. */
  readonly visits?: Readonly<Record<string, number>>;
  /** Where the reply of a person goes. */
  readonly reply_to?: string;
  /** What to ask, if authored. */
  readonly ask?: string;
  /** Paths written at the last resume, sorted. */
  readonly resume_injected?: readonly string[];
  /** The way on which a person's reply came: `cli`, `elicitation` or `argument`. */
  readonly reply_via?: string;
  /** What an execution of `state` had made when the token budget stopped it half way. */
  readonly pending?: JsonObject;
}

/** What happens in a run, as it happens. Every event names the machine and its call depth, 0 for the root. */
export type MachineEvent =
  & {
    /** The machine. */
    readonly machine: string;
    /** How deep in calls, 0 for the root. */
    readonly depth: number;
  }
  & (
    | {
      /** A run, or a run within it, starts or goes on. */
      readonly type: "run-start";
      /** The state it starts at. */
      readonly entry: string;
      /** Whether it was suspended before. */
      readonly resumed: boolean;
    }
    | {
      /** A state is entered. */
      readonly type: "state-start";
      /** The state. */
      readonly state: string;
      /** Its number. */
      readonly step: number;
      /** Its kind. */
      readonly kind: "generative" | "call" | "tool";
      /** Its tier. */
      readonly tier: string;
    }
    | {
      /** A branch of a fan-out is over; in the order in which they end. */
      readonly type: "branch-done";
      /** The state. */
      readonly state: string;
      /** The branch, from 0. */
      readonly index: number;
      /** What it cost. */
      readonly tokens: TokenCount;
    }
    | {
      /** An effectful tool is reached by a decision that outside data swayed. */
      readonly type: "untrusted-control-flow";
      /** The state. */
      readonly state: string;
      /** The tool. */
      readonly tool: string;
      /** What is done about it. */
      readonly policy: "report" | "halt";
    }
    | {
      /** A step was recorded. */
      readonly type: "state-done";
      /** The state. */
      readonly state: string;
      /** Steps charged so far. */
      readonly step: number;
      /** The condition that fired, or `null`. */
      readonly gate: string | null;
      /** How the step ended. */
      readonly policy: StepPolicy;
      /** The next state, `END` or `null`. */
      readonly to: string | null;
      /** The start of the output, at most 200 characters. */
      readonly output?: string;
      /** How many branches there were. */
      readonly branches?: number;
      /** What it cost, if anything. */
      readonly tokens?: TokenCount;
      /** Present if the model was cut off. */
      readonly truncated?: true;
      /** The endpoint's word for that. */
      readonly finish_reason?: string;
    }
    | {
      /** A run is over; not sent for a run within another that is suspended. */
      readonly type: "run-finished";
      /** How. */
      readonly status: RunResult["status"];
      /** Why, or `null`. */
      readonly error: string | null;
      /** Where, if it has a place. */
      readonly at?: string;
      /** What it cost. */
      readonly tokens: TokenCount;
    }
  );

/**
 * The wire form of a result: exactly the keys of the language, in their order.
 *
 * @example
 * ```ts
 * import { createScriptedOracle, resultObject, runMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: Greet everybody.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const run = await runMachine(source, { oracle: createScriptedOracle({ produce: ["Hello!"] }) });
 * const { status, result } = resultObject(run);
 * assertEquals([status, result], ["done", "Hello!"]);
 * ```
 *
 * @param result How a run ended.
 * @returns A JSON object without context, frames and cause.
 */
export function resultObject(result: RunResult): JsonObject {
  const { status, error, usage, trace, at, diagnosis, ask, reply_to } = result;
  const object: Record<string, unknown> = { status, error, result: result.result, usage, trace };
  if (at !== undefined) object.at = at;
  if (diagnosis !== undefined) object.diagnosis = diagnosis;
  if (ask !== undefined) object.ask = ask;
  if (reply_to !== undefined) object.reply_to = reply_to;
  // Every member above is JSON by its type; interfaces lack the index signature that would say so.
  return object as JsonObject;
}
