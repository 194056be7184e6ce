/**
 * Everything that can be said about a machine before it runs.
 *
 * @module
 */
import { checkMachine, type CheckOptions, checkReferences } from "./check.ts";
import type { Diagnostic } from "./document.ts";
import { lintMachine, type LintOptions } from "./lint.ts";
import type { ReadResult } from "./read.ts";

/** What was found, by what it means for a run. */
export interface Examination {
  /** What blocks a run. */
  readonly errors: readonly Diagnostic[];
  /** What does not. */
  readonly warnings: readonly Diagnostic[];
  /** What lint found; empty if the machine could not be read. */
  readonly lint: readonly Diagnostic[];
}

/**
 * Checks and lints what was read.
 *
 * Where the document breaks the grammar, names that refer to nothing are found all the same, so that one pass tells all.
 *
 * @param read What reading gave.
 * @param options Registry, strictness and effects.
 * @returns Errors, warnings and findings, each in its fixed order.
 */
export function examineMachine(
  read: ReadResult,
  options: CheckOptions & LintOptions = {},
): Examination {
  const checked = read.machine !== undefined
    ? checkMachine(read.machine, options)
    : read.draft !== undefined
    ? checkReferences(read.draft, options)
    : [];
  const all = [...read.diagnostics, ...checked];
  return {
    errors: all.filter(({ severity }) => severity === "error"),
    warnings: all.filter(({ severity }) => severity === "warning"),
    lint: read.machine === undefined ? [] : lintMachine(read.machine, options),
  };
}
