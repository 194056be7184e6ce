/**
 * Comparing how a run ended with what a scenario expects.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type { RunResult } from "./trace.ts";
import { sameValue } from "./values.ts";

/**
 * Compares the listed expectations, in a fixed order; what is not listed is free.
 *
 * @param result How the run ended.
 * @param expect What is expected.
 * @returns One line for each expectation that does not hold.
 * @throws {TypeError} If `context` is not a mapping or `trace` not a list of mappings, so that they expect nothing.
 */
export function matchExpectation(result: RunResult, expect: JsonObject): string[] {
  const mismatches: string[] = [];
  function compare(key: string, wanted: JsonValue, got: JsonValue | undefined): void {
    if (sameValue(wanted, got)) return;
    mismatches.push(`${key}: expected ${repr(wanted)}, got ${repr(got ?? null)}`);
  }
  function compareIfListed(key: string, got: JsonValue | undefined): void {
    const wanted = member(expect, key);
    if (wanted !== undefined) compare(key, wanted, got);
  }
  compareIfListed("status", result.status);
  compareIfListed("error", result.error);
  const prefix = member(expect, "error_prefix");
  if (prefix !== undefined && !(result.error ?? "").startsWith(String(prefix))) {
    mismatches.push(`error_prefix: expected ${repr(prefix)}, got ${repr(result.error)}`);
  }
  compareIfListed("result", result.result);
  compareIfListed("at", result.at);
  compareIfListed("ask", result.ask);
  compareIfListed("reply_to", result.reply_to);
  const context = member(expect, "context");
  if (context !== undefined) {
    if (!isJsonObject(context)) throw new TypeError("expect: context: wanted a mapping");
    for (const [key, wanted] of Object.entries(context)) {
      compare(`context.${key}`, wanted, member(result.context, key));
    }
  }
  const trace = member(expect, "trace");
  if (trace !== undefined) {
    if (!Array.isArray(trace) || !trace.every(isJsonObject)) {
      throw new TypeError("expect: trace: wanted a list of mappings");
    }
    compareTrace(result, trace, { mismatches, compare });
  }
  return mismatches;
}

function compareTrace(
  result: RunResult,
  wanted: readonly JsonObject[],
  to: {
    readonly mismatches: string[];
    compare(key: string, wanted: JsonValue, got: JsonValue | undefined): void;
  },
): void {
  const { trace } = result;
  if (wanted.length !== trace.length) {
    const states = repr(trace.map((step) => step.state));
    to.mismatches.push(
      `trace.length: expected ${wanted.length}, got ${repr(`${trace.length} (${states})`)}`,
    );
    return;
  }
  for (const [i, step] of trace.entries()) {
    const listed = wanted[i] ?? {};
    const got: Record<string, JsonValue> = JSON.parse(JSON.stringify(step));
    for (const [key, value] of Object.entries(listed)) {
      to.compare(`trace[${i}].${key}`, value, Object.hasOwn(got, key) ? got[key] : undefined);
    }
  }
}

/** Values in mismatch lines are written as the language's reference program writes them. */
function repr(value: JsonValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${quote(key)}: ${repr(item)}`);
  return `{${members.join(", ")}}`;
}

function quote(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1);
  if (text.includes("'") && !text.includes('"')) return `"${escaped}"`;
  return `'${escaped.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
