/**
 * What tells whether a checkpoint belongs to the work that it is given to.
 *
 * @module
 */
import { canonicalJson, type JsonValue } from "../json/mod.ts";

/**
 * A digest of data: equal for equal data, whatever the order of members.
 *
 * @param value The data.
 * @returns SHA-256 in lower-case hex digits.
 */
export async function fingerprint(value: JsonValue): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
