/**
 * When to try again. `callModel` is the one owner of retries: nothing above it repeats a request, and nothing below.
 *
 * @module
 */
import type { Random } from "../ports/mod.ts";
import { ConfigError, type KitError, LlmError } from "./errors.ts";

/** How often and how patiently to try again. */
export interface RetryPolicy {
  /** Most attempts in all, the first included; an integer of at least 1, default 3. */
  readonly maxAttempts?: number;
  /** Longest wait before the second attempt, in milliseconds, default 1000. */
  readonly baseDelayMs?: number;
  /** Longest wait that is Kit's own choice, in milliseconds, default 60000. */
  readonly maxDelayMs?: number;
  /** Growth of the longest wait from one attempt to the next, at least 1, default 2. */
  readonly factor?: number;
  /** Longest wait that an endpoint may ask for, in milliseconds, default 60000; beyond it the call fails at once. */
  readonly maxRetryAfterMs?: number;
}

/** The policy used where none is given. */
export const DEFAULT_RETRY: Required<RetryPolicy> = Object.freeze({
  maxAttempts: 3,
  baseDelayMs: 1000,
  maxDelayMs: 60_000,
  factor: 2,
  maxRetryAfterMs: 60_000,
});

/** The wait after a refusal for rate that names none. */
export const DEFAULT_RETRY_AFTER_MS = 1000;

/** An answer that cannot be read is asked for again so often: it costs money, and a broken endpoint stays broken. */
const MALFORMED_RETRIES = 1;

/**
 * Fills in the defaults of a policy and checks it.
 *
 * @param policy What the caller wants.
 * @returns The whole policy.
 * @throws {ConfigError} If a field is out of its range; code `argument`.
 */
export function resolveRetry(policy: RetryPolicy = {}): Required<RetryPolicy> {
  const whole: Required<RetryPolicy> = {
    maxAttempts: policy.maxAttempts ?? DEFAULT_RETRY.maxAttempts,
    baseDelayMs: policy.baseDelayMs ?? DEFAULT_RETRY.baseDelayMs,
    maxDelayMs: policy.maxDelayMs ?? DEFAULT_RETRY.maxDelayMs,
    factor: policy.factor ?? DEFAULT_RETRY.factor,
    maxRetryAfterMs: policy.maxRetryAfterMs ?? DEFAULT_RETRY.maxRetryAfterMs,
  };
  if (!Number.isSafeInteger(whole.maxAttempts) || whole.maxAttempts < 1) {
    throw outOfRange("maxAttempts", whole.maxAttempts, "an integer of at least 1");
  }
  if (!Number.isFinite(whole.factor) || whole.factor < 1) {
    throw outOfRange("factor", whole.factor, "a number of at least 1");
  }
  for (const field of ["baseDelayMs", "maxDelayMs", "maxRetryAfterMs"] as const) {
    if (!Number.isFinite(whole[field]) || whole[field] < 0) {
      throw outOfRange(field, whole[field], "milliseconds, 0 or more");
    }
  }
  return whole;
}

function outOfRange(field: string, found: number, wanted: string): ConfigError {
  return new ConfigError(`Cannot use retry policy: ${field} is ${found}, wanted ${wanted}`, {
    code: "argument",
  });
}

/** What is known when an attempt has failed. */
export interface FailedAttempt {
  /** Attempts made so far, this one included. */
  readonly attempt: number;
  /** How many of them gave an answer that could not be read. */
  readonly malformed: number;
  /** Milliseconds until the deadline, or `undefined` if there is none. */
  readonly leftMs: number | undefined;
}

/**
 * Decides whether to try again, and after what wait: full jitter, never less than the endpoint asked for.
 *
 * @param error What went wrong.
 * @param state What is known.
 * @param options The whole policy, and chance.
 * @returns The wait in milliseconds, or `undefined` to give up.
 */
export function retryDelay(
  error: KitError,
  state: FailedAttempt,
  options: { readonly policy: Required<RetryPolicy>; readonly random: Random },
): number | undefined {
  const { policy, random } = options;
  if (!error.retryable || state.attempt >= policy.maxAttempts) return undefined;
  if (error.code === "bad_response" && state.malformed > MALFORMED_RETRIES) return undefined;
  const asked = askedDelay(error);
  if (asked > policy.maxRetryAfterMs) return undefined;
  const longest = Math.min(
    policy.baseDelayMs * policy.factor ** (state.attempt - 1),
    policy.maxDelayMs,
  );
  const delay = Math.max(random.float() * longest, asked);
  return state.leftMs !== undefined && delay >= state.leftMs ? undefined : delay;
}

/** How long the endpoint wants to be left alone; 0 if it said nothing and the failure is not about rate. */
export function askedDelay(error: KitError): number {
  if (error instanceof LlmError && error.retryAfterMs !== undefined) return error.retryAfterMs;
  return error.code === "rate_limit" ? DEFAULT_RETRY_AFTER_MS : 0;
}

const SECOND_MS = 1000;

/**
 * Reads how long an endpoint asks to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date
 * ({@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 | RFC 9110}). A date is compared with the
 * endpoint's own `date`, since the two clocks may differ.
 *
 * @param headers The response's headers.
 * @param now Wall time in milliseconds, used where the response has no `date`.
 * @returns Milliseconds, at least 0, or `undefined` if there is nothing that can be read.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const exact = headers.get("retry-after-ms");
  if (exact !== null && isPlainNumber(exact)) return Math.max(0, Number(exact));
  const header = headers.get("retry-after");
  if (header === null) return undefined;
  if (isPlainNumber(header)) return Math.max(0, Number(header) * SECOND_MS);
  const until = parseHttpDate(header);
  if (until === undefined) return undefined;
  const theirs = headers.get("date");
  const base = (theirs === null ? undefined : parseHttpDate(theirs)) ?? now;
  return Math.max(0, until - base);
}

function isPlainNumber(text: string): boolean {
  return /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text);
}

function parseHttpDate(text: string): number | undefined {
  if (!/[A-Za-z]{3}/.test(text)) return undefined;
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}
