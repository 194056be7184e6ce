/**
 * What comes from outside a run.
 *
 * @module
 */
import type { Machine, State } from "./document.ts";
import { refersTo } from "./interpolate.ts";
import type { Level } from "./level.ts";

/**
 * Tells whether what a state deposits carries data from outside the run.
 *
 * @param level Where.
 * @param state The state.
 * @returns For tools always; for calls if an input does or a tool can be reached; for texts if the prompt does.
 */
export function depositIsExternal(level: Level, state: State): boolean {
  const { external, shared } = level;
  switch (state.kind) {
    case "tool":
      return true;
    case "call":
      return Object.values(state.input ?? {}).some((value) => refersTo(value, external)) ||
        touchesTools(state.call, shared);
    case "generative":
      return refersTo(state.prompt, external) || refersTo(state.over, external);
  }
}

function touchesTools(
  name: string,
  shared: {
    readonly touchesTools: Map<string, boolean>;
    findMachine(name: string): Machine | undefined;
  },
): boolean {
  const known = shared.touchesTools.get(name);
  if (known !== undefined) return known;
  const found = walkCalls(name, (called) => shared.findMachine(called));
  shared.touchesTools.set(name, found);
  return found;
}

function walkCalls(name: string, find: (name: string) => Machine | undefined): boolean {
  const seen = new Set([name]);
  for (const called of seen) {
    for (const state of find(called)?.states.values() ?? []) {
      if (state.kind === "tool") return true;
      if (state.kind === "call") seen.add(state.call);
    }
  }
  return false;
}
