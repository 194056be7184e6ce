/**
 * Answers without thinking, and the JSON in them.
 *
 * @module
 */
import { type JsonValue, parseJson } from "../json/mod.ts";

/** The part of a text that follows the thinking. */
export function splitThinking(text: string): { readonly answer: string } {
  const end = text.lastIndexOf("</think>");
  return { answer: end === -1 ? text : text.slice(end + "</think>".length) };
}

/** The JSON that a text is. */
export function extractJson(
  text: string,
): { readonly ok: true; readonly value: JsonValue } | { readonly ok: false } {
  try {
    return { ok: true, value: parseJson(text) };
  } catch {
    return { ok: false };
  }
}
