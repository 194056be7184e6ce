/**
 * The shape of a workflow: which step waits for which.
 *
 * @module
 */
import { KitError } from "../llm/mod.ts";
import type { WorkflowStep } from "./workflow_options.ts";

/** Most steps of one workflow. */
export const MAX_WORKFLOW_STEPS = 10_000;

/**
 * Checks that every step can come to its turn: names are unique, dependencies known, and there is no cycle (Kahn's
 * method).
 *
 * @param steps The steps.
 * @throws {KitError} Code `workflow`, naming the steps that are in the way.
 */
export function checkOrder(steps: readonly WorkflowStep[]): void {
  if (!Array.isArray(steps)) throw badOrder("wanted a list of steps");
  if (steps.length === 0 || steps.length > MAX_WORKFLOW_STEPS) {
    throw badOrder(`wanted from 1 to ${MAX_WORKFLOW_STEPS} steps, found ${steps.length}`);
  }
  const names = new Set<string>();
  for (const { name, run } of steps) {
    if (typeof name !== "string" || name === "") throw badOrder("a step has no name");
    if (typeof run !== "function") throw badOrder(`step "${name}" has no method run()`);
    if (names.has(name)) throw badOrder(`two steps have the name "${name}"`);
    names.add(name);
  }
  const waiting = new Map<string, Set<string>>();
  const waiters = new Map<string, string[]>();
  for (const { name, dependsOn = [] } of steps) {
    for (const other of dependsOn) {
      if (!names.has(other)) throw badOrder(`"${name}" depends on "${other}", which is no step`);
      const list = waiters.get(other);
      if (list === undefined) waiters.set(other, [name]);
      else list.push(name);
    }
    waiting.set(name, new Set(dependsOn));
  }
  const free = [...waiting].filter(([, open]) => open.size === 0).map(([name]) => name);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    waiting.delete(name);
    for (const waiter of waiters.get(name) ?? []) {
      const open = waiting.get(waiter);
      open?.delete(name);
      if (open?.size === 0) free.push(waiter);
    }
  }
  if (waiting.size > 0) throw badOrder(`these steps wait for each other: ${cycleIn(waiting)}`);
}

/** One cycle, to show: every step left waits for another one that is left. */
function cycleIn(waiting: ReadonlyMap<string, ReadonlySet<string>>): string {
  const path: string[] = [];
  let [name] = waiting.keys();
  while (name !== undefined && !path.includes(name)) {
    path.push(name);
    const open: ReadonlySet<string> = waiting.get(name) ?? new Set();
    [name] = [...open].filter((other) => waiting.has(other));
  }
  const start = name === undefined ? 0 : path.indexOf(name);
  return [...path.slice(start), ...(name === undefined ? [] : [name])].map((one) => `"${one}"`)
    .join(" -> ");
}

function badOrder(problem: string): KitError {
  return new KitError("workflow", `Cannot make the workflow: ${problem}`);
}
