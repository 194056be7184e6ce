/**
 * The semantic checks: what is wrong with a machine that keeps the grammar. Errors block a run, warnings do not.
 *
 * They look at this machine alone, never into those it calls.
 *
 * @module
 */
import { compareCodePoints } from "./compare.ts";
import { checkVersion } from "./check_version.ts";
import type { Diagnostic, Gate, Machine, Registry, State } from "./document.ts";
import { type Finding, placeFindings, quoted } from "./finding.ts";
import { END, reachOf } from "./paths.ts";
import { unresolvedReferences } from "./references.ts";
import { nearest, Suggestions } from "./suggest.ts";

/** How a machine is checked. */
export interface CheckOptions {
  /** What `call:` can reach; absent: calls are not checked. */
  readonly registry?: Registry;
  /** Whether an unsupported version is an error; default false. */
  readonly strict?: boolean;
}

/**
 * Checks a machine.
 *
 * The order is fixed: the entry; each state in turn, per gate its target and its hook; the version; what can be reached;
 * the budget; ceilings; placeholders that nothing fills.
 *
 * @param machine The machine, or the draft of one whose document breaks the grammar.
 * @param options Registry and strictness.
 * @returns Every problem.
 */
export function checkMachine(machine: Machine, options: CheckOptions = {}): readonly Diagnostic[] {
  return placeFindings(machine, "check", [
    ...checkEntry(machine),
    ...checkStates(machine, options.registry),
    ...checkVersion(machine, { strict: options.strict ?? false }),
    ...checkPaths(machine),
    ...checkCeilings(machine),
    ...unresolvedReferences(machine).filter(({ code }) => code === "unresolved-root"),
  ]);
}

/**
 * Checks only what names refer to. Unlike {@linkcode checkMachine} this says nothing that follows from a part which is
 * missing because the document breaks the grammar.
 *
 * @param machine The draft of a machine.
 * @param options The registry.
 * @returns Unknown entries, targets and machines.
 */
export function checkReferences(
  machine: Machine,
  options: CheckOptions = {},
): readonly Diagnostic[] {
  const findings = [...checkEntry(machine), ...checkStates(machine, options.registry)];
  return placeFindings(machine, "check", findings.filter(({ severity }) => severity === "error"));
}

function checkEntry(machine: Machine): Finding[] {
  if (machine.states.has(machine.entry)) return [];
  return [{
    severity: "error",
    code: "unknown-entry",
    message: `entry ${quoted(machine.entry)} is not a state`,
    hint: didYouMean(nearest(machine.entry, machine.states.keys())) ??
      `Write one of the states: ${listed(machine.states.keys())}`,
    path: ["entry"],
  }];
}

function* checkStates(machine: Machine, registry: Registry | undefined): Generator<Finding> {
  const outputs = new Set<string>();
  const names: Names = {
    suggestions: new Suggestions(),
    hooks: new Set(machine.hooks.map(({ name }) => name)),
    tools: new Set(machine.tools.map(({ name }) => name)),
  };
  for (const state of machine.states.values()) {
    outputs.add(state.output);
    for (const [index, gate] of state.gates.entries()) {
      yield* checkGate({ machine, state, names }, gate, index);
    }
    yield* checkState({ machine, state, names }, registry);
  }
  const { result } = machine;
  if (result !== undefined && result !== "" && !outputs.has(result)) {
    yield {
      severity: "warning",
      code: "unproduced-result",
      message: `result key ${quoted(result)} is not produced by any state`,
      hint: didYouMean(nearest(result, outputs)) ?? "Name the output of a state",
      path: ["result"],
    };
  }
}

interface Names {
  readonly suggestions: Suggestions;
  readonly hooks: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
}

interface Place {
  readonly machine: Machine;
  readonly state: State;
  readonly names: Names;
}

function* checkGate(place: Place, gate: Gate, index: number): Generator<Finding> {
  const { machine, state, names } = place;
  const path = ["states", state.id, "gates", index];
  const { to, hook } = gate;
  if (to !== undefined && to !== END && !machine.states.has(to)) {
    const near = names.suggestions.nearest(to, {
      scope: "state",
      names: () => [END, ...machine.states.keys()],
    });
    yield {
      severity: "error",
      code: "unknown-state",
      message: `${state.id}: gate -> unknown state ${quoted(to)}`,
      hint: didYouMean(near) ??
        `Write ${END} or one of the states: ${listed(machine.states.keys())}`,
      path: [...path, "to"],
    };
  }
  if (hook !== undefined && names.hooks.size > 0 && !names.hooks.has(hook)) {
    const near = names.suggestions.nearest(hook, { scope: "hook", names: () => names.hooks });
    yield {
      severity: "warning",
      code: "undeclared-hook",
      message: `${state.id}: gate hook ${quoted(hook)} is not declared in the machine's hooks`,
      hint: didYouMean(near) ?? `Add - { name: ${hook} } to hooks`,
      path: [...path, "hook"],
    };
  }
}

function* checkState(place: Place, registry: Registry | undefined): Generator<Finding> {
  const { state, names } = place;
  const path = ["states", state.id];
  if (state.kind === "call" && registry !== undefined && registry.get(state.call) === undefined) {
    const near = names.suggestions.nearest(state.call, {
      scope: "machine",
      names: () => registry.names(),
    });
    yield {
      severity: "error",
      code: "unknown-machine",
      message: `${state.id}: call -> unknown machine ${quoted(state.call)}`,
      hint: didYouMean(near) ??
        `Put the file with "machine: ${state.call}" beside this one, or call one of: ${
          listed(registry.names())
        }`,
      path: [...path, "call"],
    };
  }
  if (state.kind === "tool" && names.tools.size > 0 && !names.tools.has(state.tool)) {
    const near = names.suggestions.nearest(state.tool, { scope: "tool", names: () => names.tools });
    yield {
      severity: "warning",
      code: "undeclared-tool",
      message: `${state.id}: tool ${quoted(state.tool)} is not declared in the machine's tools`,
      hint: didYouMean(near) ?? `Add - { name: ${state.tool} } to tools`,
      path: [...path, "tool"],
    };
  }
  if (!state.gates.some(({ catchAll }) => catchAll)) {
    yield {
      severity: "warning",
      code: "missing-catch-all",
      message: `${state.id}: no catch-all gate, so a run in which no condition holds halts with ` +
        "no-gate-matched",
      hint: "End the gates with - { when: otherwise, … }",
      path: [...path, "gates"],
    };
  }
  if (state.id === END) {
    yield {
      severity: "warning",
      code: "end-state",
      message: `${END}: a state of this name can only be the entry, since "to: END" ends the run`,
      hint: "Rename the state",
      path,
    };
  }
}

/** Distance between the budget and the shortest path below which a warning says so. */
const HEADROOM_STEPS = 2;

function* checkPaths(machine: Machine): Generator<Finding> {
  const { states, shortest } = reachOf(machine);
  if (shortest === undefined) {
    yield {
      severity: "error",
      code: "no-path-to-end",
      message: `no reachable path to END from ${quoted(machine.entry)}`,
      hint: "Give a state that can be reached a gate with to: END",
      path: ["entry"],
    };
  }
  const unreachable = [...machine.states.keys()].filter((id) => !states.has(id));
  for (const id of unreachable.sort(compareCodePoints)) {
    yield {
      severity: "warning",
      code: "unreachable-state",
      message: `${id}: unreachable state, no path leads here from ${quoted(machine.entry)}`,
      hint: "Lead a gate here, or remove the state",
      path: ["states", id],
      part: "key",
    };
  }
  if (shortest !== undefined) yield* checkBudget(machine, shortest);
}

function* checkBudget({ budget }: Machine, shortest: number): Generator<Finding> {
  if (budget < shortest) {
    yield {
      severity: "error",
      code: "budget-infeasible",
      message: `budget-infeasible: budget ${budget} is below the ${shortest}-step shortest path ` +
        "to END, so no run can finish",
      hint: `Write at least budget: ${shortest + HEADROOM_STEPS}`,
      path: ["budget"],
    };
  } else if (budget < shortest + HEADROOM_STEPS) {
    yield {
      severity: "warning",
      code: "budget-headroom",
      message: `budget ${budget} leaves little headroom above the ${shortest}-step shortest path ` +
        "to END",
      hint: `Write at least budget: ${shortest + HEADROOM_STEPS}`,
      path: ["budget"],
    };
  }
}

function* checkCeilings(machine: Machine): Generator<Finding> {
  for (const { id, maxVisits, gates } of machine.states.values()) {
    if (maxVisits === undefined) continue;
    const index = gates.findIndex(({ policy, to, repairLimit }) =>
      policy === "repair" && to === id && (repairLimit ?? 0) >= maxVisits
    );
    if (index === -1) continue;
    yield {
      severity: "warning",
      code: "ceiling-before-repairs",
      message:
        `${id}: max_visits ${maxVisits} does not allow repair: ${gates[index]?.repairLimit}, ` +
        "the ceiling fires before the repairs finish",
      hint: "Write a larger max_visits or a smaller repair",
      path: ["states", id, "max_visits"],
    };
  }
}

/** Most names that a hint lists. */
const MAX_LISTED = 12;

function listed(names: Iterable<string>): string {
  const shown: string[] = [];
  for (const name of names) {
    if (shown.length === MAX_LISTED) return `${shown.join(", ")}, …`;
    shown.push(name);
  }
  return shown.join(", ");
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `Did you mean ${quoted(name)}?`;
}
