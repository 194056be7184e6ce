/**
 * Which effects a decision of a model can lead to: an approximation, before any run, of what the engine guards at run
 * time.
 *
 * @module
 */
import type { Machine, Registry, State } from "./document.ts";
import { isEffectful, type ToolEffect } from "./effects.ts";
import { type Finding, quoted } from "./finding.ts";
import { END } from "./paths.ts";

/** What is known beside the machine. */
export interface FlowOptions {
  /** What `call:` can reach; absent: effects behind calls are not looked for. */
  readonly registry?: Registry;
  /** Effect classes that differ from the table of the language. */
  readonly toolEffects?: ReadonlyMap<string, ToolEffect>;
}

/**
 * Finds effectful tools that a judged gate can lead to.
 *
 * A prose gate marks its target, a hook gate does not, a catch-all hands on the mark of its state.
 *
 * @param machine The machine.
 * @param options Registry and effects.
 * @returns Notes, in document order.
 */
export function flowTaint(machine: Machine, options: FlowOptions = {}): Finding[] {
  const findings: Finding[] = [];
  for (const id of markedStates(machine)) {
    const state = machine.states.get(id);
    const message = state === undefined ? undefined : effectOf(state, options);
    if (message === undefined) continue;
    findings.push({
      severity: "note",
      code: "flow-taint",
      message: `note: ${id}: ${message}`,
      hint: "Let a hook decide before it, or a person through an escalate gate",
      path: ["states", id],
      part: "key",
    });
  }
  return findings;
}

function markedStates(machine: Machine): readonly string[] {
  const marked = new Set<string>();
  const open: string[] = [];
  const mark = (id: string | undefined) => {
    if (id === undefined || id === END || marked.has(id) || !machine.states.has(id)) return;
    marked.add(id);
    open.push(id);
  };
  for (const { gates } of machine.states.values()) {
    for (const gate of gates) {
      if (!gate.catchAll && gate.hook === undefined) mark(gate.to);
    }
  }
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const gate of machine.states.get(id)?.gates ?? []) {
      if (gate.catchAll) mark(gate.to);
    }
  }
  return [...machine.states.keys()].filter((id) => marked.has(id));
}

function effectOf(state: State, options: FlowOptions): string | undefined {
  if (state.kind === "tool" && isEffectful(state.tool, options.toolEffects)) {
    return `effectful tool ${quoted(state.tool)} is reachable on a decision that a model made`;
  }
  if (state.kind === "call" && options.registry !== undefined) {
    if (reachesEffect(state.call, options.registry, options.toolEffects)) {
      return `sub-machine ${quoted(state.call)} reaches an effectful tool on a decision that a ` +
        "model made";
    }
  }
}

/**
 * Finds calls that lead back to the machine itself: only the cap on depth ends such a chain, unless a gate does.
 *
 * @param machine The machine.
 * @param registry What `call:` can reach; absent: nothing is found.
 * @returns Notes, in document order.
 */
export function callCycles(machine: Machine, registry: Registry | undefined): Finding[] {
  if (registry === undefined) return [];
  const findings: Finding[] = [];
  for (const state of machine.states.values()) {
    if (state.kind !== "call" || !calledFrom(state.call, registry).has(machine.name)) continue;
    findings.push({
      severity: "note",
      code: "call-cycle",
      message: `note: ${state.id}: the call of ${quoted(state.call)} leads back to this machine, ` +
        "and calls deeper than 8 halt",
      hint: "Make sure that a gate ends the chain before",
      path: ["states", state.id, "call"],
    });
  }
  return findings;
}

function reachesEffect(
  name: string,
  registry: Registry,
  toolEffects: ReadonlyMap<string, ToolEffect> | undefined,
): boolean {
  for (const called of calledFrom(name, registry)) {
    for (const state of registry.get(called)?.states.values() ?? []) {
      if (state.kind === "tool" && isEffectful(state.tool, toolEffects)) return true;
    }
  }
  return false;
}

/** The names of a machine and of all that it calls, directly or not. */
function calledFrom(name: string, registry: Registry): ReadonlySet<string> {
  const names = new Set([name]);
  // A set hands out members that are added while it is walked.
  for (const called of names) {
    for (const state of registry.get(called)?.states.values() ?? []) {
      if (state.kind === "call") names.add(state.call);
    }
  }
  return names;
}
