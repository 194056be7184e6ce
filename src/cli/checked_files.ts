/**
 * Checks files and shows what was found: what `kit check` and `kit lint` have in common.
 *
 * @module
 */
import type { CheckEmitted, Host } from "../host/mod.ts";
import type { Diagnostic } from "../machine/mod.ts";
import type { Invocation } from "./command.ts";
import { type EnvelopeDiagnostic, statusStyle } from "./envelope.ts";
import { githubLines, sarifLog } from "./findings.ts";
import { type Output, printable } from "./output.ts";
import { textsOf } from "./run_output.ts";

/** A file that was checked. */
export interface CheckedFile {
  /** As it was named. */
  readonly path: string;
  /** What the host gave. */
  readonly emitted: CheckEmitted;
  /** What stops a run. */
  readonly errors: readonly string[];
  /** What does not. */
  readonly warnings: readonly string[];
  /** What lint found, with its severity. */
  readonly findings: readonly Diagnostic[];
}

/** Which findings of a file count. */
export type Wanted = (diagnostic: Diagnostic, all: readonly Diagnostic[]) => boolean;

/** What an item of a check or a lint says. */
export type FileStatus = "ok" | "warning" | "error";

/**
 * Checks files, one after the other.
 *
 * @param host The host.
 * @param paths Files, or names of machines.
 * @param options `strict`: an unknown language version is an error.
 * @returns One entry a path, in order.
 */
export async function checkFiles(
  host: Host,
  paths: readonly string[],
  options: { readonly strict: boolean },
): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  for (const path of paths) {
    const emitted = await host.check({ path, strict: options.strict });
    checked.push({
      path,
      emitted,
      errors: textsOf(emitted.object, "errors"),
      warnings: textsOf(emitted.object, "warnings"),
      findings: emitted.diagnostics.filter(({ stage }) => stage === "lint"),
    });
  }
  return checked;
}

/**
 * Prints findings in the format of another program, if that was asked for.
 *
 * @param files What was checked.
 * @param invocation The format.
 * @param wanted Which findings count.
 * @returns Whether it printed.
 */
export async function printForeign(
  files: readonly CheckedFile[],
  { format, out, context }: Invocation,
  wanted: Wanted,
): Promise<boolean> {
  const found = files.map((file) => ({
    path: file.path,
    diagnostics: wantedOf(file, wanted),
  }));
  if (format === "github") {
    for (const line of githubLines(found)) await out.line(line);
    return true;
  }
  if (format === "sarif") await out.json(sarifLog(found, context.version));
  return format === "sarif";
}

/**
 * Prints a file and its findings as text.
 *
 * @param file What was checked.
 * @param status How it stands.
 * @param options Where to print, and which findings count.
 */
export async function printFile(
  file: CheckedFile,
  status: FileStatus,
  options: { readonly out: Output; readonly wanted: Wanted },
): Promise<void> {
  const { out, wanted } = options;
  const head = out.style(statusStyle(status), status.toUpperCase());
  await out.line(`${head} ${printable(file.path)}`);
  for (const diagnostic of wantedOf(file, wanted)) {
    for (const line of diagnosticLines(diagnostic, { out, path: file.path })) await out.line(line);
  }
}

/**
 * Gives what was found in all files for the envelope.
 *
 * @param files What was checked.
 * @param wanted Which findings count.
 * @returns The findings, each with its file and, where it has one, its place.
 */
export function envelopeDiagnostics(
  files: readonly CheckedFile[],
  wanted: Wanted,
): readonly EnvelopeDiagnostic[] {
  return files.flatMap((file) =>
    wantedOf(file, wanted).map(({ severity, message, code, hint, position }) => ({
      severity,
      message,
      code,
      path: file.path,
      hint: hint ?? null,
      ...(position === undefined ? {} : { line: position.line, column: position.column }),
    }))
  );
}

/**
 * Tells whether a finding is not said a second time by lint, which repeats some findings of check.
 *
 * @param diagnostic A finding.
 * @param all All findings of the file.
 * @returns Whether it is lint's own, or lint is silent about it.
 */
export function saidOnce(diagnostic: Diagnostic, all: readonly Diagnostic[]): boolean {
  if (diagnostic.stage === "lint") return true;
  return !all.some(({ stage, code, message }) =>
    stage === "lint" && code === diagnostic.code && message === diagnostic.message
  );
}

/** The findings; where the host could only give texts, as findings without a place. */
function diagnosticsOf({ emitted, errors }: CheckedFile): readonly Diagnostic[] {
  if (emitted.diagnostics.length > 0) return emitted.diagnostics;
  return errors.map((message) => ({ severity: "error", code: "load", message }));
}

function wantedOf(file: CheckedFile, wanted: Wanted): Diagnostic[] {
  const all = diagnosticsOf(file);
  return all.filter((diagnostic) => wanted(diagnostic, all));
}

function diagnosticLines(
  diagnostic: Diagnostic,
  { out, path }: { readonly out: Output; readonly path: string },
): string[] {
  const { severity, stage, message, code, position, excerpt, hint } = diagnostic;
  const label = stage === "lint" ? "lint" : severity;
  const color = severity === "error" ? "red" : "yellow";
  const place = position === undefined
    ? ""
    : ` at ${printable(path)}:${position.line}:${position.column}`;
  const text = printable(message).replaceAll("\n", "\n    ");
  const lines = [
    `  ${out.style(color, `${label}:`)} ${text} ${out.style("dim", `[${code}]${place}`)}`,
  ];
  if (position !== undefined && excerpt !== undefined && excerpt.trim() !== "") {
    const gutter = `    ${position.line} | `;
    // Tabs are kept before the mark, so that it stands under its place whatever a tab is wide.
    const before = [...excerpt].slice(0, position.column - 1)
      .map((char) => char === "\t" ? char : " ").join("");
    lines.push(out.style("dim", `${gutter}${printable(excerpt)}`));
    if (before.length < excerpt.length) {
      lines.push(`${" ".repeat(gutter.length)}${before}${out.style(color, "^")}`);
    }
  }
  if (hint !== undefined) lines.push(`    ${out.style("cyan", printable(hint))}`);
  return lines;
}
