/**
 * JSON Schema 2020-12, by `@cfworker/json-schema` behind {@link ./schema_gate.ts | a gate}. The validator is loaded when
 * the first schema is compiled.
 *
 * `format` is a note and not checked, as the dialect has it by default.
 *
 * @module
 */
import type { OutputUnit } from "@cfworker/json-schema";
import { formatPointer, parsePointer, readPointer } from "./pointer.ts";
import { MAX_JSON_DEPTH } from "./reader.ts";
import type { CompiledSchema, Problem } from "./problem.ts";
import { SchemaError } from "./schema_error.ts";
import { admitSchema } from "./schema_gate.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "./value.ts";

/** The most problems that are told of one value. */
export const MAX_PROBLEMS = 50;

/** The most values, nested ones counted, that are checked at once. */
export const MAX_VALUE_NODES = 100_000;

const MAX_KEY_LENGTH = 4096;
const DIALECT = "2020-12";

/**
 * Checks a schema and makes it ready.
 *
 * @param schema A schema of dialect 2020-12.
 * @returns The schema, ready.
 * @throws {SchemaError} If the schema is ill-formed, too large, refers outside itself, or has a keyword or a pattern
 * that is not served.
 */
export async function compileSchema(schema: JsonValue): Promise<CompiledSchema> {
  const admitted = admitSchema(schema);
  const { Validator } = await import("@cfworker/json-schema");
  const validator = new Validator({ ...wrap(admitted) }, DIALECT, false);
  checkReferences(admitted);
  return {
    validate: (value) => {
      const size = checkSize(value);
      if (size !== undefined) return [size];
      try {
        return problemsOf(validator.validate(value).errors, value, admitted);
      } catch (error) {
        if (error instanceof RangeError) return [TOO_COSTLY];
        throw error;
      }
    },
  };
}

const TOO_COSTLY: Problem = {
  pointer: "",
  keyword: "$ref",
  message: "the schema refers to itself without end, or the value has too many problems to tell",
};

function wrap(schema: JsonObject | boolean): JsonObject {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
}

/** Every reference must lead somewhere: the validator would fail only when it comes by. */
function checkReferences(root: JsonObject | boolean): void {
  const visit = (value: JsonValue, path: readonly (string | number)[]): void => {
    if (Array.isArray(value)) return value.forEach((item, index) => visit(item, [...path, index]));
    if (!isJsonObject(value)) return;
    const reference = member(value, "$ref");
    if (typeof reference === "string") {
      const pointer = decodeURIComponent(reference.slice(1));
      if (readPointer(root, pointer) === undefined) {
        throw new SchemaError(
          formatPointer([...path, "$ref"]),
          `"${reference}" leads nowhere`,
        );
      }
    }
    for (const key of Object.keys(value)) {
      if (key !== "enum" && key !== "const") visit(value[key] ?? null, [...path, key]);
    }
  };
  visit(root, []);
}

function checkSize(value: JsonValue): Problem | undefined {
  let nodes = 0;
  const stack: { readonly part: JsonValue; readonly depth: number }[] = [{ part: value, depth: 0 }];
  while (true) {
    const top = stack.pop();
    if (top === undefined) return undefined;
    const { part, depth } = top;
    nodes += 1;
    if (nodes > MAX_VALUE_NODES) return tooLarge(`more than ${MAX_VALUE_NODES} values`);
    if (depth > MAX_JSON_DEPTH) return tooLarge(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (Array.isArray(part)) {
      for (const item of part) stack.push({ part: item, depth: depth + 1 });
    } else if (isJsonObject(part)) {
      for (const key of Object.keys(part)) {
        if (key.length > MAX_KEY_LENGTH) {
          return tooLarge(`a key of more than ${MAX_KEY_LENGTH} characters`);
        }
        stack.push({ part: part[key] ?? null, depth: depth + 1 });
      }
    }
  }
}

function tooLarge(what: string): Problem {
  return { pointer: "", keyword: "size", message: `too large to be checked: ${what}` };
}

/** Keywords whose errors only repeat that something within is wrong. */
const WRAPPERS = new Set([
  "$ref",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const ALTERNATIVES = new Set(["anyOf", "oneOf", "contains", "not", "propertyNames"]);

function problemsOf(
  errors: readonly OutputUnit[],
  value: JsonValue,
  schema: JsonObject | boolean,
): readonly Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  let within: string | undefined;
  for (const error of errors) {
    if (within !== undefined && error.keywordLocation.startsWith(within)) continue;
    if (WRAPPERS.has(error.keyword)) continue;
    within = ALTERNATIVES.has(error.keyword) ? `${error.keywordLocation}/` : undefined;
    if (error.keyword === "propertyNames") within = error.keywordLocation;
    const problem = problemOf(error, value, schema);
    const key = `${problem.pointer}\n${problem.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    problems.push(problem);
    if (problems.length === MAX_PROBLEMS) break;
  }
  return problems;
}

function problemOf(
  error: OutputUnit,
  value: JsonValue,
  schema: JsonObject | boolean,
): Problem {
  const pointer = decodePointer(error.instanceLocation);
  const found = readPointer(value, pointer);
  if (error.keyword === "false") {
    const path = parsePointer(pointer);
    const owner = formatPointer(path.slice(0, -1));
    if (path.length === 0) return { pointer, keyword: "false", message: "no value fits" };
    if (Array.isArray(readPointer(value, owner))) {
      return { pointer, keyword: "items", message: "no item is wanted here" };
    }
    const message = `unknown property ${show(path.at(-1) ?? "")}`;
    return { pointer: owner, keyword: "additionalProperties", message };
  }
  const wanted = wantedBy(error, schema);
  return { pointer, keyword: error.keyword, message: describe(error, { wanted, found }) };
}

function decodePointer(location: string): string {
  try {
    return decodeURI(location.slice(1));
  } catch {
    return location.slice(1);
  }
}

/** The value of the keyword that is not met, found by its place in the schema. */
function wantedBy(error: OutputUnit, schema: JsonObject | boolean): JsonValue | undefined {
  if (typeof schema === "boolean") return undefined;
  const path = decodePointer(error.keywordLocation);
  if (/\/\$ref(?:\/|$)/.test(path)) return followReferences(path, schema);
  return readPointer(schema, path);
}

function followReferences(path: string, schema: JsonObject): JsonValue | undefined {
  let at: JsonValue | undefined = schema;
  for (const part of parsePointer(path)) {
    if (at === undefined || at === null || typeof at !== "object") return undefined;
    at = Array.isArray(at) ? at[Number(part)] : isJsonObject(at) ? member(at, part) : undefined;
    if (part === "$ref" && typeof at === "string") {
      at = readPointer(schema, decodeURIComponent(at.slice(1)));
    }
  }
  return at;
}

const MAX_SHOWN = 100;

function show(value: JsonValue | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function describe(
  error: OutputUnit,
  { wanted, found }: {
    readonly wanted: JsonValue | undefined;
    readonly found: JsonValue | undefined;
  },
): string {
  const bound = show(wanted);
  switch (error.keyword) {
    case "type":
      return `wanted ${Array.isArray(wanted) ? wanted.join(" or ") : String(wanted)}, found ${
        typeOf(found)
      }`;
    case "required":
      return `property ${error.error.slice(error.error.indexOf('"'), -1)} is missing`;
    case "enum":
      return `wanted one of ${Array.isArray(wanted) ? wanted.map(show).join(", ") : bound}, found ${
        show(found)
      }`;
    case "const":
      return `wanted ${bound}, found ${show(found)}`;
    case "minimum":
      return `wanted at least ${bound}, found ${show(found)}`;
    case "maximum":
      return `wanted at most ${bound}, found ${show(found)}`;
    case "exclusiveMinimum":
      return `wanted more than ${bound}, found ${show(found)}`;
    case "exclusiveMaximum":
      return `wanted less than ${bound}, found ${show(found)}`;
    case "multipleOf":
      return `wanted a multiple of ${bound}, found ${show(found)}`;
    case "minLength":
      return `wanted at least ${bound} characters, found ${lengthOf(found)}`;
    case "maxLength":
      return `wanted at most ${bound} characters, found ${lengthOf(found)}`;
    case "minItems":
      return `wanted at least ${bound} items, found ${lengthOf(found)}`;
    case "maxItems":
      return `wanted at most ${bound} items, found ${lengthOf(found)}`;
    case "minProperties":
      return `wanted at least ${bound} properties`;
    case "maxProperties":
      return `wanted at most ${bound} properties`;
    case "pattern":
      return `wanted text that matches ${bound}, found ${show(found)}`;
    case "anyOf":
      return `fits none of the ${Array.isArray(wanted) ? wanted.length : ""} alternatives`;
    case "oneOf":
      return `wanted exactly one of the ${
        Array.isArray(wanted) ? wanted.length : ""
      } alternatives to fit`;
    default:
      return `does not meet "${error.keyword}"`;
  }
}

function typeOf(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "object" ? "object" : `${typeof value} ${show(value)}`;
}

function lengthOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return String([...value].length);
  return Array.isArray(value) ? String(value.length) : "none";
}
