/**
 * Values as text: how prompts, traces and the judge show them. Lengths count code points.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";

/** Most characters of one value in a prompt, unless an option says otherwise. */
export const PROMPT_VALUE_CHARS = 20_000;

const CUT_MARKER = "…[truncated]";

/**
 * Writes a value as prompts show it: a text as it is, a list as numbered lines, `null` as nothing, all else as JSON.
 *
 * @param value The value.
 * @param maxChars Most characters; longer texts end in a marker within this length. 0: no limit. Default 20,000.
 * @returns The text.
 */
export function formatValue(value: JsonValue, maxChars: number = PROMPT_VALUE_CHARS): string {
  // Nothing beyond this many code units can be within the cap, and long lists need not be written to be cut.
  const enough = maxChars <= 0 ? Infinity : 2 * maxChars;
  return clip(proseText(value, enough), maxChars);
}

/**
 * Writes a value as JSON with a space after each comma and colon and with non-ASCII characters as they are.
 *
 * @param value The value.
 * @returns The text.
 */
export function jsonText(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isArray(value)) return value.length === 0 ? "[]" : `[${value.map(jsonText).join(", ")}]`;
  const members: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    members.push(`${JSON.stringify(key)}: ${jsonText(item)}`);
  }
  return `{${members.join(", ")}}`;
}

/**
 * Writes the start of what {@linkcode jsonText} writes, in the time of the start.
 *
 * @param value The value.
 * @param enough UTF-16 units.
 * @returns The whole text if it has no more units than that, else more than that many from its start. The last of them
 * may be written in another way than in the whole text, if it is half of a character.
 */
export function jsonStart(value: JsonValue, enough: number): string {
  if (typeof value === "string" && value.length > enough) {
    return JSON.stringify(value.slice(0, Math.max(0, enough))).slice(0, -1);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, item] of isList ? value.entries() : Object.entries(value)) {
    if (text.length > enough) return text;
    if (text.length > 1) text += ", ";
    if (typeof key === "string") text += `${JSON.stringify(key)}: `;
    text += jsonStart(item, enough - text.length);
  }
  return text.length > enough ? text : text + (isList ? "]" : "}");
}

/**
 * Writes the end of what {@linkcode jsonText} writes, in the time of the end.
 *
 * @param value The value.
 * @param enough UTF-16 units.
 * @returns The whole text if it has no more units than that, else more than that many from its end.
 */
export function jsonEnd(value: JsonValue, enough: number): string {
  if (typeof value === "string" && value.length > enough) {
    return JSON.stringify(enough > 0 ? value.slice(-enough) : "").slice(1);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = isArray(value);
  const members = isList ? value : Object.values(value);
  const keys = isList ? [] : Object.keys(value);
  let text = isList ? "]" : "}";
  for (let i = members.length - 1; i >= 0; i--) {
    if (text.length > enough) return text;
    const comma = text.length > 1 ? ", " : "";
    const item = jsonEnd(members[i] ?? null, enough - text.length - comma.length);
    text = item + comma + text;
    const key = keys[i];
    if (key !== undefined && text.length <= enough) text = `${JSON.stringify(key)}: ${text}`;
  }
  return text.length > enough ? text : (isList ? "[" : "{") + text;
}

/**
 * Counts characters as the language does.
 *
 * @param text The text.
 * @returns The number of code points.
 */
export function countChars(text: string): number {
  let pairs = 0;
  for (let i = 0; i + 1 < text.length; i++) {
    if (isPair(text, i)) {
      pairs++;
      i++;
    }
  }
  return text.length - pairs;
}

/**
 * Takes the first characters of a text, never half of one.
 *
 * @param text The text.
 * @param count How many code points.
 * @returns At most that many from the start.
 */
export function firstChars(text: string, count: number): string {
  if (text.length <= count) return text;
  let at = 0;
  for (let taken = 0; taken < count && at < text.length; taken++) at += isPair(text, at) ? 2 : 1;
  return text.slice(0, at);
}

/**
 * Takes the last characters of a text, never half of one.
 *
 * @param text The text.
 * @param count How many code points.
 * @returns At most that many from the end.
 */
export function lastChars(text: string, count: number): string {
  if (text.length <= count) return text;
  let at = text.length;
  for (let taken = 0; taken < count && at > 0; taken++) {
    at -= at > 1 && isPair(text, at - 2) ? 2 : 1;
  }
  return text.slice(at);
}

/**
 * Cuts a text to a length that includes the marker of the cut.
 *
 * @param text The text.
 * @param maxChars Most characters; 0 or less: no limit.
 * @returns The text itself if it fits.
 */
export function clip(text: string, maxChars: number): string {
  if (maxChars <= 0 || text.length <= maxChars) return text;
  // A character has at most two units, so that a text of more than that is not even counted.
  if (text.length <= 2 * maxChars && countChars(text) <= maxChars) return text;
  if (CUT_MARKER.length >= maxChars) return CUT_MARKER.slice(0, maxChars);
  return firstChars(text, maxChars - CUT_MARKER.length) + CUT_MARKER;
}

function proseText(value: JsonValue, enough: number): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (!isArray(value)) return jsonStart(value, enough);
  let text = "";
  for (const [index, item] of value.entries()) {
    if (text.length > enough) break;
    text += `${index === 0 ? "" : "\n"}${index + 1}. ${proseText(item, enough)}`;
  }
  return text;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isPair(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
