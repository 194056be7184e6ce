/**
 * Gives every result its one object and its short text, the same at every door.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";
import { countChars, firstChars } from "../machine/format.ts";
import { fit, summaries, traceOf } from "./fit.ts";
import type { CallOptions } from "./host.ts";
import type { Door } from "./options.ts";
import type { Refusal } from "./refusal.ts";
import type { Emitted } from "./result.ts";
import type { RunReport } from "./runs/report.ts";

/** How an object and its text are written. */
export interface EmitOptions {
  /** How much the object says. */
  readonly detail: "summary" | "full";
  /** Most bytes of the object as JSON in UTF-8. */
  readonly maxBytes: number;
  /** The door: at the command line no handle outlives the process. */
  readonly door: Door;
  /** How next-step texts name a tool; absent: the command line. */
  readonly toolName: CallOptions["toolName"] | undefined;
  /** Whether every result must say that no model was asked. */
  readonly scripted?: boolean;
}

/** Most characters of a result in the short text. */
const MAX_RESULT_TEXT = 4000;
/** Most states of a path in the short text. */
const MAX_PATH_STATES = 24;
/** Most characters of one warning or error in the short text. */
const MAX_LINE_CHARS = 1000;
/** Steps of a trace in a summary; the last ones are kept. */
const MAX_SUMMARY_STEPS = 100;

/** The sentence that marks answers without a model. */
export const SCRIPTED_WARNING = "the provider is scripted: no model was asked";

/**
 * Emits a run.
 *
 * @param report What is known of it.
 * @param options How to write it.
 * @returns Object and text.
 */
export function emitRun(report: RunReport, options: EmitOptions): Emitted {
  const trace = traceOf(report.object);
  const whole = {
    ...report.object,
    trace: options.detail === "full" ? trace : summaries(trace, MAX_SUMMARY_STEPS),
    warnings: withScripted(report.warnings, options),
    ...(report.checkpoint === undefined ? {} : { checkpoint: report.checkpoint }),
    ...(report.checkpoint_file === undefined ? {} : { checkpoint_file: report.checkpoint_file }),
    ...(report.reply_via === undefined ? {} : { reply_via: report.reply_via }),
    // A checkpoint file of the reference names neither the run nor who answers.
    ...(options.door === "cli" || report.kept !== true || report.run_id === ""
      ? {}
      : { run: report.run_id }),
    ...(report.provider === "" ? {} : { provider: report.provider }),
  };
  const left = options.detail === "summary" ? trace.length - MAX_SUMMARY_STEPS : 0;
  const shortened = left > 0
    ? { ...whole, truncated: `the first ${left} of ${trace.length} steps are left out` }
    : whole;
  const object = fit(shortened, options.maxBytes);
  const text = runText(report, options);
  return {
    object,
    text,
    isError: false,
    ...subjectOf(report.object),
    ...(report.failure === undefined ? {} : { failure: report.failure }),
  };
}

/** Where it waits, what is asked, where the reply goes, and what was made last. */
function subjectOf(object: JsonObject): Pick<Emitted, "subject"> {
  if (text(object, "status") !== "suspended") return {};
  const asked = ["error", "at", "ask", "reply_to"].map((key) => member(object, key) ?? null);
  return { subject: [...asked, traceOf(object).at(-1) ?? null] };
}

/**
 * Emits a refusal.
 *
 * @param refusal Why.
 * @param options How to write it.
 * @returns Object and text, marked as an error.
 */
export function emitRefusal(refusal: Refusal, options: EmitOptions): Emitted {
  const { slug, errors } = refusal;
  const warnings = withScripted(refusal.warnings, { ...options, scripted: false });
  const object = {
    status: "error",
    error: slug,
    errors,
    warnings,
    result: null,
    usage: null,
    trace: [],
    ...(refusal.run === undefined ? {} : { run: refusal.run }),
  };
  const lines = [
    `error: ${slug}`,
    ...errors.map((error) => `- ${cutLine(error)}`),
    ...warningLines(warnings),
  ];
  return { object, text: lines.join("\n"), isError: true, failure: refusal.failure };
}

function withScripted(
  warnings: readonly string[],
  options: Pick<EmitOptions, "scripted">,
): readonly string[] {
  return options.scripted === true && !warnings.includes(SCRIPTED_WARNING)
    ? [...warnings, SCRIPTED_WARNING]
    : warnings;
}

function runText(report: RunReport, options: EmitOptions): string {
  const { object } = report;
  const status = text(object, "status");
  const error = text(object, "error");
  const at = text(object, "at");
  const head = `status: ${status}${error === "" ? "" : ` (${cutLine(error)})`}` +
    (at === "" ? "" : ` at ${at}`);
  return [
    head,
    ...(status === "done" ? [`result: ${resultText(object)}`] : []),
    ...progressLine(object),
    ...diagnosisLine(object),
    ...askLines(object),
    ...pathLine(object),
    ...tokensLine(object),
    ...nextLines(report, options),
    ...warningLines(withScripted(report.warnings, options)),
  ].join("\n");
}

function resultText(object: JsonObject): string {
  const result = member(object, "result") ?? null;
  const written = typeof result === "string" ? result : JSON.stringify(result);
  const chars = countChars(written);
  if (chars <= MAX_RESULT_TEXT) return written;
  return `${firstChars(written, MAX_RESULT_TEXT)}… (${chars} characters in all, see "result")`;
}

function progressLine(object: JsonObject): readonly string[] {
  const progress = text(object, "progress");
  return progress === "" ? [] : [`progress: ${progress}`];
}

function diagnosisLine(object: JsonObject): readonly string[] {
  const diagnosis = member(object, "diagnosis");
  if (!isJsonObject(diagnosis)) return [];
  const visits = member(diagnosis, "visits");
  return [`most visited: ${text(diagnosis, "most_visited_state")} (${visits} times)`];
}

function askLines(object: JsonObject): readonly string[] {
  if (text(object, "error") !== "escalated") return [];
  const ask = text(object, "ask");
  return [ask === "" ? "a person must reply" : `a person must reply: ${cutLine(ask)}`];
}

function pathLine(object: JsonObject): readonly string[] {
  const trace = traceOf(object).filter(isJsonObject);
  if (trace.length === 0) return [];
  const states = trace.map((step) => text(step, "state"));
  const last = trace.at(-1);
  const end = last === undefined ? "" : text(last, "to") || text(last, "policy");
  const shown = states.length <= MAX_PATH_STATES
    ? states
    : [`… ${states.length - MAX_PATH_STATES} more`, ...states.slice(-MAX_PATH_STATES)];
  const steps = states.length === 1 ? "1 state" : `${states.length} states`;
  return [`path: ${[...shown, end].filter((name) => name !== "").join(" → ")} (${steps})`];
}

function tokensLine(object: JsonObject): readonly string[] {
  const usage = member(object, "usage");
  if (!isJsonObject(usage)) return [];
  return [`tokens: ${member(usage, "input_tokens")} in, ${member(usage, "output_tokens")} out`];
}

/** What to do next, in the words of the door. */
function nextLines(report: RunReport, { toolName }: EmitOptions): readonly string[] {
  const { object, checkpoint } = report;
  const status = text(object, "status");
  if (status === "running") {
    const next = toolName === undefined
      ? "the run goes on"
      : `call ${
        toolName("resume")
      } {"run": "${report.run_id}"} to wait for it, with "cancel": true to stop it`;
    return [`next: ${next}`];
  }
  if (status === "halt") return haltAdvice(text(object, "error"));
  if (status !== "suspended" || checkpoint === undefined) return [];
  const reply = text(object, "reply_to") || "human.reply";
  return [`next: ${suspendedNext(text(object, "error"), { checkpoint, reply, toolName })}`];
}

/** What an author can do about a halt; reasons that speak for themselves have none. */
const HALT_ADVICE: readonly (readonly [reason: string, advice: string])[] = [
  ["no-gate-matched", "end the state's gates with one whose when is otherwise"],
  [
    "judge-unparseable",
    "end the state's gates with one whose when is otherwise, or name a stronger judge",
  ],
  ["loop-ceiling", "raise max_visits of the state, or let it leave the loop"],
  ["budget-exhausted", 'raise "budget" in the machine, or shorten its path'],
  ["cost-exhausted", "allow more tokens"],
  ["work-exhausted", "a machine calls itself without end: give it a way out"],
  ["memory-exhausted", "let states keep less: shorter outputs, and no lists that only grow"],
  ["call-depth-exceeded", "a machine calls itself without end: give it a way out"],
  ["untrusted-control-flow", "let a person confirm before the effect: an escalate gate, and hitl"],
  ["resume-mismatch", "the machine does not fit what was suspended"],
];

function haltAdvice(error: string): readonly string[] {
  const found = HALT_ADVICE.find(([reason]) => error.includes(reason));
  return found === undefined ? [] : [`next: ${found[1]}`];
}

interface Waiting {
  readonly checkpoint: string;
  readonly reply: string;
  readonly toolName: EmitOptions["toolName"];
}

function suspendedNext(reason: string, { checkpoint, reply, toolName }: Waiting): string {
  const quoted = JSON.stringify(checkpoint);
  const call = (members: string): string =>
    `call ${toolName?.("resume")} {"checkpoint": ${quoted}${members}}`;
  const command = (options: string): string => `kit resume ${shellQuoted(checkpoint)}${options}`;
  const mcp = toolName !== undefined;
  if (reason === "escalated") {
    return mcp
      ? `ask the person, then ${call(`, "inputs": {${JSON.stringify(reply)}: "<the reply>"}`)}`
      : command(` --set ${shellQuoted(`${reply}=REPLY`)}`);
  }
  if (reason === "effect-unknown") {
    const happened = mcp
      ? call(', "inputs": {"effect.result": "<what the tool gave>"}')
      : command(" --set effect.result=TEXT");
    const again = mcp
      ? call(', "inputs": {"effect.repeat": true}')
      : command(" --set effect.repeat=true");
    return `find out whether the effect happened; if it did, ${happened}; to do it again, ${again}`;
  }
  if (reason === "cost-exhausted") {
    return mcp
      ? `${call(', "cost_budget": <a larger total>')}`
      : command(" --max-tokens N (a larger total)");
  }
  if (reason === "budget-exhausted") {
    return `the machine's own budget of steps is spent; raise "budget" in the machine and run it again`;
  }
  return mcp ? call("") : command("");
}

function shellQuoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function warningLines(warnings: readonly string[]): readonly string[] {
  return warnings.map((warning) => `warning: ${cutLine(warning)}`);
}

function cutLine(line: string): string {
  return countChars(line) <= MAX_LINE_CHARS ? line : `${firstChars(line, MAX_LINE_CHARS - 1)}…`;
}

function text(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === "string" ? value : "";
}
