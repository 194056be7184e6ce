/**
 * Reports of evaluations for programs: JUnit XML, as build servers read it.
 *
 * @module
 */
import type { EvalReport, EvalResult } from "./eval_options.ts";

const MILLISECONDS = 1000;

/**
 * Writes a report as JUnit XML. Limits that were passed are a failed case of the name `limits`.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { reportJUnit, runEvalSuite } from "@kit/mcp";
 *
 * const report = await runEvalSuite([{ name: "a<b", run: () => 1, check: () => "no" }]);
 * assertStringIncludes(reportJUnit(report, "suite"), '<failure message="no"/>');
 * ```
 *
 * @param report The report.
 * @param name The suite's name.
 * @returns The document, ending in a line feed.
 */
export function reportJUnit(report: EvalReport, name: string): string {
  const { durationMs } = report;
  const cases = [...report.results, ...limitsCase(report)];
  const failures = cases.filter(({ passed }) => !passed).length;
  return '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuite name="${escapeXml(name)}" tests="${cases.length}" failures="${failures}" time="${
      seconds(durationMs)
    }">\n${cases.map((result) => testCase(result, name)).join("")}</testsuite>\n`;
}

/** What is told of one case. */
type Told = Pick<EvalResult, "name" | "passed" | "runs" | "passedRuns" | "durationMs" | "reason">;

/** Limits that were passed fail the suite, so they are a case of their own. */
function limitsCase({ exceeded }: EvalReport): readonly Told[] {
  if (exceeded.length === 0) return [];
  const reason = `limits passed: ${exceeded.join(", ")}`;
  return [{ name: "limits", passed: false, runs: 1, passedRuns: 0, durationMs: 0, reason }];
}

function testCase(result: Told, suite: string): string {
  const { passed, runs, passedRuns, durationMs, reason = "" } = result;
  const open = `  <testcase name="${escapeXml(result.name)}" classname="${
    escapeXml(suite)
  }" time="${seconds(durationMs)}"`;
  if (passed) return `${open}/>\n`;
  const tries = runs > 1 ? `${passedRuns} of ${runs} tries passed: ` : "";
  return `${open}>\n    <failure message="${escapeXml(tries + reason)}"/>\n  </testcase>\n`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / MILLISECONDS).toFixed(3);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["\n", "&#10;"],
  ["\t", "&#9;"],
]);

/** Escapes a text for an attribute; what XML 1.0 cannot hold is replaced. */
function escapeXml(text: string): string {
  return text.toWellFormed().replace(
    // deno-lint-ignore no-control-regex -- XML 1.0 has no place for these
    /[&<>"\n\t\x00-\x1f\x7f\ufffe\uffff]/g,
    (character) => ESCAPES.get(character) ?? "\ufffd",
  );
}
