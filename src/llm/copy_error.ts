/**
 * Copies of errors that know more. A caught error may be shared by several branches, so it is never changed.
 *
 * @module
 */
import type { KitError, KitErrorOptions } from "./errors.ts";

/** What a copy can be told. */
export type ErrorFacts = Pick<KitErrorOptions, "usage" | "partial" | "details" | "others">;

/**
 * Copies an error with more facts; class, code, text, cause and stack stay.
 *
 * @param error The error.
 * @param facts What to replace; `details` are added to those that it has.
 * @returns The copy, an instance of the same class.
 */
export function copyError<Kind extends KitError>(error: Kind, facts: ErrorFacts): Kind {
  const copy = new Error(error.message);
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error));
  Object.defineProperties(copy, Object.getOwnPropertyDescriptors(error));
  Object.defineProperty(copy, "stack", { value: error.stack, writable: true, configurable: true });
  const details = facts.details === undefined
    ? {}
    : { details: { ...error.details, ...facts.details } };
  Object.assign(copy, facts, details);
  return copy as Kind;
}
