/**
 * The gate before the schema validator: which schemas it is given, in which form.
 *
 * A schema may come from a machine, a tool's author or over the wire, so everything that costs more than linear time, that
 * reaches out, or that the validator would silently pass over is refused where the schema is defined, not where a
 * value is checked.
 *
 * @module
 */
import { formatPointer } from "./pointer.ts";
import { SchemaError } from "./schema_error.ts";
import { checkPattern, patternSubjectLimit } from "./schema_pattern.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./value.ts";

export { SchemaError };

/** The deepest nesting of a schema. */
export const MAX_SCHEMA_DEPTH = 32;

/** The most subschemas of a schema. */
export const MAX_SCHEMA_NODES = 10_000;

const SUBSCHEMA = new Set([
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const SUBSCHEMA_LIST = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SUBSCHEMA_MAP = new Set(["$defs", "definitions", "dependentSchemas", "properties"]);
const NOT_SERVED = new Set([
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$recursiveAnchor",
  "$recursiveRef",
  "$vocabulary",
  "additionalItems",
  "dependencies",
  "id",
]);
const COUNTS = new Set([
  "maxContains",
  "maxItems",
  "maxLength",
  "maxProperties",
  "minContains",
  "minItems",
  "minLength",
  "minProperties",
]);
const NUMBERS = new Set(["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"]);
const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const DROPPED = new Set(["$comment", "$schema", "default", "examples", "format", "example"]);

/**
 * Checks a schema and copies it into the form that the validator is given: patterns bounded, notes left out.
 *
 * @param schema A schema of dialect 2020-12.
 * @returns The copy.
 * @throws {SchemaError} At the first place that cannot be used.
 */
export function admitSchema(schema: JsonValue): JsonObject | boolean {
  return new Gate().admit(schema, []);
}

type Path = readonly (string | number)[];

class Gate {
  #nodes = 0;

  admit(schema: JsonValue, path: Path): JsonObject | boolean {
    if (typeof schema === "boolean") return schema;
    if (!isJsonObject(schema)) throw refused(path, "a schema is an object, true or false");
    this.#nodes += 1;
    if (this.#nodes > MAX_SCHEMA_NODES) {
      throw refused(path, `more than ${MAX_SCHEMA_NODES} subschemas`);
    }
    if (path.length > 2 * MAX_SCHEMA_DEPTH) {
      throw refused(path, `nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    }
    const copy: Record<string, JsonValue> = {};
    for (const key of Object.keys(schema)) {
      const value = schema[key];
      if (value === undefined || DROPPED.has(key)) continue;
      this.#keyword({ key, value, copy, path: [...path, key] });
    }
    return copy;
  }

  #keyword(keyword: Keyword): void {
    const { key, value, copy, path } = keyword;
    if (NOT_SERVED.has(key)) throw refused(path, `the keyword "${key}" is not served`);
    if (SUBSCHEMA.has(key)) copy[key] = this.admit(value, path);
    else if (SUBSCHEMA_LIST.has(key)) copy[key] = this.#list(value, path);
    else if (SUBSCHEMA_MAP.has(key)) copy[key] = this.#map(value, path);
    else if (key === "patternProperties") {
      for (const pattern of Object.keys(isJsonObject(value) ? value : {})) {
        checkPattern(pattern, (problem) => refused(path, problem));
      }
      copy[key] = this.#map(value, path);
    } else if (key === "pattern") boundPattern(keyword);
    else {
      checkAssertion(keyword);
      copy[key] = value;
    }
  }

  #list(value: JsonValue, path: Path): JsonValue {
    if (!Array.isArray(value) || value.length === 0) {
      throw refused(path, "wanted a list of schemas, not empty");
    }
    return value.map((item, index) => this.admit(item, [...path, index]));
  }

  #map(value: JsonValue, path: Path): JsonValue {
    if (!isJsonObject(value)) throw refused(path, "wanted an object of schemas");
    const copy: Record<string, JsonValue> = Object.create(null);
    for (const name of Object.keys(value)) {
      copy[name] = this.admit(value[name] ?? null, [...path, name]);
    }
    return copy;
  }
}

interface Keyword {
  readonly key: string;
  readonly value: JsonValue;
  readonly copy: Record<string, JsonValue>;
  readonly path: Path;
}

function refused(path: Path, problem: string): SchemaError {
  return new SchemaError(formatPointer(path), problem);
}

/** A pattern is tried only on texts that are short enough for it; a longer one fails. */
function boundPattern({ value, copy, path }: Keyword): void {
  if (typeof value !== "string") throw refused(path, "a pattern is a string");
  checkPattern(value, (problem) => refused(path, problem));
  const short = { maxLength: patternSubjectLimit(value) };
  const bounded = { if: short, then: { pattern: value }, else: short };
  const others = copy["allOf"];
  copy["allOf"] = [...(Array.isArray(others) ? others : []), bounded];
}

function checkAssertion({ key, value, path }: Keyword): void {
  if (key === "$ref") {
    if (typeof value !== "string" || !/^#(?:\/|$)/.test(value)) {
      throw refused(path, 'only references within the schema are served, such as "#/$defs/name"');
    }
  } else if (key === "type") {
    const types = Array.isArray(value) ? value : [value];
    if (types.length === 0 || !types.every((type) => typeof type === "string" && TYPES.has(type))) {
      throw refused(
        path,
        `unknown type; wanted one of ${[...TYPES].join(", ")}, or a list of them`,
      );
    }
  } else if (key === "required") {
    if (!isNameList(value)) throw refused(path, "wanted a list of names");
  } else if (key === "dependentRequired") {
    if (!isJsonObject(value) || !Object.values(value).every(isNameList)) {
      throw refused(path, "wanted an object of lists of names");
    }
  } else if (key === "enum") {
    if (!Array.isArray(value)) throw refused(path, "wanted a list of values");
  } else if (COUNTS.has(key)) {
    if (!(Number.isSafeInteger(value) && Number(value) >= 0)) {
      throw refused(path, "wanted an integer of 0 or more");
    }
  } else if (NUMBERS.has(key)) {
    if (typeof value !== "number") throw refused(path, "wanted a number");
  } else if (key === "multipleOf") {
    if (typeof value !== "number" || value <= 0) throw refused(path, "wanted a number above 0");
  } else if (key === "uniqueItems" && typeof value !== "boolean") {
    throw refused(path, "wanted true or false");
  }
}

function isNameList(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
