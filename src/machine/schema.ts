/**
 * The grammar of machine documents as a JSON Schema (draft 2020-12), for editors and other programs.
 *
 * @see {@link https://json-schema.org/draft/2020-12 | JSON Schema 2020-12}
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import {
  type Field,
  type Fields,
  type FieldType,
  GATE_FIELDS,
  MACHINE_FIELDS,
  NAME_FIELDS,
  POLICY_KEYS,
  RESERVED_NAMES,
  STATE_FIELDS,
} from "./grammar.ts";

/** The dialect of {@linkcode machineSchema}. */
export const MACHINE_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * Writes the grammar as a JSON Schema.
 *
 * It accepts exactly the documents that `parseMachine` accepts. A file that names it in a first line such as
 * `# yaml-language-server: $schema=./machine.schema.json` is completed and checked by editors.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(machineSchema()["required"], ["machine", "entry", "budget", "states"]);
 * ```
 *
 * @returns The schema.
 */
export function machineSchema(): JsonObject {
  return {
    $schema: MACHINE_SCHEMA_DIALECT,
    title: "Machine",
    description: "A state machine that a language model executes",
    ...objectSchema(MACHINE_FIELDS),
    $defs: {
      key: { type: "string", not: { enum: [...RESERVED_NAMES] } },
      states: {
        type: "object",
        minProperties: 1,
        propertyNames: { $ref: "#/$defs/key" },
        additionalProperties: { $ref: "#/$defs/state" },
      },
      state: firstWith(
        ["tool", "call"],
        { tool: "toolState", call: "callState" },
        "generativeState",
      ),
      generativeState: stateSchema(STATE_FIELDS.generative),
      callState: stateSchema(STATE_FIELDS.call),
      toolState: stateSchema(STATE_FIELDS.tool),
      gates: { type: "array", minItems: 1, items: { $ref: "#/$defs/gate" } },
      gate: firstWith(
        POLICY_KEYS.filter((key) => key !== "fail"),
        { then: "thenGate", repair: "repairGate", escalate: "escalateGate" },
        "failGate",
      ),
      thenGate: objectSchema(GATE_FIELDS.then),
      repairGate: objectSchema(GATE_FIELDS.repair),
      escalateGate: objectSchema(GATE_FIELDS.escalate),
      failGate: objectSchema(GATE_FIELDS.fail),
      names: { type: "array", items: objectSchema(NAME_FIELDS) },
    },
  };
}

function objectSchema(fields: Fields): { readonly [key: string]: JsonValue } {
  return {
    type: "object",
    required: Object.entries(fields).filter(([, { required }]) => required).map(([key]) => key),
    properties: Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [key, fieldSchema(field)]),
    ),
    additionalProperties: false,
  };
}

function stateSchema(fields: Fields): JsonObject {
  return { ...objectSchema(fields), not: having(["sample", "over"]) };
}

function fieldSchema({ type, meaning }: Field): JsonObject {
  const description = meaning.charAt(0).toUpperCase() + meaning.slice(1);
  return { description, ...typeSchema(type) };
}

function typeSchema(type: FieldType): { readonly [key: string]: JsonValue } {
  switch (type.kind) {
    case "text":
      return { type: "string" };
    case "choice":
      return { type: "string", enum: type.values };
    case "integer":
      return { type: "integer", minimum: type.minimum };
    case "boolean":
      return { type: "boolean" };
    case "true":
      return { type: "boolean", const: true };
    case "mapping":
      return { type: "object" };
    case "key":
    case "states":
    case "gates":
    case "names":
      return { $ref: `#/$defs/${type.kind}` };
  }
}

/** Members are named as well as required, which strict validators want. */
function having(keys: readonly string[]): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(keys.map((key) => [key, true])),
    required: keys,
  };
}

/** Chooses a schema by the first of some keys that an object has, so that an editor shows one problem and not four. */
function firstWith(
  keys: readonly string[],
  names: Readonly<Record<string, string>>,
  otherwise: string,
): JsonObject {
  const [key, ...rest] = keys;
  if (key === undefined) return { $ref: `#/$defs/${otherwise}` };
  return {
    if: having([key]),
    then: { $ref: `#/$defs/${names[key]}` },
    else: firstWith(rest, names, otherwise),
  };
}
