/**
 * Which states and gates a set of scenarios reached.
 *
 * @module
 */
import type { Gate, Machine } from "./document.ts";
import type { MachineEvent } from "./trace.ts";

/** What was reached of one machine. */
export interface MachineCoverage {
  /** The machine. */
  readonly machine: string;
  /** Number of states. */
  readonly states: number;
  /** Ids of states that no scenario entered, in document order. */
  readonly missedStates: readonly string[];
  /** Number of gates. */
  readonly gates: number;
  /** Gates that never fired, in document order. */
  readonly missedGates: readonly MissedGate[];
}

/** A gate that never fired. */
export interface MissedGate {
  /** The state. */
  readonly state: string;
  /** Its index among the gates of the state. */
  readonly index: number;
  /** Its condition. */
  readonly when: string;
}

/** Gathers events of runs. */
export interface Coverage {
  /** Takes an event: hand this to `onEvent`. */
  observe(event: MachineEvent): void;
  /** What was reached of a machine so far. */
  report(machine: Machine): MachineCoverage;
}

/**
 * Makes an empty record.
 *
 * @returns The record.
 */
export function createCoverage(): Coverage {
  const entered = new Set<string>();
  const fired = new Set<string>();
  return {
    observe(event) {
      if (event.type === "state-start") entered.add(key(event.machine, event.state));
      if (event.type !== "state-done" || event.gate === null) return;
      fired.add(key(event.machine, event.state, event.gate, event.policy, event.to));
    },
    report(machine) {
      const states = [...machine.states.values()];
      const missedStates = states.map(({ id }) => id)
        .filter((id) => !entered.has(key(machine.name, id)));
      const missedGates = states.flatMap(({ id, gates }) =>
        gates.flatMap((gate, index) =>
          fired.has(gateKey(machine.name, id, gate)) ? [] : [{ state: id, index, when: gate.when }]
        )
      );
      const gates = states.reduce((sum, state) => sum + state.gates.length, 0);
      return { machine: machine.name, states: states.length, missedStates, gates, missedGates };
    },
  };
}

function gateKey(machine: string, state: string, gate: Gate): string {
  return key(machine, state, gate.when, gate.policy, gate.to ?? null);
}

function key(...parts: readonly (string | null)[]): string {
  return JSON.stringify(parts);
}
