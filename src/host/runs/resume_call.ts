/**
 * The call `resume`: look at a run, stop it, or go on with one that waits.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the names under which runs are stored
import type { CallOptions, ResumeRequest } from "../host.ts";
import { resumeProblems } from "../inputs.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { createRunOracle } from "../run_oracle.ts";
import type { Claim, RunRecord } from "../store.ts";
import { LEASE_MS } from "./active_run.ts";
import { type RunAnswer, type RunParts, waitSeconds } from "./commission.ts";
import { holdFile } from "./file_beside.ts";
import { isHandle, newHandle } from "./handles.ts";
import { stillWaits } from "./known_effect.ts";
import { readReport, savedReport } from "./report.ts";
import { restore } from "./restore.ts";
import { resumeFile } from "./resume_file.ts";
import { nextSaved, replyVia, type Resuming } from "./resuming.ts";
import { goOn } from "./go_on.ts";
import type { StartRun } from "./run_supervisor.ts";
import { INTERRUPTED, readSavedRun, type SavedRun } from "./saved_run.ts";

/** Most dead holders whose runs are taken over before a handle is looked up. */
const RECOVER_LIMIT = 100;

/**
 * Resumes, looks at or stops a run.
 *
 * @param request What is asked for.
 * @param call What the call brings.
 * @param parts The host and its runs.
 * @returns The run, or why it cannot be had; then nothing was changed.
 */
export async function resume(
  request: ResumeRequest,
  call: CallOptions,
  parts: RunParts,
): Promise<RunAnswer> {
  const problems = resumeProblems(request);
  if (problems.length > 0) return refuse("invalid-request", problems);
  const closed = await parts.supervisor.openable();
  if (closed !== undefined) return closed;
  const { run, checkpoint } = request;
  if (run !== undefined) return await look(run, { request, call, parts });
  const handle = checkpoint ?? "";
  if (!isHandle(handle)) return await resumeFile(handle, { request, call, parts });
  return await resumeHandle(handle, { request, call, parts });
}

async function look(runId: string, { request, call, parts }: Resuming): Promise<RunAnswer> {
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
  const store = await supervisor.store();
  const record = isHandle(runId) ? await recovered(runId, parts) : undefined;
  if (record === undefined) return await unknownRun(runId, parts);
  if (request.cancel === true && record.phase === "suspended") {
    await store.forget(runId);
    return { kind: "report", report: cancelledReport(record), scripted: false };
  }
  return { kind: "report", report: recordReport(record), scripted: false };
}

/** Models take one handle for the other: say so where it can be told. */
async function unknownRun(runId: string, { supervisor }: RunParts): Promise<Refusal> {
  const seen = await (await supervisor.store()).peek(runId);
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
  const record = await store.look(runId);
  if (record?.phase !== "running" || !store.durable) return record;
  await recoverRuns(parts);
  return await store.look(runId);
}

/**
 * Takes over the runs of dead holders, where the store outlives a process.
 *
 * @param parts The host and its runs.
 */
export async function recoverRuns({ core, supervisor }: RunParts): Promise<void> {
  const store = await supervisor.store();
  if (!store.durable) return;
  await store.recover({
    newHandle: () => newHandle(core.options.ports.random),
    limit: RECOVER_LIMIT,
    reason: INTERRUPTED,
  });
}

function recordReport(record: RunRecord): ReturnType<typeof savedReport> {
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
  const provider = saved?.provider ?? "";
  return { object, run_id: record.runId, machine: record.machine, provider, warnings: [] };
}

function cancelledReport(record: RunRecord): ReturnType<typeof savedReport> {
  const saved = readSavedRun(record.payload);
  const before = saved === undefined ? undefined : savedReport(saved, { checkpoint: undefined });
  const object = {
    ...before?.object,
    status: "halt",
    error: "cancelled",
    result: null,
  };
  return {
    object,
    run_id: record.runId,
    machine: record.machine,
    provider: saved?.provider ?? "",
    warnings: [],
  };
}

/** A record that was taken over says why itself, unless an effect is open. */
function standing(saved: SavedRun, record: RunRecord): SavedRun {
  return record.reason === INTERRUPTED ? saved : { ...saved, reason: record.reason };
}

async function resumeHandle(handle: string, resuming: Resuming): Promise<RunAnswer> {
  const { request, parts } = resuming;
  const { supervisor } = parts;
  const store = await supervisor.store();
  let seen = await store.peek(handle);
  if (seen.kind === "busy" && store.durable) {
    await recoverRuns(parts);
    seen = await store.peek(handle);
  }
  if (seen.kind === "unknown" && await isRun(handle, parts)) {
    return refuse("unknown-checkpoint", ['This is the handle of a run: pass it as "run" to look'], {
      run: handle,
    });
  }
  if (seen.kind !== "claimed") return claimRefusal(seen);
  const shown = readSavedRun(seen.record.payload);
  if (shown === undefined) {
    return refuse("bad-checkpoint", ["what the store keeps under this handle is no run of Kit"]);
  }
  const saved = standing(shown, seen.record);
  if (stillWaits(saved.reason, request.inputs)) {
    const report = savedReport(saved, { checkpoint: handle });
    return { kind: "report", report, scripted: false };
  }
  const reserved = supervisor.reserve();
  if ("kind" in reserved) return reserved;
  using slot = reserved;
  const claim = await store.claim(handle, { holder: supervisor.holder, leaseForMs: LEASE_MS });
  if (claim.kind !== "claimed") return claimRefusal(claim);
  return await resumeClaimed(saved, { handle, slot }, resuming);
}

async function isRun(handle: string, { supervisor }: RunParts): Promise<boolean> {
  if (supervisor.active(handle) !== undefined) return true;
  return (await (await supervisor.store()).look(handle)) !== undefined;
}

/** From here on the record is held: whatever fails puts it back. */
async function resumeClaimed(
  saved: SavedRun,
  { handle, slot }: { readonly handle: string; readonly slot: Disposable },
  resuming: Resuming,
): Promise<RunAnswer> {
  const { request, parts } = resuming;
  const { core, supervisor } = parts;
  const file = await holdFile({
    before: saved.checkpoint_file ?? undefined,
    wanted: request.checkpointPath,
    holder: supervisor.holder,
  }, core);
  let start: StartRun | undefined;
  try {
    if (file?.kind === "refused") return file;
    const restored = await restore(saved, { request, core });
    if (restored.kind === "refused") return restored;
    const { prepared } = restored;
    const warnings: string[] = [...restored.warnings];
    const kept = { ...restored.saved, checkpoint_file: file?.place.shown ?? null };
    start = {
      place: slot,
      prepared,
      saved: nextSaved(kept, resuming, warnings),
      oracle: await createRunOracle(prepared, core, resuming.call),
      fresh: undefined,
      keeper: await file?.keeper(saved.run_id, prepared),
      claimed: handle,
      warnings,
      replyVia: replyVia(resuming),
    };
  } finally {
    if (start === undefined) {
      if (file?.kind === "held") await file.release();
      await (await supervisor.store()).park(saved.run_id, supervisor.holder);
    }
  }
  return await goOn(start, resuming);
}

function claimRefusal(claim: Exclude<Claim, { kind: "claimed" }>): Refusal {
  const run = claim.runId;
  const where = run === undefined ? "" : `; look at the run with {"run": "${run}"}`;
  switch (claim.kind) {
    case "busy":
      return refuse("busy", [`This suspension is being resumed at the moment${where}`], { run });
    case "already-resumed":
      return refuse("already-resumed", [`This suspension was resumed before${where}`], { run });
    case "expired":
      return refuse("expired", ["This suspension was kept for its time and is gone"]);
    case "unknown":
      return refuse("unknown-checkpoint", [
        "No suspension has this handle: handles live as long as the process, unless a store is configured",
      ]);
  }
}
