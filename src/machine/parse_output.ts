/**
 * Reading a model's text as JSON, for states with `parse`.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { firstChars } from "./format.ts";
import { copyValue, isTooDeep, MAX_VALUE_DEPTH } from "./values.ts";

const EXCERPT_CHARS = 40;
const LONG_NUMBER = /\d{16}|[eE]\+?\d{2}/;

/**
 * Reads an output. A fence around all of it is taken off; anything beside the JSON makes it unreadable.
 *
 * @param text The output.
 * @param mode `list` also wants an array.
 * @returns The value, its objects without prototype.
 * @throws {Error} If it cannot be read; the message starts with `parse-list:` or `parse-json:`.
 */
export function parseOutput(text: string, mode: "list" | "json"): JsonValue {
  const value = readJson(stripFence(text), mode);
  if (mode === "list" && !Array.isArray(value)) {
    throw new Error(`parse-list: output is JSON but not an array (got ${jsonType(value)})`);
  }
  return value;
}

/**
 * Names the JSON type of a value.
 *
 * @param value The value.
 * @returns `null`, `array`, `object`, `string`, `number` or `boolean`.
 */
function jsonType(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function stripFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("```")) return trimmed;
  const inner = trimmed.replace(/^`+/, "").replace(/`+$/, "");
  const lineEnd = inner.indexOf("\n");
  return (lineEnd === -1 ? inner : inner.slice(lineEnd + 1)).trim();
}

function readJson(text: string, mode: "list" | "json"): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
    if (isTooDeep(value)) throw new RangeError(`it is nested over ${MAX_VALUE_DEPTH} levels deep`);
    // A second reading, since only a reviver sees the digits of a number; it recurses, so depth comes first.
    if (LONG_NUMBER.test(text)) JSON.parse(text, refuseUnsafeNumbers);
  } catch (error) {
    const detail = error instanceof RangeError ? error.message : describe(text);
    throw new Error(`parse-${mode}: output is not valid JSON (${detail})`);
  }
  return copyValue(value);
}

function refuseUnsafeNumbers(
  _key: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? String(value);
  if (/^-?\d+$/.test(source) || !Number.isFinite(value)) {
    throw new RangeError(`the number ${firstChars(source, EXCERPT_CHARS)} cannot be kept exactly`);
  }
  return value;
}

function describe(text: string): string {
  if (text === "") return "it is empty";
  const start = firstChars(text, EXCERPT_CHARS);
  const line = start.replace(/\s+/g, " ");
  return start.length < text.length ? `it starts '${line}…'` : `it is '${line}'`;
}
