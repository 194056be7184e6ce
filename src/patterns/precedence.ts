/**
 * One error for several failures.
 *
 * @module
 */
import { copyError, type KitError } from "../llm/mod.ts";

/**
 * Chooses the error that stands for the failures of parallel branches: aborted before budget, before what is
 * permanent, before rate limits, before the rest; among equals the first.
 *
 * @param errors The failures in the order of the branches, at least one.
 * @returns A copy of the chosen one, the rest in `others`.
 * @throws {RangeError} If there is none.
 */
export function chooseError(errors: readonly KitError[]): KitError {
  const [first, ...rest] = errors;
  if (first === undefined) throw new RangeError("Cannot choose among no errors");
  let chosen = first;
  for (const error of rest) if (rank(error) < rank(chosen)) chosen = error;
  const others = errors.filter((error) => error !== chosen);
  return others.length === 0 ? chosen : copyError(chosen, { others });
}

function rank(error: KitError): number {
  if (error.code === "aborted") return 0;
  if (error.code === "budget") return 1;
  if (!error.retryable) return 2;
  return error.code === "rate_limit" ? 3 : 4;
}
