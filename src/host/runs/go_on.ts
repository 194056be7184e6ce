/**
 * Starts a run that was claimed, and waits for it.
 *
 * @module
 */
import { type RunAnswer, waitSeconds } from "./commission.ts";
import type { Resuming } from "./resuming.ts";
import type { StartRun } from "./run_supervisor.ts";

/**
 * Starts a claimed run and waits as long as the call may.
 *
 * @param start What it is started from.
 * @param resuming What is asked for. A cancelled call parks the run at its last settled state.
 * @returns How it ended or stands.
 */
export async function goOn(start: StartRun, resuming: Resuming): Promise<RunAnswer> {
  const { request, call, parts } = resuming;
  const run = await parts.supervisor.start(start);
  const report = await parts.supervisor.wait(run, {
    seconds: waitSeconds(request, parts.core),
    call,
    onCancel: "park",
  });
  return { kind: "report", report, scripted: start.prepared.models.scripted };
}
