/**
 * `kit run`.
 *
 * @module
 */
import type { HostOptions } from "../../host/mod.ts";
import { createRecorder } from "../../machine/mod.ts";
import { UsageError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import { openHost, optional } from "../open_host.ts";
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
  await checkWorkspace(invocation);
  const path = args.word(0);
  const host = openHost(invocation, recording(path, invocation));
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
    return await printRun(emitted, invocation, path);
  } finally {
    await progress.clear();
    await host.close();
  }
}

/** Keeps every answer of the run in a file, if that was asked for. */
function recording(path: string, { args, context }: Invocation): Partial<HostOptions> {
  const file = args.value("record");
  if (file === undefined) return {};
  return {
    wrapRun: (machine, options, start) => {
      const recorder = createRecorder(machine, options, start);
      return {
        options: recorder.options,
        ended: async (result) => {
          const text = JSON.stringify({ ...recorder.recording(result), path }, null, 2);
          await context.ports.files.writeAtomic(file, `${text}\n`);
        },
      };
    },
  };
}

async function checkWorkspace({ args, context }: Invocation): Promise<void> {
  const workspace = args.value("workspace");
  if (workspace === undefined) return;
  const status = await context.ports.files.stat(workspace);
  if (status?.kind !== "directory") {
    throw new UsageError(`--workspace needs a directory, and "${workspace}" is none`);
  }
}
