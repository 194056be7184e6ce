/**
 * The graph of a machine: which states a run can reach, and in how many steps.
 *
 * @module
 */
import type { Machine } from "./document.ts";

/** The reserved destination that ends a run. */
export const END = "END";

/** What can be reached from a machine's entry. */
export interface Reach {
  /** The states that can be reached, the entry included. */
  readonly states: ReadonlySet<string>;
  /** The fewest states of a run that ends, or `undefined` if none can. */
  readonly shortest: number | undefined;
}

/**
 * Walks a machine breadth first, over gates of every policy.
 *
 * @param machine The machine.
 * @returns What its entry leads to; nothing if the entry is no state.
 */
export function reachOf(machine: Machine): Reach {
  const states = new Set<string>();
  let shortest: number | undefined;
  let level = machine.states.has(machine.entry) ? [machine.entry] : [];
  for (const id of level) states.add(id);
  for (let steps = 1; level.length > 0; steps++) {
    const next: string[] = [];
    for (const id of level) {
      for (const { to } of machine.states.get(id)?.gates ?? []) {
        if (to === END) shortest ??= steps;
        else if (to !== undefined && machine.states.has(to) && !states.has(to)) {
          states.add(to);
          next.push(to);
        }
      }
    }
    level = next;
  }
  return { states, shortest };
}
