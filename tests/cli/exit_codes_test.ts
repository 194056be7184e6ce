import { assertEquals } from "@std/assert";
import { exitCodeOf, exitCodeOfSignal } from "../../src/cli/exit_codes.ts";

const runs: [status: string, error: string | null, code: number][] = [
  ["done", null, 0],
  ["halt", "gate-fail", 1],
  ["halt", "state-error: parse-json", 1],
  ["halt", "loop-ceiling", 1],
  ["halt", "call-failed: call-failed: gate-fail", 1],
  ["error", "prepare-failed", 2],
  ["error", "invalid-request", 2],
  ["suspended", "escalated", 3],
  ["suspended", "budget-exhausted", 3],
  ["suspended", "cost-exhausted", 3],
  ["running", null, 3],
  ["halt", "provider-error: authentication refused (401)", 4],
  ["halt", "call-failed: provider-error: no route", 4],
  ["halt", "budget-exhausted", 5],
  ["halt", "cost-exhausted", 5],
  ["halt", "work-exhausted", 5],
  ["halt", "memory-exhausted", 5],
  ["halt", "call-failed: call-failed: budget-exhausted", 5],
];
for (const [status, error, code] of runs) {
  Deno.test(`exitCodeOf() is ${code} for ${status} ${error}`, () => {
    assertEquals(exitCodeOf({ status, error }), code);
  });
}

const signals: [reason: unknown, code: number][] = [
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
  [new DOMException("Aborted", "AbortError"), 130],
];
for (const [reason, code] of signals) {
  Deno.test(`exitCodeOfSignal() is ${code} for ${reason}`, () => {
    assertEquals(exitCodeOfSignal(reason), code);
  });
}
