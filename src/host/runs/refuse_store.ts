/**
 * Says in the words of a call why the store of runs cannot be used.
 *
 * @module
 */
import { type Refusal, refuse } from "../refusal.ts";
import { BusyStoreError, UnreadableRecordError } from "../store.ts";

/**
 * Refuses a call because the store of runs failed.
 *
 * @param cause What the store threw.
 * @returns `bad-checkpoint` for a record that cannot be read, `busy` for a storage that another program holds, else
 * `prepare-failed`.
 */
export function refuseStore(cause: unknown): Refusal {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof UnreadableRecordError) return refuse("bad-checkpoint", [why]);
  if (cause instanceof BusyStoreError) {
    return refuse("busy", [`another program holds the store of runs (${why}): try again`]);
  }
  return refuse("prepare-failed", [`the store of runs cannot be used: ${why}`], {
    failure: "store",
  });
}
