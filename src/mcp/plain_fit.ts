/**
 * A look that spares most calls the schema validator, whose package and first schema cost a process 3 MB and 20 ms.
 *
 * It only ever says that a value certainly fits. Where it does not, for a keyword it does not know as for a value that
 * is wrong, the validator decides and finds the words.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/value.ts";

/** How many values are looked at; more are for the validator, which has bounds of its own. */
const MAX_VALUES = 1_000;
/** How deep values may be nested. */
const MAX_DEPTH = 16;
/** How many UTF-16 units a character has at most. */
const MAX_UNITS = 2;

type Check = (wanted: JsonValue, value: JsonValue, schema: JsonObject) => boolean;

/** The keywords that are known, each with its check. A check of another kind of value passes, as in JSON Schema. */
const CHECKS = new Map<string, Check>([
  ["title", () => true],
  ["description", () => true],
  ["default", () => true],
  ["type", (wanted, value) => typeof wanted === "string" && TYPES.get(wanted)?.(value) === true],
  ["enum", (wanted, value) => isArray(wanted) && !isNested(value) && wanted.includes(value)],
  ["minimum", (wanted, value) => typeof value !== "number" || isNumber(wanted) && value >= wanted],
  ["maximum", (wanted, value) => typeof value !== "number" || isNumber(wanted) && value <= wanted],
  ["minLength", (wanted, value) => typeof value !== "string" || isLong(value, wanted)],
  // Characters are at most as many as units, so a text that passes here passes there.
  ["maxLength", (wanted, value) => {
    return typeof value !== "string" || isNumber(wanted) && value.length <= wanted;
  }],
  ["minItems", (wanted, value) => !isArray(value) || isNumber(wanted) && value.length >= wanted],
  ["maxItems", (wanted, value) => !isArray(value) || isNumber(wanted) && value.length <= wanted],
  ["items", (wanted, value) => !isArray(value) || value.every((item) => fits(wanted, item))],
  ["required", (wanted, value) => {
    if (!isJsonObject(value)) return true;
    return isArray(wanted) &&
      wanted.every((key) => typeof key === "string" && Object.hasOwn(value, key));
  }],
  ["properties", (wanted, value) => {
    if (!isJsonObject(value)) return true;
    return isJsonObject(wanted) && Object.keys(wanted).every((key) => {
      const inner = member(value, key);
      return inner === undefined || fits(member(wanted, key), inner);
    });
  }],
  ["additionalProperties", (wanted, value, schema) => {
    if (!isJsonObject(value) || wanted === true) return true;
    const known = member(schema, "properties") ?? {};
    return wanted === false && isJsonObject(known) &&
      Object.keys(value).every((key) => Object.hasOwn(known, key));
  }],
]);

const TYPES = new Map<string, (value: JsonValue) => boolean>([
  ["string", (value) => typeof value === "string"],
  ["boolean", (value) => typeof value === "boolean"],
  ["number", isNumber],
  ["integer", Number.isInteger],
  ["array", isArray],
  ["object", isJsonObject],
  ["null", (value) => value === null],
]);

/**
 * Tells whether a value certainly fits a schema, and has no integer that a double cannot hold.
 *
 * @param schema A schema of dialect 2020-12.
 * @param value The value.
 * @returns `true` if the validator would find no problem; `false` says nothing.
 */
export function plainlyFits(schema: JsonObject, value: JsonValue): boolean {
  return isPlain(value) && fits(schema, value);
}

function fits(schema: JsonValue | undefined, value: JsonValue): boolean {
  return isJsonObject(schema) && Object.keys(schema).every((keyword) => {
    const wanted = member(schema, keyword);
    return wanted !== undefined && CHECKS.get(keyword)?.(wanted, value, schema) === true;
  });
}

function isPlain(value: JsonValue): boolean {
  let left = MAX_VALUES;
  function visit(part: JsonValue, depth: number): boolean {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH) return false;
    if (typeof part === "number") return !Number.isInteger(part) || Number.isSafeInteger(part);
    if (typeof part !== "object" || part === null) return true;
    if (isArray(part)) return part.every((item) => visit(item, depth + 1));
    return Object.keys(part).every((key) => {
      const inner = member(part, key);
      return key.length <= MAX_VALUES && inner !== undefined && visit(inner, depth + 1);
    });
  }
  return visit(value, 0);
}

function isLong(text: string, wanted: JsonValue): boolean {
  if (!isNumber(wanted)) return false;
  return text.length >= (wanted <= 1 ? wanted : wanted * MAX_UNITS);
}

function isNumber(value: JsonValue): value is number {
  return typeof value === "number";
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isNested(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}
