/**
 * What can be made of a document that breaks the grammar, so that its names can be checked all the same.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { POLICY_KEYS, RESERVED_NAMES } from "./grammar.ts";

/**
 * Mends a document until it can be built. What had to be made up refers to nothing, or to what exists.
 *
 * @param document The document's value.
 * @returns A document that builds, or `undefined` if it has no states at all.
 */
export function mendDocument(document: JsonValue): JsonObject | undefined {
  if (!isJsonObject(document)) return undefined;
  const states = member(document, "states");
  if (!isJsonObject(states)) return undefined;
  const ids = Object.keys(states).filter((id) => !RESERVED_NAMES.has(id));
  const [first] = ids;
  if (first === undefined) return undefined;
  const mended: Record<string, JsonValue> = Object.create(null);
  for (const id of ids) mended[id] = mendState(member(states, id));
  return {
    machine: textOr(member(document, "machine"), ""),
    entry: textOr(member(document, "entry"), first),
    budget: 1,
    states: mended,
  };
}

function mendState(state: JsonValue | undefined): JsonObject {
  if (state === undefined || !isJsonObject(state)) return { tool: "", output: "", gates: [] };
  const gates = member(state, "gates");
  const call = member(state, "call");
  const isCall = typeof call === "string" && !Object.hasOwn(state, "tool");
  return {
    ...(isCall ? { call } : { tool: "" }),
    output: "",
    gates: Array.isArray(gates) ? gates.map(mendGate) : [],
  };
}

/** A gate keeps its place in the list and where it leads. */
function mendGate(gate: JsonValue): JsonObject {
  if (!isJsonObject(gate)) return { when: "", fail: true };
  const to = member(gate, "to");
  const fails = Object.hasOwn(gate, "fail") &&
    POLICY_KEYS.every((key) => key === "fail" || !Object.hasOwn(gate, key));
  if (typeof to !== "string" || fails) return { when: "", fail: true };
  return { when: "", then: "ok", to };
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
