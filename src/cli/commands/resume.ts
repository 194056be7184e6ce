/**
 * `kit resume`.
 *
 * @module
 */
import type { Invocation } from "../command.ts";
import { openHost, optional } from "../open_host.ts";
import { printRun, ProgressLine } from "../run_output.ts";
import { readSettings } from "../set.ts";

/**
 * Goes on with a suspended run.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, context, out } = invocation;
  const inputs = readSettings(args.values("set"));
  const costBudget = args.positiveInteger("max-tokens");
  const host = openHost(invocation);
  const progress = new ProgressLine(out);
  const checkpoint = args.word(0);
  try {
    const emitted = await host.resume({
      checkpoint,
      force: args.has("force"),
      detail: args.value("detail") === "summary" ? "summary" : "full",
      replyVia: "cli",
      ...(args.has("set") ? { inputs } : {}),
      ...(args.has("hitl") ? { hitl: true } : {}),
      ...optional("costBudget", costBudget),
      ...optional("machine", args.value("machine")),
      ...optional("provider", args.value("provider")),
      ...optional("checkpointPath", args.value("checkpoint")),
      ...optional("onTruncate", args.value("on-truncate")),
      ...optional("onUntrustedFlow", args.value("untrusted-flow")),
    }, {
      ...optional("signal", context.signal),
      onProgress: (report) => progress.show(report),
    });
    await progress.clear();
    return await printRun(emitted, invocation, checkpoint);
  } finally {
    await progress.clear();
    await host.close();
  }
}
