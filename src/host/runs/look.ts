/**
 * Looks at a run: one of this process, one that another process holds, one that waits, or one that has ended.
 *
 * @module
 */
import { type Refusal, refuse } from "../refusal.ts";
import type { RunRecord } from "../store.ts";
import { cancelSuspended } from "./cancel_suspended.ts";
import { type RunAnswer, type RunParts, waitSeconds } from "./commission.ts";
import { isHandle, newHandle } from "./handles.ts";
import { keeping } from "./keeping.ts";
import { readReport, type RunReport, savedReport } from "./report.ts";
import type { Resuming } from "./resuming.ts";
import { INTERRUPTED, readSavedRun } from "./saved_run.ts";
import { standing } from "./standing.ts";

/** Most dead holders whose runs are taken over in one go. */
const RECOVER_LIMIT = 100;
/** How often a run that another process holds is looked at, in milliseconds. */
const POLL_MS = 1000;

/**
 * Looks at a run, and waits for it as long as the call may.
 *
 * @param runId The run's handle.
 * @param resuming What is asked for.
 * @returns How the run stands, or that nobody knows it.
 */
export async function look(runId: string, { request, call, parts }: Resuming): Promise<RunAnswer> {
  const { core, supervisor } = parts;
  const active = supervisor.active(runId);
  if (active !== undefined) {
    active.announced = true;
    if (request.cancel === true) active.stop("cancel");
    const report = await supervisor.wait(active, {
      seconds: waitSeconds(request, core),
      call,
      onCancel: "leave",
    });
    return { kind: "report", report, scripted: active.scripted };
  }
  const record = isHandle(runId) ? await awaited(runId, { request, call, parts }) : undefined;
  if (record === undefined) return await unknownRun(runId, parts);
  if (request.cancel === true && record.phase === "suspended") {
    return await cancelSuspended(record, parts) ?? await look(runId, { request, call, parts });
  }
  const report = recordReport(record);
  if (request.cancel !== true || record.phase !== "running") {
    return { kind: "report", report, scripted: false };
  }
  const warnings = [
    ...report.warnings,
    "another process holds the run: it can be stopped only there",
  ];
  return { kind: "report", report: { ...report, warnings }, scripted: false };
}

/** Waits for a run that another process holds, by looking again and again. */
async function awaited(
  runId: string,
  { request, call, parts }: Resuming,
): Promise<RunRecord | undefined> {
  const { clock } = parts.core.options.ports;
  const seconds = waitSeconds(request, parts.core);
  const until = seconds === 0 ? Infinity : clock.monotonic() + seconds * 1000;
  while (true) {
    const record = await recovered(runId, parts);
    const left = until - clock.monotonic();
    if (record?.phase !== "running" || request.cancel === true || left <= 0) return record;
    try {
      await clock.sleep(
        Math.min(POLL_MS, left),
        call.signal === undefined ? {} : { signal: call.signal },
      );
    } catch {
      return record;
    }
  }
}

/** Models take one handle for the other: say so where it can be told. */
async function unknownRun(runId: string, { supervisor }: RunParts): Promise<Refusal> {
  const seen = await keeping((await supervisor.store()).peek(runId));
  if (seen.kind === "claimed") {
    return refuse("unknown-run", ['This is the handle of a suspension: pass it as "checkpoint"']);
  }
  return refuse("unknown-run", [
    "No run has this handle: it never had, or its outcome was kept for its time and is gone",
  ]);
}

/** Looks at a record; if its holder died, it is taken over first. */
async function recovered(runId: string, parts: RunParts): Promise<RunRecord | undefined> {
  const store = await parts.supervisor.store();
  const record = await keeping(store.look(runId));
  if (record?.phase !== "running" || !store.durable) return record;
  await recoverRuns(parts);
  return await keeping(store.look(runId));
}

/**
 * Takes over the runs of dead holders, where the store outlives a process.
 *
 * @param parts The host and its runs.
 */
export async function recoverRuns({ core, supervisor }: RunParts): Promise<void> {
  const store = await supervisor.store();
  if (!store.durable) return;
  await keeping(store.recover({
    newHandle: () => newHandle(core.options.ports.random),
    limit: RECOVER_LIMIT,
    reason: INTERRUPTED,
  }));
}

function recordReport(record: RunRecord): RunReport {
  if (record.phase === "finished") {
    const report = readReport(record.payload);
    if (report !== undefined) return report;
  }
  const saved = readSavedRun(record.payload);
  if (saved !== undefined && record.phase === "suspended") {
    return savedReport(standing(saved, record), { checkpoint: record.handle });
  }
  const at = record.at === undefined ? {} : { at: record.at };
  const object = {
    status: "running",
    error: null,
    result: null,
    usage: null,
    trace: [],
    ...at,
  };
  return {
    object,
    run_id: record.runId,
    machine: record.machine,
    provider: saved?.provider ?? "",
    kept: true,
    warnings: [],
  };
}
