/**
 * Values of members: whether one fits, and what to say where it does not.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import type { Field, FieldType } from "./grammar.ts";
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
 * @param field What the member may be, and what it means.
 * @param path The member.
 * @returns The problem, with what to write.
 */
export function wrongValue(value: JsonValue, field: Field, path: Path): GrammarProblem {
  const { type } = field;
  const sameKind = (type.kind === "choice" && typeof value === "string") ||
    (type.kind === "integer" && typeof value === "number") ||
    (type.kind === "true" && value === false);
  return {
    code: sameKind ? "bad-value" : "wrong-type",
    message: `${pathText(path)} must be ${wanted(type)}, found ${describe(value)}`,
    hint: fix(value, field, path),
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

function fix(value: JsonValue, { type, meaning }: Field, path: Path): string {
  switch (type.kind) {
    case "text":
    case "key":
      return textFix(value, { meaning, path });
    case "choice":
      return choiceFix(value, type.values);
    case "integer":
      return integerFix(value, meaning);
    case "boolean":
      return booleanFix(value, meaning);
    case "true":
      return "Write true, or choose another policy";
    case "mapping":
      return mappingFix(value, { meaning, path });
    case "states":
      return "Write each state as a key: its id, then its members";
    case "gates":
      return isJsonObject(value)
        ? 'Start each gate with "- "'
        : "Write a list: - { when: otherwise, then: ok, to: END }";
    case "names":
      return "Write - { name: … } for each";
  }
}

interface Asked {
  readonly meaning: string;
  readonly path: Path;
}

function textFix(value: JsonValue, { meaning, path }: Asked): string {
  if (value === null) return `Write a text: ${meaning}`;
  if (path.at(-1) === "mklang") return mklangFix(value);
  if (typeof value === "object") {
    return "Put a text that starts with a bracket or holds a colon in quotes";
  }
  return `Put it in quotes: "${value}"`;
}

/** A version is mostly a number that lost its quotes; any other value is none. */
function mklangFix(value: JsonValue): string {
  return typeof value === "number" && [0.2, 0.3, 0.4].includes(value)
    ? `Put it in quotes: "${value}"`
    : 'Write "0.4" in quotes';
}

function choiceFix(value: JsonValue, values: readonly string[]): string {
  const near = typeof value === "string" ? nearest(value, values) : undefined;
  if (near !== undefined) return `Did you mean "${near}"?`;
  return values.length === 1
    ? `Write ${values[0]}`
    : `Write ${values.slice(0, -1).join(", ")} or ${values.at(-1) ?? ""}, or leave it out`;
}

function integerFix(value: JsonValue, meaning: string): string {
  if (typeof value === "string" && /^[0-9][0-9_]{0,14}$/.test(value)) {
    const number = Number(value.replaceAll("_", ""));
    return value.includes("_") ? `Write ${number}` : `Write ${number} without quotes`;
  }
  return `Write a whole number: ${meaning}`;
}

function booleanFix(value: JsonValue, meaning: string): string {
  const meant = typeof value === "string"
    ? booleanOf(value)
    : value === 1 || value === 0
    ? value === 1
    : undefined;
  return meant === undefined ? `Write true or false: ${meaning}` : `Write ${meant}`;
}

function mappingFix(value: JsonValue, { meaning, path }: Asked): string {
  if (path[0] === "context" && value === null) return "Write {} or leave it out";
  if (typeof path.at(-1) === "number") return `Write a mapping, such as ${meaning}`;
  return `Write its members below it, each as "key: value": ${meaning}`;
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
