/**
 * Unguessable names: of runs, of suspensions, of holders.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";

/** Bytes of a handle: 128 bits, 32 hex digits. */
const HANDLE_BYTES = 16;
const HANDLE = /^[0-9a-f]{32}$/;

/**
 * Makes a handle.
 *
 * @param random Chance.
 * @returns 32 hex digits.
 */
export function newHandle(random: Ports["random"]): string {
  return hex(random.bytes(HANDLE_BYTES));
}

/**
 * Tells whether a text has the form of a handle.
 *
 * @param text Any text.
 * @returns Whether it is 32 hex digits.
 */
export function isHandle(text: string): boolean {
  return HANDLE.test(text);
}

/**
 * Writes bytes as hex digits.
 *
 * @param bytes The bytes.
 * @returns Two digits for each.
 */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Hashes a text.
 *
 * @param text The text, hashed as UTF-8.
 * @returns SHA-256 in hex.
 */
export async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hex(new Uint8Array(hash));
}
