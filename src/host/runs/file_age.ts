/**
 * Tells whether a checkpoint file and what a store keeps of the same run are at the same point, or which has gone on.
 *
 * @module
 */
import type { Checkpoint, Frame } from "../../machine/mod.ts";
import { member } from "../../json/mod.ts";
import type { RunRecord } from "../store.ts";
import { sha256 } from "./handles.ts";
import { INTERRUPTED, type SavedRun } from "./saved_run.ts";

/** What a file is compared with. */
export interface KeptRun {
  /** The run as the store keeps it, for the reason that holds. */
  readonly saved: SavedRun;
  /** Its record as it is, or was before it was claimed: suspended, with its handle. */
  readonly record: RunRecord;
  /** Whether the store outlives a process, so that the record may be one of a dead holder. */
  readonly durable: boolean;
}

/**
 * Reads which suspension a file was written for.
 *
 * @param checkpoint The file.
 * @returns SHA-256 of the handle, in hex; `undefined` for a file that was written while its run went on.
 */
export function suspensionOf({ metadata }: Checkpoint): string | undefined {
  const value = member(metadata ?? {}, "suspension");
  return typeof value === "string" ? value : undefined;
}

/**
 * Compares a file with the record of its run.
 *
 * A file of another suspension is later, unless the run left it behind itself: the record says which suspension the file
 * was of when it was last held. After a holder died its record has a new handle, so that its file cannot have the same;
 * such a file counts as the older one.
 *
 * @param checkpoint The file; of the same run.
 * @param kept The record.
 * @returns `later` where somebody went on with the file, `older` where the record did, else `same`.
 */
export async function ageOfFile(
  checkpoint: Checkpoint,
  { saved, record, durable }: KeptRun,
): Promise<"older" | "same" | "later"> {
  const recovered = durable && record.reason === INTERRUPTED;
  const suspension = suspensionOf(checkpoint);
  if (suspension !== undefined) {
    if (record.handle !== undefined && suspension === await sha256(record.handle)) return "same";
    return recovered || suspension === saved.file_suspension ? "older" : "later";
  }
  const ahead = stepsAhead(checkpoint.frames, saved.frames);
  if (ahead !== 0) return ahead > 0 ? "later" : "older";
  if (checkpoint.reason === saved.reason) return "same";
  return recovered ? "older" : "later";
}

/** Outermost call first: where those are at the same step, the calls within decide. */
function stepsAhead(left: readonly Frame[], right: readonly Frame[]): number {
  for (const [depth, frame] of left.entries()) {
    const ahead = frame.steps - (right[depth]?.steps ?? frame.steps);
    if (ahead !== 0) return ahead;
  }
  return 0;
}
