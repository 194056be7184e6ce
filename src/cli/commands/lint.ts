/**
 * `kit lint`.
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
  saidOnce,
} from "../checked_files.ts";
import { InputError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import type { Host } from "../../host/mod.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost, optional } from "../open_host.ts";
import { printable } from "../output.ts";

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
    const live = args.has("llm") ? await askModel(host, files, invocation) : NO_LIVE_FINDINGS;
    if (live instanceof Error) {
      await out.error(`${out.styleError("red", "error:")} ${printable(live.message)}`);
      return EXIT.provider;
    }
    const failed = files.some((file) => file.errors.length > 0 || (strict && grave(file)));
    const code = failed ? EXIT.finding : EXIT.ok;
    if (await printForeign(files, invocation, saidOnce)) return code;
    const findings = files.reduce((total, file) => total + file.findings.length, 0);
    if (format === "json") {
      await out.json({
        command: "lint",
        ok: !failed,
        items: files.map((file) => itemOf(file, live.get(file) ?? [])),
        diagnostics: envelopeDiagnostics(files, saidOnce),
        summary: { files: files.length, findings },
      });
      return code;
    }
    for (const file of files) {
      await printFile(file, statusOf(file), { out, wanted: saidOnce });
      for (const text of live.get(file) ?? []) await out.line(`  llm: ${printable(text)}`);
    }
    await out.line(out.style("dim", `files=${files.length} · findings=${findings}`));
    return code;
  } finally {
    await host.close();
  }
}

/** No literal where it is imported: only `--llm` runs states. */
const MACHINE: string = "../../machine/mod.ts";

type LiveFindings = ReadonlyMap<CheckedFile, readonly string[]>;

const NO_LIVE_FINDINGS: LiveFindings = new Map();

async function askModel(
  host: Host,
  files: readonly CheckedFile[],
  { args, context }: Invocation,
): Promise<LiveFindings | Error> {
  const outcome = await host.models();
  if (outcome.kind === "problem") {
    const { code, message } = outcome.problem;
    if (code === "script") throw new InputError(message);
    return new Error(message);
  }
  const { createModelOracle, liveLint, parseMachine }: typeof import("../../machine/mod.ts") =
    await import(MACHINE);
  const { tiers, judge, params } = outcome.models;
  const oracle = createModelOracle({
    tiers,
    params,
    ledger: await host.ledger(),
    ports: context.ports,
    ...optional("judge", judge),
  });
  const found = new Map<CheckedFile, readonly string[]>();
  for (const file of files) {
    const { machine } = await parseMachine(file.emitted.source);
    if (machine === undefined) continue;
    const { findings } = await liveLint(machine, oracle, {
      ...optional("signal", context.signal),
      ...optional("samples", args.positiveInteger("llm-samples")),
      ...optional("repeats", args.positiveInteger("llm-repeats")),
    });
    found.set(file, findings.map(({ message }) => message));
  }
  return found;
}

/** Whether anything was found that is more than advice. */
function grave({ findings }: CheckedFile): boolean {
  return findings.some(({ severity }) => severity !== "note");
}

function itemOf(
  file: CheckedFile,
  live: readonly string[],
): Readonly<Record<string, unknown>> {
  const { path, errors, warnings, findings } = file;
  const texts = findings.map(({ message }) => message);
  return { path, status: statusOf(file), errors, warnings, findings: texts, llm_findings: live };
}

function statusOf({ errors, findings }: CheckedFile): FileStatus {
  if (errors.length > 0) return "error";
  return findings.length > 0 ? "warning" : "ok";
}
