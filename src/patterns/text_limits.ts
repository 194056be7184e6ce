/**
 * Texts cut to a length, and texts that are data to a model.
 *
 * @module
 */
import { cutText, randomHex, redact } from "../llm/mod.ts";
import type { Random } from "../ports/mod.ts";

const TRUNCATION_MARK = "\n[truncated]";
const NONCE_BYTES = 6;

/** A text that fits. */
export interface TruncatedText {
  /** The text, at most as long as was asked for. */
  readonly text: string;
  /** Whether something is missing. */
  readonly truncated: boolean;
}

/**
 * Cuts a text and says so at its end. Never cuts through a character.
 *
 * @param text The text.
 * @param limit Most UTF-16 units, the mark included; the mark is left out where it alone would not fit.
 * @returns The text, and whether it was cut.
 */
export function truncateText(text: string, limit: number): TruncatedText {
  if (text.length <= limit) return { text, truncated: false };
  const room = limit - TRUNCATION_MARK.length;
  return room <= 0
    ? { text: headOf(text, limit), truncated: true }
    : { text: headOf(text, room) + TRUNCATION_MARK, truncated: true };
}

function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

const MAX_THROWN_CHARACTERS = 500;

/**
 * What is told of something that code of the caller's threw: name and message, secrets masked, cut.
 *
 * @param thrown Anything.
 * @returns The text. Never throws, whatever was thrown.
 */
export function thrownText(thrown: unknown): string {
  return cutText(redact(plainText(thrown)), MAX_THROWN_CHARACTERS);
}

function plainText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

/**
 * Puts a text between tags that nobody can guess, so that nothing in it can pass for the end of it.
 *
 * @param label What it is: lower-case letters.
 * @param text The text; whatever looks like a tag of this label is defused.
 * @param random Where the tag's digits come from.
 * @returns The text between its tags.
 */
export function delimit(label: string, text: string, random: Random): string {
  const tag = `${label}-${randomHex(random, NONCE_BYTES)}`;
  const lookalike = LOOKALIKES.get(label) ?? newLookalike(label);
  return `<${tag}>\n${text.replace(lookalike, "&lt;")}\n</${tag}>`;
}

const LOOKALIKES = new Map<string, RegExp>();

function newLookalike(label: string): RegExp {
  const pattern = new RegExp(`<(?=\\s{0,8}(?:/\\s{0,8})?${label})`, "giu");
  LOOKALIKES.set(label, pattern);
  return pattern;
}
