/**
 * Ends a run that waits, for good: its outcome is kept like any other, and its file is spent with it.
 *
 * @module
 */
import { type Refusal, refuse } from "../refusal.ts";
import type { RunRecord, SuspensionStore } from "../store.ts";
import type { RunAnswer, RunParts } from "./commission.ts";
import { holdFile } from "./file_beside.ts";
import { keeping } from "./keeping.ts";
import { LEASE_MS } from "./renewal.ts";
import { reportPayload, type RunReport, savedReport } from "./report.ts";
import { readSavedRun, type SavedRun } from "./saved_run.ts";
import { standing } from "./standing.ts";

/** A run that waited and is held now, so that nobody resumes it meanwhile. */
interface ClaimedRun {
  /** The record as it was while suspended. */
  readonly record: RunRecord;
  /** What was kept, if it can be read. */
  readonly saved: SavedRun | undefined;
  /** Where it is kept. */
  readonly store: SuspensionStore;
  /** The host and its runs. */
  readonly parts: RunParts;
}

/**
 * Cancels a run that waits. The file goes first: where it cannot be marked nothing is changed.
 *
 * @param seen The record, as it was found suspended.
 * @param parts The host and its runs.
 * @returns How it ended; a refusal if its file is in use, or was resumed elsewhere, which ends the record all the same;
 * `undefined` if somebody else took the run meanwhile.
 * @throws {KeepingError} If the store failed.
 * @throws {FileError} If the file could not be marked.
 */
export async function cancelSuspended(
  { handle = "" }: RunRecord,
  parts: RunParts,
): Promise<RunAnswer | undefined> {
  const { holder } = parts.supervisor;
  const store = await parts.supervisor.store();
  const claim = await keeping(store.claim(handle, { holder, leaseForMs: LEASE_MS }));
  if (claim.kind === "busy" || claim.kind === "already-resumed") return undefined;
  if (claim.kind !== "claimed") {
    return refuse("unknown-run", ["The run was kept for its time and is gone"]);
  }
  const { record } = claim;
  let answer: RunAnswer | undefined;
  try {
    const saved = readSavedRun(record.payload);
    answer = await endClaimed({ record, saved, store, parts });
  } finally {
    const over = answer?.kind === "report" || answer?.slug === "already-resumed";
    if (!over) await keeping(store.park(record.runId, holder));
  }
  return answer;
}

async function endClaimed(run: ClaimedRun): Promise<RunAnswer | undefined> {
  const { record, saved, parts } = run;
  const { clock, log } = parts.core.options.ports;
  const file = saved &&
    await holdFile({ saved: standing(saved, record), record, wanted: undefined }, parts);
  if (file?.kind === "refused") return await refusedBy(file, run);
  const report = cancelledReport(run, file?.warnings ?? []);
  const held = file?.kind === "held" ? file : undefined;
  try {
    await held?.spend({ runId: record.runId, machine: record.machine, status: "cancelled" });
    const expiresMs = clock.now() + parts.core.limits.outcomeTtlMs;
    const ended = await finish(run, { outcome: report, expiresMs });
    return ended ? { kind: "report", report, scripted: false } : undefined;
  } finally {
    await held?.release().catch((error: unknown) => log.write("error", String(error)));
  }
}

/** What was resumed from its file can be neither resumed nor cancelled here: its record would wait for ever. */
async function refusedBy(refusal: Refusal, run: ClaimedRun): Promise<Refusal> {
  if (refusal.slug !== "already-resumed") return refusal;
  const outcome = cancelledReport(run, []);
  await finish(run, { outcome, expiresMs: run.parts.core.options.ports.clock.now() });
  return refusal;
}

async function finish(
  { record, store, parts }: ClaimedRun,
  { outcome, expiresMs }: { readonly outcome: RunReport; readonly expiresMs: number },
): Promise<boolean> {
  const end = { reason: "halt", outcome: reportPayload(outcome), expiresMs };
  return (await keeping(store.finish(record.runId, parts.supervisor.holder, end))).kind !== "lost";
}

function cancelledReport(
  { record, saved }: ClaimedRun,
  warnings: readonly string[],
): RunReport {
  const before = saved && savedReport(saved, { checkpoint: undefined, warnings });
  const object = { ...before?.object, status: "halt", error: "cancelled", result: null };
  return {
    object,
    run_id: record.runId,
    machine: record.machine,
    provider: saved?.provider ?? "",
    kept: true,
    warnings: before?.warnings ?? warnings,
  };
}
