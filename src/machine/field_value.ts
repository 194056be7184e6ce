/**
 * Values of members: whether one fits, and what to say where it does not.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import type { FieldType } from "./grammar.ts";
import type { GrammarProblem } from "./grammar_problem.ts";
import { pathText } from "./path_text.ts";
import { nearest } from "./suggest.ts";
import { booleanOf } from "./yaml_readings.ts";

type Path = readonly (string | number)[];

/**
 * Tells whether a value is of a type, the members of a mapping or list aside.
 *
 * @param value The value.
 * @param type The type.
 * @returns Whether it is.
 */
export function fits(value: JsonValue, type: FieldType): boolean {
  switch (type.kind) {
    case "text":
    case "key":
      return typeof value === "string";
    case "choice":
      return typeof value === "string" && type.values.includes(value);
    case "integer":
      return typeof value === "number" && Number.isInteger(value) && value >= type.minimum;
    case "boolean":
      return typeof value === "boolean";
    case "true":
      return value === true;
    case "mapping":
    case "states":
      return isJsonObject(value);
    case "gates":
    case "names":
      return Array.isArray(value);
  }
}

/**
 * Says what is wrong with a value.
 *
 * @param value The value.
 * @param type What the member may be.
 * @param path The member.
 * @returns The problem, with a fix where one can be told.
 */
export function wrongValue(value: JsonValue, type: FieldType, path: Path): GrammarProblem {
  const sameKind = (type.kind === "choice" && typeof value === "string") ||
    (type.kind === "integer" && typeof value === "number") ||
    (type.kind === "true" && value === false);
  const hint = fix(value, type, path);
  return {
    code: sameKind ? "bad-value" : "wrong-type",
    message: `${pathText(path)} must be ${wanted(type)}, found ${describe(value)}`,
    ...(hint === undefined ? {} : { hint }),
    path,
  };
}

function wanted(type: FieldType): string {
  switch (type.kind) {
    case "text":
    case "key":
      return "a string";
    case "choice":
      return type.values.length === 1
        ? `"${type.values[0]}"`
        : `one of ${type.values.map((value) => `"${value}"`).join(", ")}`;
    case "integer":
      return `a whole number of at least ${type.minimum}`;
    case "boolean":
      return "true or false";
    case "true":
      return "true";
    case "mapping":
    case "states":
      return "a mapping";
    case "gates":
    case "names":
      return "a list";
  }
}

function fix(value: JsonValue, type: FieldType, path: Path): string | undefined {
  switch (type.kind) {
    case "text":
    case "key":
      return textFix(value, path);
    case "choice":
      return choiceFix(value, type.values);
    case "integer":
      return typeof value === "string" && /^[0-9]{1,15}$/.test(value)
        ? `Write ${Number(value)} without quotes`
        : undefined;
    case "boolean":
      return booleanFix(value);
    case "true":
      return "Write true, or choose another policy";
    case "mapping":
      return value === null && path[0] === "context"
        ? "Write {} or leave it out"
        : value === null && path[0] === "states"
        ? "Indent its members below it"
        : undefined;
    case "states":
      return Array.isArray(value)
        ? "Write each state as a key: its id, then its members"
        : undefined;
    case "gates":
      return isJsonObject(value) ? 'Start each gate with "- "' : undefined;
    case "names":
      return "Write - { name: … } for each";
  }
}

function textFix(value: JsonValue, path: Path): string | undefined {
  if (value === null) return 'Write "" for an empty text';
  if (typeof value === "object") {
    return "Put a text that starts with a bracket or holds a colon in quotes";
  }
  const key = path.at(-1);
  const text = key === "mklang" && typeof value === "number" && Number.isInteger(value)
    ? value.toFixed(1)
    : String(value);
  return `Put it in quotes: "${text}"`;
}

function choiceFix(value: JsonValue, values: readonly string[]): string | undefined {
  const near = typeof value === "string" ? nearest(value, values) : undefined;
  if (near !== undefined) return `Did you mean "${near}"?`;
  return values.length === 1 ? `Write ${values[0]}` : undefined;
}

function booleanFix(value: JsonValue): string | undefined {
  const meant = typeof value === "string"
    ? booleanOf(value)
    : value === 1 || value === 0
    ? value === 1
    : undefined;
  return meant === undefined ? undefined : `Write ${meant}`;
}

/** Longest text that a message quotes, in code points. */
const QUOTE_LENGTH = 40;

/**
 * Names a value as messages do.
 *
 * @param value The value.
 * @returns Its kind, and a short one itself.
 */
export function describe(value: JsonValue): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string": {
      const points = Array.from(value.slice(0, 2 * QUOTE_LENGTH));
      const short = points.length > QUOTE_LENGTH
        ? points.slice(0, QUOTE_LENGTH - 1).join("") + "…"
        : value;
      return `the text ${JSON.stringify(short)}`;
    }
    case "number":
      return `the number ${value}`;
    case "boolean":
      return `the boolean ${value}`;
    default:
      return "a mapping";
  }
}
