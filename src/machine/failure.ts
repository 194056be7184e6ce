/**
 * Why an execution failed, as halt reasons say it.
 *
 * @module
 */
import { KitError } from "../llm/mod.ts";
import { RefusalError, type Tokens } from "./oracle.ts";

/** A failed execution. */
export interface Failure {
  /** The kind. */
  readonly kind: "error";
  /** The halt reason. */
  readonly error: string;
  /** The same for the marker of a branch, without the fixed word before it. */
  readonly message: string;
  /** What the failed call cost. */
  readonly tokens: Tokens;
  /** What was thrown. */
  readonly cause: unknown;
}

/** A state that the machine does not have; only documents that were not checked get here. */
export class UnknownStateError extends Error {
  /** The class. */
  override readonly name = "UnknownStateError";
}

const NOTHING: Tokens = { input: 0, output: 0 };

/**
 * Describes what a model call threw.
 *
 * @param cause What was thrown.
 * @returns `refusal`, `provider-error: …` or `state-error: …`.
 */
export function produceFailure(cause: unknown): Failure {
  const message = messageOf(cause);
  if (cause instanceof RefusalError) {
    return { kind: "error", error: "refusal", message, tokens: cause.tokens, cause };
  }
  if (cause instanceof KitError) {
    const error = `provider-error: ${message}`;
    return { kind: "error", error, message, tokens: tokensOf(cause), cause };
  }
  return stateFailure(cause);
}

/**
 * Describes any other failure.
 *
 * @param cause What was thrown.
 * @param tokens What was spent before it.
 * @returns `state-error: …`.
 */
export function stateFailure(cause: unknown, tokens: Tokens = tokensOf(cause)): Failure {
  const message = messageOf(cause);
  return { kind: "error", error: `state-error: ${message}`, message, tokens, cause };
}

/**
 * The tokens that an error says were spent.
 *
 * @param cause What was thrown.
 * @returns The tokens, 0 if it does not say.
 */
export function tokensOf(cause: unknown): Tokens {
  if (cause instanceof RefusalError) return cause.tokens;
  if (!(cause instanceof KitError)) return NOTHING;
  return { input: cause.usage.inputTokens, output: cause.usage.outputTokens };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
