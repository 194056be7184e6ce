/**
 * Chance on Deno.
 *
 * @module
 */
import type { Random } from "../ports/mod.ts";

/** How many bytes `getRandomValues` gives at most in one call. */
const MAX_BYTES_PER_CALL = 65_536;

/**
 * Makes the source of chance of this process.
 *
 * @returns Jitter from `Math.random`, bytes from the system's cryptographic source.
 */
export function createRandom(): Random {
  return { float: () => Math.random(), bytes: randomBytes };
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += MAX_BYTES_PER_CALL) {
    crypto.getRandomValues(bytes.subarray(at, at + MAX_BYTES_PER_CALL));
  }
  return bytes;
}
