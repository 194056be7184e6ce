/**
 * The dearest way through a machine's gates, within its step budget.
 *
 * @module
 */
import type { Machine, State } from "./document.ts";

/** What one visit of a state costs. */
export interface Visit<C> {
  /** What is to be measured. */
  readonly cost: C;
  /** Steps that it is charged, at least 1. */
  readonly steps: number;
}

/** A machine as a walk sees it: states by number. */
export interface Walk<C> {
  readonly visits: readonly Visit<C>[];
  /** Where the gates of each state lead, `END` left out. */
  readonly targets: readonly (readonly number[])[];
  /** The number of the entry, or `undefined` if it is no state. */
  readonly entry: number | undefined;
  readonly budget: number;
  /** States in an order in which gates only lead on, `undefined` if gates lead round in circles. */
  readonly order: readonly number[] | undefined;
  /** How often each state is entered at most, if there is such an order. */
  readonly entries: readonly number[];
}

/** Most pairs of state and step that are looked at; above, a coarser ceiling is given. */
const MAX_CELLS = 2_000_000;

/**
 * Prepares a machine for walks.
 *
 * @param machine The machine.
 * @param visits What a visit costs, for each of its states.
 * @returns The walk.
 */
export function walkOf<C>(machine: Machine, visits: ReadonlyMap<string, Visit<C>>): Walk<C> {
  const states = [...machine.states.values()].filter(({ id }) => visits.has(id));
  const numbers = new Map(states.map(({ id }, number) => [id, number]));
  const numberOf = (id: string | undefined) => id === undefined ? undefined : numbers.get(id);
  const targets = states.map(({ gates }) => [
    ...new Set(gates.map(({ to }) => numberOf(to)).filter((number) => number !== undefined)),
  ]);
  const onward = states.map((state, number) =>
    leadsBackByRepairOnly(state)
      ? (targets[number] ?? []).filter((to) => to !== number)
      : targets[number] ?? []
  );
  return {
    visits: states.flatMap(({ id }) => visits.get(id) ?? []),
    targets,
    entry: numberOf(machine.entry),
    budget: Math.ceil(machine.budget),
    order: topologicalOrder(onward),
    entries: states.map(mostEntries),
  };
}

/**
 * Finds the most that a walk can cost.
 *
 * @param walk The walk.
 * @param measure What of a visit's cost counts.
 * @returns A ceiling: no run costs more.
 */
export function dearest<C>(walk: Walk<C>, measure: (cost: C) => number): number {
  if (walk.entry === undefined) return 0;
  const costs = walk.visits.map(({ cost }) => measure(cost));
  const byBudget = walk.visits.length * walk.budget <= MAX_CELLS
    ? withinBudget(walk, costs)
    : coarse(walk, costs);
  return walk.order === undefined ? byBudget : Math.min(byBudget, alongOrder(walk, costs));
}

function leadsBackByRepairOnly({ id, gates }: State): boolean {
  return gates.every(({ policy, to }) => to !== id || policy === "repair");
}

function mostEntries({ id, gates, maxVisits }: State): number {
  let entries = 1;
  for (const { policy, to, repairLimit } of gates) {
    if (policy === "repair" && to === id) entries += repairLimit ?? 0;
  }
  return Math.min(entries, maxVisits ?? entries);
}

/** Most from a visit of each state on, for each number of steps that are used up before it. */
function withinBudget<C>(walk: Walk<C>, costs: readonly number[]): number {
  const best: Float64Array[] = [];
  for (let used = walk.budget - 1; used >= 0; used--) {
    const row = new Float64Array(costs.length);
    for (const [number, cost] of costs.entries()) {
      const after = best[used + (walk.visits[number]?.steps ?? 1)];
      row[number] = cost + most(walk.targets[number] ?? [], after);
    }
    best[used] = row;
  }
  return best[0]?.[walk.entry ?? 0] ?? 0;
}

function alongOrder<C>(walk: Walk<C>, costs: readonly number[]): number {
  const best = new Float64Array(costs.length);
  for (const number of [...walk.order ?? []].reverse()) {
    const onward = (walk.targets[number] ?? []).filter((to) => to !== number);
    best[number] = (costs[number] ?? 0) * (walk.entries[number] ?? 1) + most(onward, best);
  }
  return best[walk.entry ?? 0] ?? 0;
}

function most(numbers: readonly number[], values: Float64Array | undefined): number {
  let most = 0;
  for (const number of numbers) most = Math.max(most, values?.[number] ?? 0);
  return most;
}

function coarse<C>(walk: Walk<C>, costs: readonly number[]): number {
  let perStep = 0;
  let highest = 0;
  for (const [number, cost] of costs.entries()) {
    perStep = Math.max(perStep, cost / (walk.visits[number]?.steps ?? 1));
    highest = Math.max(highest, cost);
  }
  return Math.ceil(perStep * walk.budget) + highest;
}

/** Kahn's method: states that nothing leads to any more come next. */
function topologicalOrder(targets: readonly (readonly number[])[]): readonly number[] | undefined {
  const incoming = new Array<number>(targets.length).fill(0);
  for (const to of targets.flat()) incoming[to] = (incoming[to] ?? 0) + 1;
  const order = [...incoming.keys()].filter((number) => incoming[number] === 0);
  for (const number of order) {
    for (const to of targets[number] ?? []) {
      const left = (incoming[to] ?? 0) - 1;
      incoming[to] = left;
      if (left === 0) order.push(to);
    }
  }
  return order.length === targets.length ? order : undefined;
}
