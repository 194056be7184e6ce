/**
 * From a document's value to a typed machine, under the lax rules for documents that nobody validated.
 *
 * A validated document always builds; the lax rules only matter for siblings that discovery found.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type {
  CallState,
  DeclaredName,
  Gate,
  GatePolicy,
  GenerativeState,
  Machine,
  Position,
  State,
  StateCommon,
  Tier,
  ToolState,
} from "./document.ts";
import { POLICY_KEYS, type PolicyKey, RESERVED_NAMES } from "./grammar.ts";
import { pathText } from "./path_text.ts";

/** A document that cannot even be read laxly. */
export class UnreadableMachineError extends Error {
  /** The class. */
  override readonly name = "UnreadableMachineError";
  /** The member that is missing or of no use. */
  readonly path: readonly (string | number)[];
  /** Says what is wrong with the member. */
  constructor(path: readonly (string | number)[], what: string) {
    super(`${pathText(path)} ${what}`);
    this.path = path;
  }
}

/** Where a machine came from. */
export interface Origin {
  /** Its text. */
  readonly source: string;
  /** Finds members in the text: their values, or the keys before them. */
  position(path: readonly (string | number)[], part?: "value" | "key"): Position | undefined;
}

/**
 * Builds a machine from a document's value.
 *
 * @param document The value.
 * @param origin Where it came from.
 * @returns The machine.
 * @throws {UnreadableMachineError} If a member is missing that nothing can stand in for.
 */
export function buildMachine(document: JsonValue, origin: Origin): Machine {
  if (!isJsonObject(document)) throw new UnreadableMachineError([], "is not a mapping");
  const name = textMember(document, "machine", []);
  const entry = textMember(document, "entry", []);
  const budget = member(document, "budget");
  if (typeof budget !== "number") throw new UnreadableMachineError(["budget"], "is not a number");
  const states = member(document, "states");
  if (!isJsonObject(states)) throw new UnreadableMachineError(["states"], "is not a mapping");
  const version = member(document, "mklang");
  const result = member(document, "result");
  return {
    name,
    ...(typeof version === "string" ? { version } : {}),
    entry,
    budget,
    defaultTier: tierOf(member(document, "default_tier")) ?? "balanced",
    ...(typeof result === "string" ? { result } : {}),
    context: objectOf(member(document, "context")),
    states: buildStates(states),
    tools: namesOf(member(document, "tools")),
    hooks: namesOf(member(document, "hooks")),
    source: origin.source,
    position: (path, part) => origin.position(path, part),
  };
}

function buildStates(states: JsonObject): Map<string, State> {
  const built = new Map<string, State>();
  for (const id of Object.keys(states)) {
    const path = ["states", id];
    const state = member(states, id);
    if (RESERVED_NAMES.has(id)) throw new UnreadableMachineError(path, "has a reserved name");
    if (!isJsonObject(state)) throw new UnreadableMachineError(path, "is not a mapping");
    built.set(id, buildState(id, state));
  }
  return built;
}

function buildState(id: string, state: JsonObject): State {
  const common = buildCommon(id, state);
  const tool = member(state, "tool");
  if (tool !== undefined) {
    const { tier: _, ...rest } = common;
    return {
      ...rest,
      kind: "tool",
      tool: textOf(tool),
      input: objectOf(member(state, "input")),
    } satisfies ToolState;
  }
  const call = member(state, "call");
  if (call !== undefined) {
    return {
      ...common,
      kind: "call",
      call: textOf(call),
      input: objectOf(member(state, "input")),
    } satisfies CallState;
  }
  const execution = member(state, "execution");
  const parse = member(state, "parse");
  return {
    ...common,
    kind: "generative",
    prompt: textOf(member(state, "prompt")),
    structure: textOf(member(state, "structure")),
    ...(execution === undefined ? {} : { execution: textOf(execution) }),
    reason: member(state, "reason") === true,
    ...(parse === "list" || parse === "json" ? { parse } : {}),
  } satisfies GenerativeState;
}

function buildCommon(id: string, state: JsonObject): StateCommon {
  const path = ["states", id];
  const gates = member(state, "gates");
  if (!Array.isArray(gates)) throw new UnreadableMachineError([...path, "gates"], "is not a list");
  const tier = tierOf(member(state, "tier"));
  const sample = member(state, "sample");
  const over = member(state, "over");
  const maxVisits = member(state, "max_visits");
  return {
    id,
    output: textMember(state, "output", path),
    gates: gates.map((gate, index) => buildGate(gate, [...path, "gates", index])),
    ...(tier === undefined ? {} : { tier }),
    accumulate: member(state, "accumulate") === true,
    ...(isInteger(sample) ? { sample } : {}),
    ...(over === undefined || over === null ? {} : { over: textOf(over) }),
    ...(isInteger(maxVisits) ? { maxVisits } : {}),
  };
}

const POLICIES: Readonly<Record<PolicyKey, GatePolicy>> = {
  then: "ok",
  repair: "repair",
  escalate: "escalate",
  fail: "fail",
};

function buildGate(gate: JsonValue, path: readonly (string | number)[]): Gate {
  if (!isJsonObject(gate)) throw new UnreadableMachineError(path, "is not a mapping");
  const when = textMember(gate, "when", path);
  const policy = POLICY_KEYS.find((key) => Object.hasOwn(gate, key));
  if (policy === undefined) {
    throw new UnreadableMachineError(path, "has none of then, repair, escalate, fail");
  }
  const hook = member(gate, "hook");
  const repairLimit = member(gate, "repair");
  const to = member(gate, "to");
  const ask = member(gate, "ask");
  const replyTo = member(gate, "reply_to");
  return {
    when,
    catchAll: isCatchAll(when),
    ...(typeof hook === "string" && hook !== "" ? { hook } : {}),
    policy: POLICIES[policy],
    ...(isInteger(repairLimit) && policy === "repair" ? { repairLimit } : {}),
    ...(typeof to === "string" && policy !== "fail" ? { to } : {}),
    ...(typeof ask === "string" ? { ask } : {}),
    ...(typeof replyTo === "string" ? { replyTo } : {}),
  };
}

/**
 * Tells whether a condition is the one that takes what is left.
 *
 * @param when The condition.
 * @returns Whether it is `otherwise`, in any case, between any white space.
 */
export function isCatchAll(when: string): boolean {
  return when.trim().toLowerCase() === "otherwise";
}

function textMember(
  object: JsonObject,
  key: string,
  path: readonly (string | number)[],
): string {
  const value = member(object, key);
  if (typeof value !== "string") {
    throw new UnreadableMachineError([...path, key], "is not a string");
  }
  return value;
}

/** What stands in for a text: missing is empty, and another value is its JSON. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : Object.create(null);
}

function tierOf(value: JsonValue | undefined): Tier | undefined {
  return value === "fast" || value === "balanced" || value === "reasoning" ? value : undefined;
}

function isInteger(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value);
}

function namesOf(value: JsonValue | undefined): readonly DeclaredName[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: JsonValue) => {
    const name = isJsonObject(entry) ? member(entry, "name") : undefined;
    if (typeof name !== "string" || !isJsonObject(entry)) return [];
    const description = member(entry, "description");
    return [{ name, ...(typeof description === "string" ? { description } : {}) }];
  });
}
