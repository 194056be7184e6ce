/**
 * What an attempt costs that gave no answer.
 *
 * @module
 */
import type { KitError, KitErrorCode } from "./errors.ts";
import type { Reservation } from "./ledger.ts";
import { isTokenCount } from "./usage.ts";

/** Codes with which an endpoint answers: the request is counted, its tokens are not. */
const REFUSALS: ReadonlySet<KitErrorCode> = new Set([
  "rate_limit",
  "quota",
  "auth",
  "bad_request",
  "not_found",
  "too_large",
  "unprocessable",
  "redirect",
  "overloaded",
  "server",
]);

/** Charges an attempt that gave no answer, by what is known of how far it came. */
export function chargeFailure(error: KitError, reservation: Reservation): void {
  if (error.code === "config" || error.code === "argument") return reservation.release();
  if (error.details["sent"] === false) {
    return error.code === "aborted" ? reservation.release() : reservation.refuse();
  }
  if (error.usage.llmCalls > 0) return reservation.settle(countsOf(error));
  if (REFUSALS.has(error.code) || typeof error.details["status"] === "number") {
    return reservation.refuse();
  }
  reservation.abandon();
}

/** What the endpoint counted, if it did and that can be believed. */
function countsOf(error: KitError): KitError["usage"] | undefined {
  const { usage, details } = error;
  const isKnown = details["usageKnown"] !== false && isTokenCount(usage.inputTokens) &&
    isTokenCount(usage.outputTokens);
  return isKnown ? usage : undefined;
}
