/**
 * `kit run`.
 *
 * @module
 */
import type { Invocation } from "../command.ts";
import { needDirectory, openHost, optional } from "../open_host.ts";
import { openRecording } from "../recording.ts";
import { printRun, ProgressLine } from "../run_output.ts";
import { readSettings } from "../set.ts";

/**
 * Runs a machine.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, context, out } = invocation;
  const inputs = readSettings(args.values("set"));
  const costBudget = args.positiveInteger("max-tokens");
  await needDirectory(invocation, "workspace");
  const path = args.word(0);
  const recording = await openRecording(invocation);
  const host = openHost(invocation, recording?.options(path));
  const progress = new ProgressLine(out);
  try {
    const emitted = await host.run({
      path,
      inputs,
      hitl: args.has("hitl"),
      strict: args.has("strict"),
      detail: args.value("detail") === "summary" ? "summary" : "full",
      ...optional("costBudget", costBudget),
      ...optional("checkpointPath", args.value("checkpoint")),
      ...optional("onTruncate", args.value("on-truncate")),
      ...optional("onUntrustedFlow", args.value("untrusted-flow")),
    }, {
      ...optional("signal", context.signal),
      onProgress: (report) => progress.show(report),
    });
    await progress.clear();
    const code = await printRun(emitted, invocation, path);
    return recording === undefined ? code : await recording.report(code, out);
  } finally {
    await progress.clear();
    await host.close();
  }
}
