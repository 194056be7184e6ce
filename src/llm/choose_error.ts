/**
 * One error out of several parallel ones.
 *
 * @module
 */
import { classifyFetchError } from "./classify.ts";
import { copyError } from "./copy_error.ts";
import type { KitError } from "./errors.ts";

/**
 * Chooses which failure of parallel branches is thrown: an abort before a budget, before what is permanent, before a rate
 * limit, before anything else; among equals the first.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { LlmError } from "@kit/mcp";
 *
 * const chosen = chooseError([
 *   new LlmError("server", "Down", { retryable: true }),
 *   new LlmError("auth", "Wrong key"),
 * ]);
 * assertEquals([chosen.code, chosen.others.length], ["auth", 1]);
 * ```
 *
 * @param errors What the branches threw, at least one, in the order of the branches.
 * @returns A copy of the chosen one; the rest is in `others`.
 * @throws {RangeError} If `errors` is empty.
 */
export function chooseError(errors: readonly unknown[]): KitError {
  const known = errors.map((error) => classifyFetchError(error));
  let chosen = known[0];
  if (chosen === undefined) throw new RangeError("Cannot choose an error: there is none");
  for (const error of known) if (rankOf(error) < rankOf(chosen)) chosen = error;
  const others = known.filter((error) => error !== chosen);
  return copyError(chosen, { others: [...chosen.others, ...others] });
}

function rankOf(error: KitError): number {
  if (error.code === "aborted") return 0;
  if (error.code === "budget") return 1;
  if (!error.retryable) return 2;
  return error.code === "rate_limit" ? 3 : 4;
}
