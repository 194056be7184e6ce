/**
 * A machine's fingerprint: what it does, not how its file is written.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { compareCodePoints } from "./compare.ts";
import type { DeclaredName, Gate, Machine, State } from "./document.ts";

/**
 * Digests a machine. Comments, layout, quoting, anchors, the order of keys and defaults that are written out do not
 * change the digest; anything that the engine or a reader of the machine could notice does.
 *
 * @param machine The machine.
 * @returns SHA-256 in 64 lower-case hex digits.
 */
export async function fingerprintMachine(machine: Machine): Promise<string> {
  const text = canonicalText(machineValue(machine));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function machineValue(machine: Machine): JsonValue {
  return [
    machine.name,
    machine.version ?? null,
    machine.entry,
    machine.budget,
    machine.defaultTier,
    machine.result ?? null,
    machine.context,
    sortedBy([...machine.states.values()], ({ id }) => id).map(stateValue),
    machine.tools.map(nameValue),
    machine.hooks.map(nameValue),
  ];
}

function stateValue(state: State): JsonValue {
  const common: JsonValue[] = [
    state.id,
    state.kind,
    state.output,
    state.tier ?? null,
    state.accumulate,
    state.sample ?? null,
    state.over ?? null,
    state.maxVisits ?? null,
    state.gates.map(gateValue),
  ];
  switch (state.kind) {
    case "generative":
      return [
        ...common,
        state.prompt,
        state.structure,
        state.execution ?? null,
        state.reason,
        state.parse ?? null,
      ];
    case "call":
      return [...common, state.call, state.input];
    case "tool":
      return [...common, state.tool, state.input];
  }
}

function gateValue(gate: Gate): JsonValue {
  return [
    gate.when,
    gate.hook ?? null,
    gate.policy,
    gate.repairLimit ?? null,
    gate.to ?? null,
    gate.ask ?? null,
    gate.replyTo ?? null,
  ];
}

function nameValue({ name, description }: DeclaredName): JsonValue {
  return [name, description ?? null];
}

function canonicalText(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalText).join(",")}]`;
  return `{${membersOf(value).join(",")}}`;
}

function membersOf(object: JsonObject): string[] {
  return sortedBy(Object.keys(object), (key) => key)
    .map((key) => `${JSON.stringify(key)}:${canonicalText(object[key] ?? null)}`);
}

function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...items].sort((a, b) => compareCodePoints(keyOf(a), keyOf(b)));
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
