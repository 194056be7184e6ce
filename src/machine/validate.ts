/**
 * Holds a document against the grammar: every problem at once, with its place, cause and fix.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { describe, fits, wrongValue } from "./field_value.ts";
import {
  type Field,
  type Fields,
  GATE_FIELDS,
  MACHINE_FIELDS,
  NAME_FIELDS,
  POLICY_KEYS,
  type PolicyKey,
  RESERVED_NAMES,
  STATE_FIELDS,
  type StateKind,
} from "./grammar.ts";
import type { GrammarProblem } from "./grammar_problem.ts";
import { pathText } from "./path_text.ts";
import { nearest } from "./suggest.ts";
import { meantKey, unknownKey } from "./unknown_key.ts";

/** A path into a document. */
type Path = readonly (string | number)[];

/**
 * Holds a value against the grammar of machine documents.
 *
 * @param document The document's value.
 * @returns Every problem, in the order of the grammar; empty if the document keeps it.
 */
export function validateDocument(document: JsonValue): readonly GrammarProblem[] {
  const problems: GrammarProblem[] = [];
  const visit: Visit = (problem) => problems.push(problem);
  if (!isJsonObject(document)) {
    visit({
      code: "not-a-mapping",
      message: `A machine must be a mapping at the top, found ${describe(document)}`,
      hint: 'Start with "machine: name"',
      path: [],
    });
    return problems;
  }
  validateFields(document, { fields: MACHINE_FIELDS, path: [], what: "a machine" }, visit);
  return problems;
}

type Visit = (problem: GrammarProblem) => void;

interface Expected {
  readonly fields: Fields;
  readonly path: Path;
  /** What the mapping is, with its article. */
  readonly what: string;
}

function validateFields(value: JsonObject, expected: Expected, visit: Visit): void {
  const { fields, path } = expected;
  // A slip in a key is one problem: that the right key is missing only follows from it.
  const meant = new Set<string | undefined>();
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(fields, key)) continue;
    meant.add(meantKey(key, { ...expected, value }));
    visit(unknownKey(key, { ...expected, value }));
  }
  for (const [key, field] of Object.entries(fields)) {
    const found = member(value, key);
    if (found !== undefined) validateField(found, field, { path: [...path, key], visit });
    else if (field.required && !meant.has(key)) {
      visit({
        code: "missing-key",
        message: path.length === 0
          ? `The key "${key}" is missing`
          : `${pathText(path)} has no "${key}"`,
        hint: `Add ${key}: ${field.meaning}`,
        path,
        part: "key",
      });
    }
  }
}

interface Place {
  readonly path: Path;
  readonly visit: Visit;
}

function validateField(value: JsonValue, field: Field, { path, visit }: Place): void {
  const { type } = field;
  switch (type.kind) {
    case "states":
      return validateStates(value, field, { path, visit });
    case "gates":
      return validateGates(value, field, { path, visit });
    case "names":
      return validateNames(value, field, { path, visit });
    case "text":
    case "key":
    case "choice":
    case "integer":
    case "boolean":
    case "true":
    case "mapping":
      if (!fits(value, type)) visit(wrongValue(value, field, path));
      else if (type.kind === "key" && typeof value === "string" && RESERVED_NAMES.has(value)) {
        visit(reserved(value, path));
      }
  }
}

function validateStates(value: JsonValue, field: Field, { path, visit }: Place): void {
  if (!isJsonObject(value)) return visit(wrongValue(value, field, path));
  const ids = Object.keys(value);
  if (ids.length === 0) {
    visit({
      code: "empty",
      message: `${pathText(path)} must have at least one state, found none`,
      hint: "Add a state under the id that entry names",
      path,
    });
  }
  for (const id of ids) {
    const statePath = [...path, id];
    if (RESERVED_NAMES.has(id)) visit({ ...reserved(id, statePath), part: "key" });
    const state = member(value, id) ?? null;
    if (isJsonObject(state)) validateState(state, { path: statePath, visit });
    else visit({ ...wrongValue(state, STATE, statePath), hint: stateHint(id) });
  }
}

const STATE: Field = { type: { kind: "mapping" }, meaning: "a state" };
const GATE: Field = {
  type: { kind: "mapping" },
  meaning: "{ when: otherwise, then: ok, to: END }",
};
const NAME: Field = { type: { kind: "mapping" }, meaning: "a name" };

/** An id that is the name of a state's member shows a slip in the indentation. */
function stateHint(id: string): string {
  const isMember = Object.values(STATE_FIELDS).some((fields) => Object.hasOwn(fields, id));
  return isMember
    ? `Indent "${id}" further: it belongs to the state above it`
    : "Indent its members below it";
}

function validateState(state: JsonObject, { path, visit }: Place): void {
  const kind = stateKind(state);
  if (kind === "none") {
    return visit({
      code: "unknown-kind",
      message: `${pathText(path)} is no state: it has neither "prompt" nor "call" nor "tool"`,
      hint: "Add prompt (ask a model), call (run another machine) or tool (run a host tool)",
      path,
      part: "key",
    });
  }
  const what = kind === "generative" ? "a generative state" : `a ${kind} state`;
  validateFields(state, { fields: STATE_FIELDS[kind], path, what }, visit);
  if (Object.hasOwn(state, "sample") && Object.hasOwn(state, "over")) {
    visit({
      code: "sample-and-over",
      message: `${pathText(path)} has both "sample" and "over", where one of them is allowed`,
      hint: "Remove one: sample repeats the same task, over runs it for each element of a list",
      path: [...path, "sample"],
      part: "key",
    });
  }
}

function stateKind(state: JsonObject): StateKind | "none" {
  if (Object.hasOwn(state, "tool")) return "tool";
  if (Object.hasOwn(state, "call")) return "call";
  const generative = Object.keys(STATE_FIELDS.generative).some((key) =>
    !Object.hasOwn(STATE_FIELDS.call, key) && Object.hasOwn(state, key)
  );
  return generative || nearest("prompt", Object.keys(state)) !== undefined ? "generative" : "none";
}

function validateGates(value: JsonValue, field: Field, { path, visit }: Place): void {
  if (!Array.isArray(value)) return visit(wrongValue(value, field, path));
  if (value.length === 0) {
    visit({
      code: "empty",
      message: `${pathText(path)} must have at least one gate, found none`,
      hint: "Add - { when: otherwise, then: ok, to: END }",
      path,
    });
  }
  for (const [index, gate] of value.entries()) {
    const gatePath = [...path, index];
    if (isJsonObject(gate)) validateGate(gate, { path: gatePath, visit });
    else visit(wrongValue(gate, GATE, gatePath));
  }
}

function validateGate(gate: JsonObject, { path, visit }: Place): void {
  const policies = POLICY_KEYS.filter((key) => Object.hasOwn(gate, key));
  const [policy, second] = policies;
  if (policy === undefined) return validateWithoutPolicy(gate, { path, visit });
  if (second === undefined) {
    return validateFields(
      gate,
      { fields: GATE_FIELDS[policy], path, what: GATE_WORDS[policy] },
      visit,
    );
  }
  visit({
    code: "several-policies",
    message: `${pathText(path)} has ${policies.map((key) => `"${key}"`).join(" and ")}, ` +
      "where exactly one of them is allowed",
    hint: "Keep one: then: ok, repair: N, escalate: true or fail: true",
    path: [...path, second],
    part: "key",
  });
  const fields = Object.assign({}, ...policies.map((key) => GATE_FIELDS[key]));
  const lax: Fields = policies.includes("fail") ? { ...fields, to: OPTIONAL_TO } : fields;
  validateFields(gate, { fields: lax, path, what: "a gate" }, visit);
}

const OPTIONAL_TO: Field = { type: { kind: "text" }, meaning: "the next state's id, or END" };

const GATE_WORDS: Readonly<Record<PolicyKey, string>> = {
  then: "a gate with then",
  repair: "a gate with repair",
  escalate: "a gate with escalate",
  fail: "a gate with fail",
};

function validateWithoutPolicy(gate: JsonObject, { path, visit }: Place): void {
  const unknown = Object.keys(gate).filter((key) => !Object.hasOwn(ANY_GATE, key));
  const slip = POLICY_KEYS.find((policy) =>
    unknown.some((key) =>
      meantKey(key, { value: gate, fields: GATE_FIELDS[policy], path, what: "a gate" }) === policy
    )
  );
  if (slip === undefined) {
    visit({
      code: "missing-policy",
      message: `${pathText(path)} does not say what happens: one of "then", "repair", ` +
        '"escalate", "fail" is missing',
      hint: "Add then: ok, repair: N, escalate: true or fail: true",
      path,
    });
  }
  const fields = slip === undefined ? { ...ANY_GATE, to: OPTIONAL_TO } : GATE_FIELDS[slip];
  validateFields(gate, { fields, path, what: "a gate" }, visit);
}

const ANY_GATE: Fields = { ...GATE_FIELDS.escalate, escalate: OPTIONAL_TO };

function validateNames(value: JsonValue, field: Field, { path, visit }: Place): void {
  if (!Array.isArray(value)) return visit(wrongValue(value, field, path));
  for (const [index, entry] of value.entries()) {
    const entryPath = [...path, index];
    if (isJsonObject(entry)) {
      validateFields(entry, { fields: NAME_FIELDS, path: entryPath, what: "an entry" }, visit);
    } else {
      visit({
        ...wrongValue(entry, NAME, entryPath),
        hint: typeof entry === "string" ? `Write - { name: ${entry} }` : "Write - { name: … }",
      });
    }
  }
}

function reserved(name: string, path: Path): GrammarProblem {
  return {
    code: "reserved-name",
    message: `The name "${name}" is reserved (${pathText(path.slice(0, -1))})`,
    hint: "Choose another name",
    path,
  };
}
