/**
 * What callers of a run hand in, looked at before anything is spent.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../json/mod.ts";
import { ConfigError } from "../llm/mod.ts";
import type { RunOptions } from "./options.ts";
import { pathText } from "./path_text.ts";
import type { Frame } from "./trace.ts";
import { checkExtent, MAX_VALUE_DEPTH } from "./values.ts";

/**
 * Refuses options that are out of their range.
 *
 * @param options The options.
 * @throws {ConfigError} For the first of them; code `argument`.
 */
export function checkOptions(options: RunOptions): void {
  const { onTruncate, onUntrustedFlow, costBudget, trace } = options;
  requireWord("onTruncate", onTruncate);
  requireWord("onUntrustedFlow", onUntrustedFlow);
  for (const name of ["maxWorkers", "maxCalledSteps", "maxHeldChars"] as const) {
    const value = options[name];
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw refuse(name, value, "an integer of at least 1");
  }
  if (costBudget !== undefined && !(costBudget >= 0)) {
    throw refuse("costBudget", costBudget, "a number of at least 0");
  }
  if (trace !== undefined && trace !== "all" && !/^last:\d+$/.test(trace)) {
    throw refuse("trace", trace, '"all" or "last:N"');
  }
  const { trustedKeys, toolEffects } = options;
  if (trustedKeys !== undefined && !Array.isArray(trustedKeys)) {
    throw refuse("trustedKeys", trustedKeys, "a list of keys");
  }
  for (const [tool, effect] of Object.entries(toolEffects ?? {})) {
    if (effect === "read" || effect === "effect") continue;
    throw refuse(`toolEffects.${tool}`, effect, '"read" or "effect"');
  }
}

/**
 * Refuses values of a context that are not JSON: they would be changed silently, or fail where nobody looks for them.
 *
 * @param values The values by key or path.
 * @param name The option they came in.
 * @returns The values.
 * @throws {ConfigError} For the first part that is not JSON, with its place; code `argument`.
 */
export function requireJson(values: unknown, name: "context" | "inputs"): JsonObject {
  refuseOther(values, [name], new Set());
  if (!isJsonObject(values)) throw refuse(name, values, "an object of values");
  try {
    // The caller may change them later, so nothing is remembered of them.
    checkExtent(values, `the option ${name}`, new WeakMap());
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`Cannot run: ${message}; give less`, { code: "argument", cause });
  }
  return values;
}

/**
 * Refuses frames that no run gave.
 *
 * @param frames The frames.
 * @throws {ConfigError} If there are none, one has not the members of a frame, or a step of its trace is no object; code
 * `argument`.
 */
export function requireFrames(frames: unknown): asserts frames is readonly Frame[] {
  const advice = "give the frames of a suspended result";
  if (!Array.isArray(frames) || frames.length === 0) {
    throw new ConfigError(`Cannot resume: there are no frames; ${advice}`, { code: "argument" });
  }
  for (const [index, frame] of frames.entries()) {
    const wrong = wrongMember(frame);
    if (wrong === undefined) continue;
    const message = `Cannot resume: frames[${index}].${wrong}; ${advice}`;
    throw new ConfigError(message, { code: "argument" });
  }
}

/**
 * Says what a value is, for messages.
 *
 * @param value Anything.
 * @returns Such as `undefined`, `NaN`, `a function`, `a Date`.
 */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "a list";
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "Object" && name !== ""
    ? `a ${name.slice(0, 80)}`
    : "an object";
}

type FrameMember = readonly [key: string, fits: (value: unknown) => boolean, wanted: string];

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0;
const FRAME_MEMBERS: readonly FrameMember[] = [
  ["machine", isText, "a text"],
  ["state", isText, "a text"],
  ["ctx", isJsonObject, "an object"],
  ["steps", isCount, "a number of at least 0"],
  ["total_in", isCount, "a number of at least 0"],
  ["total_out", isCount, "a number of at least 0"],
  ["feedback", isText, "a text"],
  ["repair_left", Array.isArray, "a list"],
  ["trace", Array.isArray, "a list"],
];

/** Such as `ctx is null, wanted an object`. */
function wrongMember(frame: unknown): string | undefined {
  for (const [key, fits, wanted] of FRAME_MEMBERS) {
    const found = memberOf(frame, key);
    if (!fits(found)) return `${key} is ${describeValue(found)}, wanted ${wanted}`;
  }
  const trace: unknown = memberOf(frame, "trace");
  for (const [index, step] of Array.isArray(trace) ? trace.entries() : []) {
    if (!isJsonObject(step)) return `trace[${index}] is ${describeValue(step)}, wanted an object`;
  }
  return undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** Goes no deeper than a value may be, so that one which holds itself ends too. */
function refuseOther(value: unknown, path: (string | number)[], sound: Set<object>): void {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (path.length > MAX_VALUE_DEPTH + 1) {
    const message =
      `Cannot run: ${pathText(path.slice(0, 4))} is nested over ${MAX_VALUE_DEPTH} levels ` +
      "deep or holds itself; give values that have an end";
    throw new ConfigError(message, { code: "argument" });
  }
  if (!Array.isArray(value) && !isPlainObject(value)) throw notJson(value, path);
  if (sound.has(value)) return;
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    path.push(key);
    refuseOther(item, path, sound);
    path.pop();
  }
  sound.add(value);
}

function notJson(value: unknown, path: readonly (string | number)[]): ConfigError {
  const message =
    `Cannot run: ${pathText(path)} is ${describeValue(value)}, wanted JSON: null, true or ` +
    "false, a finite number, a text, a list or a plain object; turn it into one of these or leave it out";
  return new ConfigError(message, { code: "argument" });
}

/** Also one of another realm, whose `Object.prototype` is not ours. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function requireWord(name: string, value: unknown): void {
  if (value === undefined || value === "report" || value === "halt") return;
  throw refuse(name, value, '"report" or "halt"');
}

function refuse(name: string, value: unknown, wanted: string): ConfigError {
  const found = typeof value === "string" ? JSON.stringify(value) : describeValue(value);
  return new ConfigError(
    `Cannot run with the option ${name}: found ${found}, wanted ${wanted}`,
    { code: "argument" },
  );
}
