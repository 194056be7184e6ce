/**
 * Arguments of a call against the schema of its tool: every problem at once, in words that a model can act on.
 *
 * @module
 */
import {
  type CompiledSchema,
  compileSchema,
  formatPointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  parsePointer,
  type Problem,
} from "../json/mod.ts";
import { plainlyFits } from "./plain_fit.ts";
import type { ArgumentProblem } from "./tool.ts";

/** Checks a value against a JSON Schema 2020-12 and gives every problem; none if it fits. */
export type Validate = (schema: JsonObject, value: JsonValue) => Promise<readonly Problem[]>;

/** How many problems are named. */
const MAX_PROBLEMS = 20;
/** How many allowed values are named. */
const MAX_NAMED_VALUES = 12;
/** How much of a key that the caller chose is quoted. */
const MAX_QUOTED_CHARACTERS = 100;
/** From here on numbers are written with an exponent, so nobody meant an exact integer. */
const MIN_EXPONENT_FORM = 1e21;

/**
 * Makes a check that compiles each schema once, when the first value comes by that does not plainly fit.
 *
 * @returns The check. It rejects with `SchemaError` for a schema that cannot be used.
 */
export function createValidate(): Validate {
  const compiled = new WeakMap<JsonObject, Promise<CompiledSchema>>();
  return async (schema, value) => {
    if (plainlyFits(schema, value)) return [];
    let ready = compiled.get(schema);
    if (ready === undefined) {
      ready = compileSchema(schema);
      compiled.set(schema, ready);
    }
    return (await ready).validate(value);
  };
}

/**
 * Makes arguments ready for a tool: objects without prototypes, and without optional members that are null, since
 * models write null for "nothing".
 *
 * @param schema The tool's `inputSchema`.
 * @param args As they came.
 * @returns A copy.
 */
export function readyArguments(schema: JsonObject, args: JsonObject): JsonObject {
  const required = member(schema, "required");
  const properties = member(schema, "properties");
  const ready = bareObject();
  for (const [key, value] of Object.entries(args)) {
    const isRequired = Array.isArray(required) && required.includes(key);
    const property = isJsonObject(properties) ? member(properties, key) : undefined;
    if (value === null && !isRequired && property !== undefined && !allowsNull(property)) continue;
    ready[key] = bare(value);
  }
  return ready;
}

function allowsNull(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema === true;
  const type = member(schema, "type");
  return type === undefined || type === "null" || (Array.isArray(type) && type.includes("null"));
}

function bare(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.map(bare);
  const copy = bareObject();
  for (const [key, inner] of Object.entries(value)) copy[key] = bare(inner);
  return copy;
}

function bareObject(): Record<string, JsonValue> {
  return Object.create(null);
}

/**
 * Names everything that is wrong with the arguments of a call.
 *
 * @param schema The tool's `inputSchema`.
 * @param args The arguments, made ready.
 * @param validate Checks values against schemas.
 * @returns The problems; empty if the arguments fit.
 */
export async function argumentProblems(
  schema: JsonObject,
  args: JsonObject,
  validate: Validate,
): Promise<readonly ArgumentProblem[]> {
  if (plainlyFits(schema, args)) return [];
  const found = await validate(schema, args);
  const size = found.find(({ keyword }) => keyword === "size");
  if (size !== undefined) {
    return [{ argument: undefined, message: `${quotedPath(size.pointer)}: ${size.message}` }];
  }
  const texts = new Map<string, { readonly rank: number; readonly text: string }>();
  function note(path: string, rank: number, text: string): void {
    const known = texts.get(path);
    if (known === undefined || rank < known.rank) texts.set(path, { rank, text });
  }
  for (const problem of unknownArguments(schema, args)) note(...problem);
  for (const problem of missingArguments(schema, args)) note(...problem);
  for (const problem of roundedIntegers(args, [])) note(...problem);
  for (const { pointer, keyword, message } of found) {
    if (pointer === "" && TOLD_ALREADY.has(keyword)) continue;
    const text = describe({ schema, path: pointer, keyword }) ??
      `${quotedPath(pointer)}: ${message}`;
    note(pointer, RANK[keyword] ?? LAST_RANK, text);
  }
  const all = [...texts].map(([path, { text }]) => ({
    argument: parsePointer(path)[0],
    message: text,
  }));
  if (all.length <= MAX_PROBLEMS) return all;
  const more = `and ${all.length - MAX_PROBLEMS} more problems`;
  return [...all.slice(0, MAX_PROBLEMS), { argument: undefined, message: more }];
}

type NotedProblem = [path: string, rank: number, text: string];

/** Of several problems with one value the first of these is named: what is no integer is not out of range as well. */
const RANK: Readonly<Record<string, number>> = { type: 0, enum: 1, const: 1 };
const LAST_RANK = 2;

/** Told from the schema and the arguments directly, one sentence a member. */
const TOLD_ALREADY: ReadonlySet<string> = new Set(["required", "additionalProperties"]);

function* unknownArguments(schema: JsonObject, args: JsonObject): Iterable<NotedProblem> {
  if (member(schema, "additionalProperties") !== false) return;
  const properties = member(schema, "properties");
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  // Once is enough: whoever guessed one name guessed the others.
  let hint = ` (known: ${known.length === 0 ? "none" : known.map(quoted).join(", ")})`;
  for (const key of Object.keys(args)) {
    if (known.includes(key)) continue;
    yield [formatPointer([key]), -1, `unknown argument ${quoted(key)}${hint}`];
    hint = "";
  }
}

function* missingArguments(schema: JsonObject, args: JsonObject): Iterable<NotedProblem> {
  const required = member(schema, "required");
  if (!Array.isArray(required)) return;
  for (const key of required) {
    if (typeof key !== "string" || Object.hasOwn(args, key)) continue;
    const pointer = formatPointer([key]);
    const wanted = wantedKind(subschema(schema, pointer));
    const text = `${quoted(key)} is required${
      wanted === undefined ? "" : ` and must be ${wanted}`
    }`;
    yield [pointer, -1, text];
  }
}

/** JSON has no bound on integers, a double has: beyond it the value is not the one that was written. */
function* roundedIntegers(
  value: JsonValue,
  path: readonly (string | number)[],
): Iterable<NotedProblem> {
  if (typeof value === "number") {
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) &&
      Math.abs(value) < MIN_EXPONENT_FORM;
    if (!isRounded) return;
    const pointer = formatPointer(path);
    yield [
      pointer,
      -1,
      `${quotedPath(pointer)} must not be an integer beyond 2^53; give it as text`,
    ];
  } else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) yield* roundedIntegers(inner, [...path, key]);
  } else if (typeof value === "object" && value !== null) {
    for (const [at, inner] of value.entries()) yield* roundedIntegers(inner, [...path, at]);
  }
}

interface Place {
  readonly schema: JsonObject;
  readonly path: string;
  readonly keyword: string;
}

function describe(place: Place): string | undefined {
  const schema = subschema(place.schema, place.path);
  if (schema === undefined || place.path === "") return undefined;
  const name = quotedPath(place.path);
  switch (place.keyword) {
    case "type":
    case "minLength": {
      const wanted = wantedKind(schema);
      const isRequired = isRequiredText(place, schema);
      if (wanted === undefined) return undefined;
      return `${name} ${isRequired ? "is required and " : ""}must be ${wanted}`;
    }
    case "enum":
      return `${name} must be ${alternatives(member(schema, "enum"))}`;
    case "minimum":
    case "maximum":
      return `${name} must be ${range(member(schema, "minimum"), member(schema, "maximum"))}`;
    case "maxLength":
      return `${name} must be at most ${String(member(schema, "maxLength"))} characters long`;
    case "minItems":
    case "maxItems": {
      const wanted = range(member(schema, "minItems"), member(schema, "maxItems"));
      return `${name} must have a number of items ${wanted}`;
    }
    default:
      return undefined;
  }
}

/** An empty or mistyped text says the same as a missing one, so that one sentence covers all three. */
function isRequiredText(place: Place, schema: JsonObject): boolean {
  const required = member(place.schema, "required");
  const key = place.path.slice(1);
  return member(schema, "type") === "string" && member(schema, "minLength") === 1 &&
    Array.isArray(required) && required.includes(key);
}

function wantedKind(schema: JsonObject | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const values = member(schema, "enum");
  if (values !== undefined) return alternatives(values);
  const type = member(schema, "type");
  if (type === "string") {
    const minimum = member(schema, "minLength");
    if (minimum === undefined || minimum === 0) return "a string";
    return minimum === 1
      ? "a non-empty string"
      : `a string of at least ${String(minimum)} characters`;
  }
  return typeof type === "string" ? KINDS[type] : undefined;
}

const KINDS: Readonly<Record<string, string>> = {
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  null: "null",
};

function alternatives(values: JsonValue | undefined): string {
  if (!Array.isArray(values)) return "one of the allowed values";
  const names = values.slice(0, MAX_NAMED_VALUES)
    .map((value) => typeof value === "string" ? quoted(value) : JSON.stringify(value));
  if (values.length > names.length) return `one of ${names.join(", ")}, …`;
  if (names.length <= 2) return names.join(" or ");
  return `one of ${names.join(", ")}`;
}

function range(minimum: JsonValue | undefined, maximum: JsonValue | undefined): string {
  if (minimum === undefined) return `at most ${String(maximum)}`;
  if (maximum === undefined) return `at least ${String(minimum)}`;
  return `between ${String(minimum)} and ${String(maximum)}`;
}

function subschema(root: JsonObject, path: string): JsonObject | undefined {
  let schema: JsonValue | undefined = root;
  for (const token of parsePointer(path)) {
    if (!isJsonObject(schema)) return undefined;
    const properties: JsonValue | undefined = member(schema, "properties");
    const known: JsonValue | undefined = isJsonObject(properties)
      ? member(properties, token)
      : undefined;
    schema = known ?? member(schema, "items") ?? member(schema, "additionalProperties");
  }
  return isJsonObject(schema) ? schema : undefined;
}

function quotedPath(path: string): string {
  const [first = "", ...rest] = parsePointer(path);
  const steps = rest.map((token) => /^\d+$/.test(token) ? `[${token}]` : `.${token}`);
  return path === "" ? "the arguments" : quoted(`${first}${steps.join("")}`);
}

function quoted(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS
    ? `'${text.slice(0, MAX_QUOTED_CHARACTERS)}…'`
    : `'${text}'`;
}
