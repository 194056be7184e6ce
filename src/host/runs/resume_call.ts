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
import { LEASE_MS } from "./renewal.ts";
import { refusingArguments, type RunAnswer, type RunParts } from "./commission.ts";
import { holdFile } from "./file_beside.ts";
import { isHandle } from "./handles.ts";
import { keeping } from "./keeping.ts";
import { look, recoverRuns } from "./look.ts";
import { stillWaits } from "./known_effect.ts";
import { savedReport } from "./report.ts";
import { restore } from "./restore.ts";
import { resumeFile } from "./resume_file.ts";
import { nextSaved, replyVia, type Resuming } from "./resuming.ts";
import { goOn } from "./go_on.ts";
import type { StartRun } from "./run_supervisor.ts";
import { readSavedRun, type SavedRun } from "./saved_run.ts";
import { standing } from "./standing.ts";

/**
 * Resumes, looks at or stops a run.
 *
 * @param request What is asked for.
 * @param call What the call brings.
 * @param parts The host and its runs.
 * @returns The run, or why it cannot be had; then nothing was changed.
 */
export function resume(
  request: ResumeRequest,
  call: CallOptions,
  parts: RunParts,
): Promise<RunAnswer> {
  return refusingArguments(parts, () => resumeRun(request, call, parts));
}

async function resumeRun(
  request: ResumeRequest,
  call: CallOptions,
  parts: RunParts,
): Promise<RunAnswer> {
  const problems = resumeProblems(request, call.problems);
  if (problems.length > 0) return refuse("invalid-request", problems);
  const closed = await parts.supervisor.openable();
  if (closed !== undefined) return closed;
  const { run, checkpoint } = request;
  if (run !== undefined) return await look(run, { request, call, parts });
  const handle = checkpoint ?? "";
  if (!isHandle(handle)) return await resumeFile(handle, { request, call, parts }, resumeHandle);
  return await resumeHandle(handle, { request, call, parts });
}

async function resumeHandle(handle: string, resuming: Resuming): Promise<RunAnswer> {
  const { request, parts } = resuming;
  const { supervisor } = parts;
  const store = await supervisor.store();
  let seen = await keeping(store.peek(handle));
  if (seen.kind === "busy" && store.durable) {
    await recoverRuns(parts);
    seen = await keeping(store.peek(handle));
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
  const claim = await keeping(
    store.claim(handle, { holder: supervisor.holder, leaseForMs: LEASE_MS }),
  );
  if (claim.kind !== "claimed") return claimRefusal(claim);
  return await resumeClaimed(saved, { record: claim.record, handle, slot }, resuming);
}

async function isRun(handle: string, { supervisor }: RunParts): Promise<boolean> {
  if (supervisor.active(handle) !== undefined) return true;
  return (await keeping((await supervisor.store()).look(handle))) !== undefined;
}

/** From here on the record is held: whatever fails puts it back. */
async function resumeClaimed(
  saved: SavedRun,
  { record, handle, slot }: {
    readonly record: RunRecord;
    readonly handle: string;
    readonly slot: Disposable;
  },
  resuming: Resuming,
): Promise<RunAnswer> {
  const { request, parts } = resuming;
  const { core, supervisor } = parts;
  let file: Awaited<ReturnType<typeof holdFile>>;
  let start: StartRun | undefined;
  try {
    file = await holdFile({ saved, record, wanted: request.checkpointPath }, parts);
    if (file?.kind === "refused") return file;
    const restored = await restore(saved, { request, core });
    if (restored.kind === "refused") return restored;
    const { prepared } = restored;
    const warnings: string[] = [...restored.warnings, ...file?.warnings ?? []];
    const held = file?.kind === "held" ? file : undefined;
    const kept = {
      ...restored.saved,
      checkpoint_file: held?.place.shown ?? null,
      checkpoint_path: held?.place.path ?? null,
      file_suspension: held?.suspension ?? null,
    };
    start = {
      place: slot,
      prepared,
      saved: nextSaved(kept, resuming, warnings),
      oracle: await createRunOracle(prepared, core, resuming.call),
      fresh: undefined,
      keeper: await held?.keeper(prepared),
      claimed: handle,
      warnings,
      replyVia: replyVia(resuming),
    };
  } finally {
    if (start === undefined) {
      try {
        await keeping((await supervisor.store()).park(saved.run_id, supervisor.holder));
      } finally {
        if (file?.kind === "held") await file.release();
      }
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
