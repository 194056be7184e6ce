/**
 * Shows a run: a line of progress while it goes on, then what came of it.
 *
 * @module
 */
import type { CallProgress, Emitted } from "../host/mod.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type { Invocation } from "./command.ts";
import { statusStyle } from "./envelope.ts";
import { EXIT, exitCodeOf } from "./exit_codes.ts";
import { type Output, printable } from "./output.ts";
import { shownPlace } from "./store_place.ts";

const CLEAR_LINE = "\r\x1b[2K";

/** The line of progress on the standard error; nothing where nobody looks. */
export class ProgressLine {
  readonly #out: Output;
  #shown = false;

  /** Shows on `out`. */
  constructor(out: Output) {
    this.#out = out;
  }

  /** Shows how far a call has come. */
  show({ message }: CallProgress): void {
    if (!this.#out.errorIsTerminal) return;
    this.#shown = true;
    const text = [...printable(message).replaceAll("\n", " ")].slice(0, this.#out.columns - 1);
    void this.#out.rawError(`${CLEAR_LINE}${this.#out.styleError("dim", text.join(""))}`);
  }

  /** Takes the line away. */
  async clear(): Promise<void> {
    if (this.#shown) await this.#out.rawError(CLEAR_LINE);
    this.#shown = false;
  }
}

/**
 * Prints what came of a run or a resume.
 *
 * @param emitted What the host gave.
 * @param invocation How to print.
 * @param label The machine, for people.
 * @returns The exit code.
 */
export async function printRun(
  emitted: Emitted,
  invocation: Invocation,
  label: string,
): Promise<number> {
  const { format, out } = invocation;
  const { object } = emitted;
  if (!emitted.isError) {
    for (const warning of textsOf(object, "warnings")) {
      await out.error(out.styleError("yellow", `# warning: ${printable(warning)}`));
    }
  }
  if (format === "json") await out.json(object);
  else if (emitted.isError) await printProblems(emitted, out, label);
  else await printOutcome(object, invocation, label);
  if (emitted.failure === "budget") return EXIT.budget;
  if (emitted.isError) return emitted.failure === "config" ? EXIT.provider : EXIT.usage;
  return exitCodeOf({ status: textOf(object, "status"), error: textOf(object, "error") });
}

async function printProblems(emitted: Emitted, out: Output, label: string): Promise<void> {
  const word = emitted.failure === "load" ? "ERROR" : "error";
  for (const text of textsOf(emitted.object, "errors")) {
    await out.error(`${printable(label)}: ${out.styleError("red", `${word}:`)} ${printable(text)}`);
  }
  for (const text of textsOf(emitted.object, "warnings")) {
    await out.error(
      `${printable(label)}: ${out.styleError("yellow", "warning:")} ${printable(text)}`,
    );
  }
}

async function printOutcome(
  object: JsonObject,
  invocation: Invocation,
  label: string,
): Promise<void> {
  const { out } = invocation;
  const status = textOf(object, "status");
  const provider = textOf(object, "provider");
  const head = [out.style(statusStyle(status), status), label, provider].filter((part) =>
    part !== ""
  );
  await out.line(head.join(" · "));
  const path = pathOf(member(object, "trace"));
  if (path !== "") await out.line(out.style("dim", `path: ${path}`));
  const error = textOf(object, "error");
  if (error !== "") {
    await out.line(`${status === "suspended" ? "waits" : "error"}: ${printable(error)}`);
  }
  await printWhere(object, out);
  await out.line(out.style("dim", spent(object)));
  if (status === "done") await out.line(`\n${printable(resultText(member(object, "result")))}`);
  await printNext(object, invocation);
}

async function printWhere(object: JsonObject, out: Output): Promise<void> {
  const at = textOf(object, "at");
  if (at !== "") await out.line(`at: ${printable(at)}`);
  const diagnosis = member(object, "diagnosis");
  if (isJsonObject(diagnosis)) {
    const state = member(diagnosis, "most_visited_state");
    await out.line(`most visited: ${state} (${member(diagnosis, "visits")} times)`);
  }
}

async function printNext(object: JsonObject, { args, out }: Invocation): Promise<void> {
  const ask = textOf(object, "ask");
  if (ask !== "") await out.line(`\n${out.style("bold", printable(ask))}`);
  const checkpoint = textOf(object, "checkpoint");
  if (checkpoint === "") return;
  await out.line(`checkpoint: ${printable(checkpoint)}`);
  const place = args.has("checkpoint") ? undefined : args.value("store");
  const store = place === undefined ? "" : ` --store ${quoted(shownPlace(place))}`;
  await out.line(`go on with: ${nextCommand(object, checkpoint)}${store}`);
}

function nextCommand(object: JsonObject, checkpoint: string): string {
  const command = `kit resume ${quoted(checkpoint)}`;
  switch (textOf(object, "error")) {
    case "cost-exhausted":
      return `${command} --max-tokens MORE-IN-TOTAL`;
    case "budget-exhausted":
      return `a larger budget in the machine, then ${command} --force`;
    case "effect-unknown":
      return `${command} --set effect.repeat=true, or --set effect.result=WHAT-IT-SAID`;
    default: {
      const reply = textOf(object, "reply_to");
      return reply === "" ? command : `${command} --set ${reply}=YOUR-REPLY`;
    }
  }
}

/** The states that a trace went through, and where it went last. */
function pathOf(trace: JsonValue | undefined): string {
  if (!Array.isArray(trace) || trace.length === 0) return "";
  const steps = trace.filter(isJsonObject);
  const states = steps.map((step) => stepText(step));
  const to = member(steps.at(-1) ?? {}, "to");
  return printable([...folded(states), ...(to === "END" ? ["END"] : [])].join(" → "));
}

function stepText(step: JsonObject): string {
  const policy = textOf(step, "policy");
  const state = textOf(step, "state");
  return policy === "ok" || policy === "" ? state : `${state} [${policy}]`;
}

const MAX_PATH_STATES = 24;

function folded(states: readonly string[]): string[] {
  if (states.length <= MAX_PATH_STATES) return [...states];
  const half = MAX_PATH_STATES / 2;
  const left = states.length - MAX_PATH_STATES;
  return [...states.slice(0, half), `… ${left} more …`, ...states.slice(-half)];
}

function spent(object: JsonObject): string {
  const usage = member(object, "usage");
  if (!isJsonObject(usage)) return "nothing was spent";
  const input = numberOf(usage, "input_tokens");
  const output = numberOf(usage, "output_tokens");
  const trace = member(object, "trace");
  const last = Array.isArray(trace) ? trace.at(-1) : undefined;
  const steps = isJsonObject(last) ? numberOf(last, "step") : 0;
  return `${grouped(input + output)} tokens (${grouped(input)} in, ${grouped(output)} out) · ` +
    `${grouped(steps)} ${steps === 1 ? "step" : "steps"}`;
}

function resultText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * A whole number with its thousands apart.
 *
 * @param number The number.
 * @returns Such as `1,812`.
 */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A text member of an object.
 *
 * @param object The object.
 * @param key The member.
 * @returns The text, or `""` where there is none.
 */
export function textOf(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === "string" ? value : "";
}

/**
 * The texts in an array member of an object.
 *
 * @param object The object.
 * @param key The member.
 * @returns The texts, in order; nothing where there is no such array.
 */
export function textsOf(object: JsonObject, key: string): readonly string[] {
  const value = member(object, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function numberOf(object: JsonObject, key: string): number {
  const value = member(object, key);
  return typeof value === "number" ? value : 0;
}
