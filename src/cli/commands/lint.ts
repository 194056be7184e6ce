/**
 * `kit lint`.
 *
 * @module
 */
import {
  type CheckedFile,
  checkFiles,
  type FileStatus,
  printFile,
  printForeign,
} from "../checked_files.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost } from "../open_host.ts";

/**
 * Checks machines and looks for what usually goes wrong.
 *
 * @param invocation What was asked.
 * @returns 0; 1 if a machine cannot run, or with `--strict` if anything was found that is more than a note.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, format, out } = invocation;
  const strict = args.has("strict");
  const host = openHost(invocation);
  try {
    const files = await checkFiles(host, args.positionals, { strict });
    const failed = files.some((file) => file.errors.length > 0 || (strict && grave(file)));
    const code = failed ? EXIT.finding : EXIT.ok;
    const wanted = (): boolean => true;
    if (await printForeign(files, invocation, wanted)) return code;
    const findings = files.reduce((total, file) => total + file.findings.length, 0);
    if (format === "json") {
      await out.json({
        command: "lint",
        ok: !failed,
        items: files.map(itemOf),
        diagnostics: [],
        summary: { files: files.length, findings },
      });
      return code;
    }
    for (const file of files) await printFile(file, statusOf(file), { out, wanted });
    await out.line(out.style("dim", `files=${files.length} · findings=${findings}`));
    return code;
  } finally {
    await host.close();
  }
}

/** Whether anything was found that is more than advice. */
function grave({ findings }: CheckedFile): boolean {
  return findings.some(({ severity }) => severity !== "note");
}

function itemOf(file: CheckedFile): Readonly<Record<string, unknown>> {
  const { path, errors, warnings, findings } = file;
  const texts = findings.map(({ message }) => message);
  return { path, status: statusOf(file), errors, warnings, findings: texts, llm_findings: [] };
}

function statusOf({ errors, findings }: CheckedFile): FileStatus {
  if (errors.length > 0) return "error";
  return findings.length > 0 ? "warning" : "ok";
}
