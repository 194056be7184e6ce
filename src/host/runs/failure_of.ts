/**
 * Tells programs what kind of thing halted a run, where that is not the machine itself.
 *
 * @module
 */
import { KitError } from "../../llm/mod.ts";
import type { FailureKind } from "../result.ts";

/**
 * Looks at the error behind a halt.
 *
 * @param cause The error, if there is one.
 * @returns `config` if a provider refused the key or the account; `budget` if an account of Kit's allowed no more; else
 * `undefined`.
 */
export function failureOf(cause: unknown): FailureKind | undefined {
  if (!(cause instanceof KitError)) return undefined;
  switch (cause.code) {
    case "auth":
    case "config":
    case "quota":
      return "config";
    case "budget":
      return "budget";
    default:
      return undefined;
  }
}
