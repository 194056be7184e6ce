/**
 * `kit check`.
 *
 * @module
 */
import {
  type CheckedFile,
  checkFiles,
  envelopeDiagnostics,
  type FileStatus,
  printFile,
  printForeign,
} from "../checked_files.ts";
import type { Invocation } from "../command.ts";
import { estimateRun } from "../../machine/estimate.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost, optional } from "../open_host.ts";
import { grouped } from "../run_output.ts";

/**
 * Checks machines without running them.
 *
 * @param invocation What was asked.
 * @returns 0, or 1 if a machine cannot run.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, format, out } = invocation;
  const host = openHost(invocation);
  try {
    const files = await checkFiles(host, args.positionals, { strict: args.has("strict") });
    const ok = files.every(({ errors }) => errors.length === 0);
    const code = ok ? EXIT.ok : EXIT.finding;
    const wanted = ({ stage }: { readonly stage?: string }): boolean => stage !== "lint";
    if (await printForeign(files, invocation, wanted)) return code;
    const [only, ...others] = files;
    if (format === "json") {
      await out.json(
        only !== undefined && others.length === 0 ? only.emitted.object : {
          command: "check",
          ok,
          items: files.map(itemOf),
          diagnostics: envelopeDiagnostics(files, wanted),
          summary: { files: files.length },
        },
      );
      return code;
    }
    for (const file of files) {
      await printFile(file, statusOf(file), { out, wanted });
      const most = atMost(file);
      if (most !== undefined) await out.line(out.style("dim", `  ${most}`));
    }
    await out.line(out.style("dim", `files=${files.length}`));
    return code;
  } finally {
    await host.close();
  }
}

/** The most that a run can cost, if that can be known. */
function atMost({ emitted, errors }: CheckedFile): string | undefined {
  const { machine, registry } = emitted;
  if (machine === undefined || errors.length > 0) return undefined;
  const { modelCalls, completionTokens } = estimateRun(machine, optional("registry", registry));
  if (modelCalls === undefined) return undefined;
  const tokens = completionTokens === undefined
    ? ""
    : `, ${grouped(completionTokens)} completion tokens`;
  const calls = modelCalls === 1 ? "call" : "calls";
  return `a run makes at most ${grouped(modelCalls)} model ${calls}${tokens}`;
}

function itemOf(file: CheckedFile): Readonly<Record<string, unknown>> {
  const { path, errors, warnings } = file;
  return { path, status: statusOf(file), errors, warnings };
}

function statusOf({ errors, warnings }: CheckedFile): FileStatus {
  if (errors.length > 0) return "error";
  return warnings.length > 0 ? "warning" : "ok";
}
