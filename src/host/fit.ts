/**
 * Cuts a result down to what a client takes.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { countChars, firstChars } from "../machine/format.ts";

/** Steps that are kept where even a summary is too large. */
const MAX_ESSENTIAL_STEPS = 20;
/** Fewest characters that are kept of a result that is cut. */
const MIN_RESULT_CHARS = 1000;
/** Fewest characters that are kept of any text: enough for every handle and every fixed word. */
const MIN_TEXT_CHARS = 100;

/** Most bytes of a value that is written as one JSON text to be cut. */
const MAX_WRITTEN_BYTES = 64 * 1_048_576;
/** Characters of a text that are written at once to count them. */
const PIECE_CHARS = 65_536;
const UTF8 = new TextEncoder();

/** Entries of a list, and members of an object, that are kept at first where texts alone are not what is too long. */
const MAX_ITEMS = 1000;

/** Step members that a summary leaves out or counts, because they can be long. */
const LONG_MEMBERS = ["output", "branches", "reasoning", "reasonings", "sub_trace", "judge_raw"];

/**
 * Cuts an object down to what a client takes: first the texts of the trace and its early steps, then the result, then
 * every long text, then the whole trace.
 *
 * @param object The object.
 * @param maxBytes Most bytes as JSON in UTF-8.
 * @returns The object itself if it fits; else one whose `truncated` says what is missing.
 */
export function fit(object: JsonObject, maxBytes: number): JsonObject {
  const size = sizeOf(object);
  if (size <= maxBytes) return object;
  const said = `the whole has ${size} bytes`;
  const left = "texts and early steps of the trace are left out";
  const short = { ...object, trace: summaries(traceOf(object), MAX_ESSENTIAL_STEPS) };
  const cut = { ...short, truncated: `${said}; ${left}` };
  if (sizeOf(cut) <= maxBytes) return cut;
  const text = longResult(object);
  const room = maxBytes - sizeOf({ ...cut, result: null });
  for (let most = Math.floor(room / 2); most >= MIN_RESULT_CHARS; most = Math.floor(most / 2)) {
    if (text === undefined) break;
    const why = `the result is cut to its first ${most} of ${countChars(text)} characters, ${left}`;
    const tried = { ...cut, result: firstChars(text, most), truncated: `${said}; ${why}` };
    if (sizeOf(tried) <= maxBytes) return tried;
  }
  const rest = text === undefined ? short : { ...short, result: text };
  return shortTexts(rest, { maxBytes, said });
}

/**
 * Cuts an object that holds no run: first its texts, then its lists and objects. Its own members all stay.
 *
 * @param object The object.
 * @param maxBytes Most bytes as JSON in UTF-8.
 * @returns The object itself if it fits; else one whose `truncated` says what is missing.
 */
export function fitLists(object: JsonObject, maxBytes: number): JsonObject {
  const size = sizeOf(object);
  if (size <= maxBytes) return object;
  let bounds: Bounds = { chars: Math.floor(maxBytes / 2), items: Infinity };
  while (true) {
    const entries = Object.entries(object).map(([key, value]) => [key, bounded(value, bounds)]);
    const lists = bounds.items === Infinity ? "" : `, lists to their first ${bounds.items} entries`;
    const truncated =
      `the whole has ${size} bytes; texts are cut to their first ${bounds.chars} characters${lists}`;
    const tried = { ...Object.fromEntries(entries), truncated };
    if (sizeOf(tried) <= maxBytes || bounds.items === 0) return tried;
    bounds = narrower(bounds);
  }
}

/** What is kept of a value. */
interface Bounds {
  /** Most characters of a text. */
  readonly chars: number;
  /** Most entries of a list and members of an object. */
  readonly items: number;
}

function narrower({ chars, items }: Bounds): Bounds {
  if (chars > MIN_TEXT_CHARS) {
    return { chars: Math.max(MIN_TEXT_CHARS, Math.floor(chars / 2)), items };
  }
  return { chars, items: items === Infinity ? MAX_ITEMS : Math.floor(items / 2) };
}

function bounded(value: JsonValue, bounds: Bounds): JsonValue {
  if (typeof value === "string") return firstChars(value, bounds.chars);
  if (Array.isArray(value)) {
    return value.slice(0, bounds.items).map((item: JsonValue) => bounded(item, bounds));
  }
  if (!isJsonObject(value)) return value;
  // A name cannot be cut without becoming another: where it is too long its member goes.
  const kept = Object.entries(value).filter(([key]) => key.length <= bounds.chars);
  return Object.fromEntries(
    kept.slice(0, bounds.items).map(([key, item]) => [key, bounded(item, bounds)]),
  );
}

function shortTexts(
  object: JsonObject,
  { maxBytes, said }: { readonly maxBytes: number; readonly said: string },
): JsonObject {
  let most = Math.floor(maxBytes / 2);
  while (true) {
    const why =
      `texts are cut to their first ${most} characters, early steps of the trace are left out`;
    const tried = { ...mapTexts(object, most), truncated: `${said}; ${why}` };
    if (sizeOf(tried) <= maxBytes) return tried;
    if (most <= MIN_TEXT_CHARS) {
      return { ...tried, trace: [], truncated: `${said}; all but short texts is left out` };
    }
    most = Math.max(MIN_TEXT_CHARS, Math.floor(most / 2));
  }
}

/** A result that is worth cutting, as one text: what is no text is written as JSON. */
function longResult(object: JsonObject): string | undefined {
  const result = member(object, "result") ?? null;
  const text = typeof result === "string" ? result : JSON.stringify(writable(result));
  return text.length > MIN_RESULT_CHARS ? text : undefined;
}

/** What is too long for one text is first cut within, as every other value is. */
function writable(value: JsonValue): JsonValue {
  let bounds: Bounds = { chars: PIECE_CHARS, items: Infinity };
  let cut = value;
  while (sizeOf(cut) > MAX_WRITTEN_BYTES) {
    cut = bounded(cut, bounds);
    bounds = narrower(bounds);
  }
  return cut;
}

function mapTexts(object: JsonObject, most: number): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => [key, mapText(value, most)]);
  return Object.fromEntries(entries);
}

function mapText(value: JsonValue, most: number): JsonValue {
  if (typeof value === "string") return firstChars(value, most);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapText(item, most));
  return isJsonObject(value) ? mapTexts(value, most) : value;
}

/** Bytes of a value as JSON, counted piece by piece: the whole may be longer than a text can be. */
function sizeOf(value: JsonValue): number {
  if (typeof value === "string") return textSize(value);
  if (Array.isArray(value)) {
    const commas = Math.max(0, value.length - 1);
    return value.reduce((sum: number, item: JsonValue) => sum + sizeOf(item), 2 + commas);
  }
  if (!isJsonObject(value)) return JSON.stringify(value).length;
  const entries = Object.entries(value);
  const marks = 2 + entries.length + Math.max(0, entries.length - 1);
  return entries.reduce((sum, [key, item]) => sum + textSize(key) + sizeOf(item), marks);
}

function textSize(text: string): number {
  let bytes = 2;
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + PIECE_CHARS);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    bytes += UTF8.encode(JSON.stringify(text.slice(start, end))).length - 2;
    start = end;
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The steps of a run object. */
export function traceOf(object: JsonObject): readonly JsonValue[] {
  const trace = member(object, "trace");
  return Array.isArray(trace) ? trace : [];
}

/** The last steps of a trace, without their texts. */
export function summaries(trace: readonly JsonValue[], limit: number): readonly JsonValue[] {
  return trace.slice(-limit).map((step) => isJsonObject(step) ? summary(step) : step);
}

function summary(step: JsonObject): JsonObject {
  const short: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(step)) {
    if (!LONG_MEMBERS.includes(key)) short[key] = value;
    else if ((key === "branches" || key === "sub_trace") && Array.isArray(value)) {
      short[key === "branches" ? "branch_count" : "sub_steps"] = value.length;
    }
  }
  return short;
}
