/**
 * Lint: what is legal in a machine and yet likely not meant.
 *
 * @module
 */
import { isCatchAll } from "./build.ts";
import type { Diagnostic, Gate, Machine, Registry, State } from "./document.ts";
import type { ToolEffect } from "./effects.ts";
import { type Finding, placeFindings, quoted } from "./finding.ts";
import { callCycles, flowTaint } from "./lint_flow.ts";
import { END } from "./paths.ts";
import { placeholdersOf, templatesOf, unresolvedReferences } from "./references.ts";

/** How a machine is linted. */
export interface LintOptions {
  /** What `call:` can reach; absent: effects behind calls are not looked for. */
  readonly registry?: Registry;
  /** Effect classes that differ from the table of the language. */
  readonly toolEffects?: ReadonlyMap<string, ToolEffect>;
}

/**
 * Lints a machine.
 *
 * The order is fixed: the source; each state in turn; escalations; the flow of untrusted decisions; placeholders. A
 * finding of severity `note` is advice even where findings count as errors; its message starts with `note:`.
 *
 * @param machine The machine.
 * @param options Registry and effects.
 * @returns The findings, beside those of `checkMachine`.
 */
export function lintMachine(machine: Machine, options: LintOptions = {}): readonly Diagnostic[] {
  const read = readRoots(machine);
  return placeFindings(machine, "lint", [
    ...lintSource(machine.source),
    ...[...machine.states.values()].flatMap((state) => [
      ...lintGates(state),
      ...lintOutput(state, { machine, read }),
    ]),
    ...lintEscalations(machine),
    ...flowTaint(machine, options),
    ...callCycles(machine, options.registry),
    ...unresolvedReferences(machine),
  ]);
}

function* lintSource(source: string): Generator<Finding> {
  const lines = source.split("\n");
  for (const [index, line] of lines.entries()) {
    const start = line.trimStart();
    if (!start.startsWith("- when:")) continue;
    const value = start.slice("- when:".length).trim();
    if (value === "" || /^(["']).*\1$/.test(value)) continue;
    const hash = value.indexOf(" #");
    const rest = (hash === -1 ? value : value.slice(0, hash)).trim();
    if (rest === "" || isCatchAll(rest) || !rest.includes("#")) continue;
    yield {
      severity: "warning",
      code: "unquoted-hash",
      message:
        `line ${index + 1}: the condition holds an unquoted '#': YAML may cut the condition ` +
        "there",
      hint: "Put the condition in quotes",
      line: index + 1,
    };
  }
}

function* lintGates(state: State): Generator<Finding> {
  const { id, gates } = state;
  const first = gates.findIndex(({ catchAll }) => catchAll);
  const after = gates.length - 1 - first;
  if (first !== -1 && after > 0) {
    yield {
      severity: "warning",
      code: "dead-gates",
      message: `${id}: ${after} gate(s) after 'otherwise' can never fire`,
      hint: "Move the catch-all to the end",
      path: ["states", id, "gates", first + 1],
    };
  }
  const path = ["states", id, "gates"];
  if (gates.length > 0 && gates.every(({ policy }) => policy === "repair")) {
    yield {
      severity: "warning",
      code: "repair-only",
      message: `${id}: every gate is a repair, so once they are used up the run halts with ` +
        "no-gate-matched",
      hint: "Add - { when: otherwise, then: ok, to: … }",
      path,
    };
  } else if (first === -1) {
    yield {
      severity: "warning",
      code: "missing-catch-all",
      message: `${id}: no catch-all gate, so a run in which no condition holds halts with ` +
        "no-gate-matched",
      hint: "End the gates with - { when: otherwise, … }",
      path,
    };
  }
  if (first !== -1 && gates.every(({ catchAll, policy }) => !catchAll || policy === "repair")) {
    yield {
      severity: "warning",
      code: "repair-catch-all",
      message: `${id}: the only \`when: otherwise\` gate is a repair, so once it is used up the ` +
        "run halts with no-gate-matched",
      hint: "Add a second catch-all with then, escalate or fail",
      path: [...path, first],
    };
  }
}

function readRoots(machine: Machine): ReadonlySet<string> {
  const roots = new Set<string>();
  for (const state of machine.states.values()) {
    for (const { text } of templatesOf(state)) {
      for (const { root } of placeholdersOf(text)) roots.add(root);
    }
  }
  return roots;
}

function* lintOutput(
  state: State,
  { machine, read }: { readonly machine: Machine; readonly read: ReadonlySet<string> },
): Generator<Finding> {
  const { id, output, gates } = state;
  if (read.has(output) || output === machine.result) return;
  if (gates.some(({ to }) => to === END)) return;
  if (gates.some(({ catchAll, hook }) => !catchAll && hook === undefined)) return;
  if (gates.some(({ hook }) => hook !== undefined && mentions(hook, output))) return;
  yield {
    severity: "warning",
    code: "unread-output",
    message: `${id}: output ${quoted(output)} is never read`,
    hint: "Refer to it in a prompt or input, or name it as the result",
    path: ["states", id, "output"],
  };
}

/** The gates that can escalate: where a catch-all is not the last gate, only those before it count. */
function aliveGates({ gates }: State): readonly Gate[] {
  const first = gates.findIndex(({ catchAll }) => catchAll);
  return first === -1 || first === gates.length - 1 ? gates : gates.slice(0, first);
}

/** Tells whether a parametric hook such as `eq:key:value` names a context key. */
function mentions(hook: string, key: string): boolean {
  for (let at = 1; at + key.length <= hook.length; at++) {
    const before = hook[at - 1];
    const after = hook[at + key.length];
    if (before !== ":" && before !== ",") continue;
    if (hook.startsWith(key, at) && (after === undefined || /[:.,]/.test(after))) return true;
  }
  return false;
}

/** Most states that one finding names. */
const MAX_LISTED = 20;

function* lintEscalations(machine: Machine): Generator<Finding> {
  const states: string[] = [];
  for (const state of machine.states.values()) {
    if (aliveGates(state).some(({ policy }) => policy === "escalate")) states.push(state.id);
  }
  const [first] = states;
  if (first === undefined) return;
  const listed = states.slice(0, MAX_LISTED).join(", ");
  const more = states.length > MAX_LISTED ? `, and ${states.length - MAX_LISTED} more` : "";
  yield {
    severity: "note",
    code: "prose-escalate",
    message: `note: machine uses escalate on [${listed}${more}]: with human review switched on ` +
      "a run stops there and waits, without it the gate only leads on",
    path: ["states", first, "gates"],
  };
}
