/**
 * Findings of check and lint, in the formats of others: annotations of GitHub Actions, and
 * {@link https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html | SARIF 2.1.0}.
 *
 * @module
 */
import type { Diagnostic } from "../machine/mod.ts";

/** What was found in one file. */
export interface FileFindings {
  /** The file, as it was named. */
  readonly path: string;
  /** The findings, in order. */
  readonly diagnostics: readonly Diagnostic[];
}

const GITHUB_LEVELS = { error: "error", warning: "warning", note: "notice" } as const;

/**
 * Writes findings as workflow commands of GitHub Actions, which shows them beside the lines of a change.
 *
 * @param files What was found.
 * @returns One line a finding.
 */
export function githubLines(files: readonly FileFindings[]): string[] {
  return files.flatMap(({ path, diagnostics }) =>
    diagnostics.map(({ severity, code, message, hint, position }) => {
      const place = position === undefined ? "" : `,line=${position.line},col=${position.column}`;
      const text = hint === undefined ? message : `${message}\n${hint}`;
      return `::${GITHUB_LEVELS[severity]} file=${property(path)}${place},title=${
        property(code)
      }::${data(text)}`;
    })
  );
}

/**
 * Writes findings as a SARIF log.
 *
 * @param files What was found.
 * @param version Kit's version.
 * @returns The log, ready for `JSON.stringify`.
 */
export function sarifLog(
  files: readonly FileFindings[],
  version: string,
): Readonly<Record<string, unknown>> {
  const codes = [
    ...new Set(files.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))),
  ];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "kit", version, rules: codes.toSorted().map((id) => ({ id })) } },
      columnKind: "unicodeCodePoints",
      results: files.flatMap((file) => file.diagnostics.map((found) => result(file.path, found))),
    }],
  };
}

function result(path: string, diagnostic: Diagnostic): Readonly<Record<string, unknown>> {
  const { code, severity, message, hint, position } = diagnostic;
  const region = position === undefined
    ? {}
    : { region: { startLine: position.line, startColumn: position.column } };
  return {
    ruleId: code,
    level: severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    locations: [{
      physicalLocation: { artifactLocation: { uri: uriOf(path) }, ...region },
    }],
  };
}

/** A relative reference: what SARIF wants, with odd characters of file names escaped. */
function uriOf(path: string): string {
  return path.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
