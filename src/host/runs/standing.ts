/**
 * Tells how a run stands whose record was taken over.
 *
 * @module
 */
import type { RunRecord } from "../store.ts";
import { INTERRUPTED, type SavedRun } from "./saved_run.ts";

/**
 * Gives a saved run as it stands: a record that was taken over says why itself, unless an effect is open.
 *
 * @param saved What was kept.
 * @param record The record.
 * @returns The run with the reason that holds.
 */
export function standing(saved: SavedRun, record: RunRecord): SavedRun {
  return record.reason === INTERRUPTED ? saved : { ...saved, reason: record.reason };
}
