/**
 * The call `check`: every problem of a machine, without running it and without asking for a provider.
 *
 * @module
 */
import { examineMachine } from "../machine/examine.ts";
import type { Diagnostic, ReadResult } from "../machine/mod.ts";
import type { HostCore } from "./core.ts";
import { sentence } from "./diagnostics.ts";
import { clip } from "../machine/format.ts";
import { type EmitOptions, emitRefusal } from "./emit.ts";
import { fitLists } from "./fit.ts";
import type { CallOptions, CheckEmitted, CheckRequest } from "./host.ts";
import { referenceProblems } from "./inputs.ts";
import { refuse } from "./refusal.ts";
import { findTarget, INLINE_PATH, type Target } from "./target.ts";

/** Most findings of one kind in the short text. */
const MAX_SHOWN = 20;
/** Most characters of a finding in the short text. */
const MAX_LINE_CHARS = 1000;

/**
 * Checks a machine.
 *
 * @param request The machine, and what is known to be wrong with the request.
 * @param core The host.
 * @param options How the answer is written.
 * @returns `{ok, errors, warnings, lint}` and the findings with their places.
 */
export async function checkTarget(
  request: CheckRequest & Pick<CallOptions, "problems">,
  core: HostCore,
  options: EmitOptions,
): Promise<CheckEmitted> {
  const problems = referenceProblems(request, request.problems);
  const target = problems.length > 0
    ? refuse("invalid-request", problems)
    : await findTarget(request, core);
  if (target.kind === "refused") {
    if (target.slug === "invalid-request") {
      return { ...emitRefusal(target, options), diagnostics: [], source: "" };
    }
    return unreadable(target.errors);
  }
  const inline = target.origin.path === INLINE_PATH;
  const { errors, warnings, lint } = examineMachine(readOf(target), {
    registry: target.registry,
    strict: request.strict ?? false,
  });
  const say = (findings: readonly Diagnostic[]): readonly string[] =>
    findings.map((finding) => sentence(finding, { inline }));
  const object = {
    ok: errors.length === 0,
    errors: say(errors),
    warnings: say(warnings),
    lint: say(lint),
    diagnostics: [...errors, ...warnings, ...lint].map(place),
  };
  return {
    object: fitLists(object, options.maxBytes),
    text: checkText(object, target.machine?.name),
    isError: false,
    ...(object.ok ? {} : { failure: "semantic" as const }),
    diagnostics: [...errors, ...warnings, ...lint],
    source: target.origin.source,
    ...(target.machine === undefined ? {} : { machine: target.machine }),
    registry: target.registry,
  };
}

/** What reading gave, with absent members absent. */
function readOf({ machine, draft, diagnostics }: Target): ReadResult {
  return {
    ...(machine === undefined ? {} : { machine }),
    ...(draft === undefined ? {} : { draft }),
    diagnostics,
  };
}

function unreadable(errors: readonly string[]): CheckEmitted {
  const object = { ok: false, errors, warnings: [], lint: [], diagnostics: [] };
  return {
    object,
    text: checkText(object, undefined),
    isError: false,
    failure: "load",
    diagnostics: [],
    source: "",
  };
}

/** A finding for programs: what, how severe, where, what to write instead. */
function place(finding: Diagnostic): Readonly<Record<string, string | number>> {
  const { severity, code, message, hint, position } = finding;
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(position === undefined ? {} : { line: position.line, column: position.column }),
  };
}

interface Checked {
  readonly ok: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly lint: readonly string[];
}

function checkText(checked: Checked, name: string | undefined): string {
  const { ok, errors, warnings, lint } = checked;
  const of = name === undefined ? "" : ` "${name}"`;
  const head = ok
    ? `ok: machine${of} can run; ${count(warnings, "warning")}, ${count(lint, "lint finding")}`
    : `not ok: machine${of} cannot run; ${count(errors, "error")}`;
  return [head, ...lines("error", errors), ...lines("warning", warnings), ...lines("lint", lint)]
    .join("\n");
}

function lines(label: string, findings: readonly string[]): readonly string[] {
  const shown = findings.slice(0, MAX_SHOWN).map((finding) =>
    clip(`${label}: ${finding}`, MAX_LINE_CHARS)
  );
  const more = findings.length - shown.length;
  return more > 0 ? [...shown, `${label}: … ${more} more`] : shown;
}

function count(findings: readonly string[], word: string): string {
  return `${findings.length} ${word}${findings.length === 1 ? "" : "s"}`;
}
