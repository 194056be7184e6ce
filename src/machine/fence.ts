/**
 * Fences around data that is not the author's, with a nonce that the data cannot know.
 *
 * @module
 */
import type { Random } from "../ports/mod.ts";

const NONCE_BYTES = 6;
const MAX_DRAWS = 64;

/**
 * Draws a nonce that occurs in none of the texts it will fence.
 *
 * @param random Chance.
 * @param texts What will be fenced.
 * @returns 12 lower-case hex digits.
 * @throws {Error} If 64 draws all occur in the texts: the source of chance is broken.
 */
export function drawNonce(random: Pick<Random, "bytes">, texts: readonly string[]): string {
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const nonce = hex(random.bytes(NONCE_BYTES));
    if (!texts.some((text) => text.includes(nonce))) return nonce;
  }
  throw new Error("Cannot draw a nonce: the source of chance repeats itself");
}

/**
 * Fences a text, byte for byte.
 *
 * @param text The text.
 * @param nonce The nonce of the message.
 * @returns The text between an opening and a closing tag, each on its own line.
 */
export function fence(text: string, nonce: string): string {
  return `<data-${nonce}>\n${text}\n</data-${nonce}>`;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
