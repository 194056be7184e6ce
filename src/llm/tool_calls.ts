/**
 * Tool calls as models write them. What is mended is mended mechanically and marked; what was cut off is never used.
 *
 * @module
 */
import {
  deepEqual,
  isJsonObject,
  JsonError,
  type JsonObject,
  type JsonValue,
  member,
  parseJson,
  readJsonAt,
  skipSpace,
} from "../json/mod.ts";
import { readLenientJsonAt } from "./lenient_json.ts";
import type { ToolCall } from "./message.ts";

/** Arguments that can be used, or why not. */
export type ToolArguments =
  | {
    /** Usable. */
    readonly kind: "ok";
    /** The arguments. */
    readonly arguments: JsonObject;
    /** Whether they were mended. */
    readonly repaired: boolean;
  }
  | {
    /** Not usable. */
    readonly kind: "invalid";
    /** Why, for the model. */
    readonly problem: string;
  };

/**
 * Reads the arguments of a tool call. Absent or blank ones are `{}`. Mended are: a text of a text of JSON; the same
 * object written twice, or after empty ones; a closing bracket too many; and what the lenient reader mends.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const mended = readToolArguments("{'city': 'Oslo',}");
 * assertEquals(mended.kind === "ok" && mended.repaired, true);
 * assertEquals(readToolArguments('{"city": "Os').kind, "invalid");
 * ```
 *
 * @param raw The arguments as they came: a text, an object, or nothing.
 * @param options `truncated`: the answer was cut off, so nothing is mended.
 * @returns The arguments, or why they cannot be used.
 */
export function readToolArguments(
  raw: JsonValue | undefined,
  options: { readonly truncated?: boolean } = {},
): ToolArguments {
  if (raw === undefined || raw === null) return usable({}, "as written");
  if (isJsonObject(raw)) return usable(raw, "as written");
  if (typeof raw !== "string") return unusable("The arguments are not a JSON object");
  if (raw.trim() === "") return usable({}, "as written");
  try {
    return fromValue(parseJson(raw), options);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const mendable = error.fault === "syntax" && options.truncated !== true;
    return (mendable ? mend(raw.trim()) : undefined) ?? unusable(
      `The arguments are not valid JSON: ${error.message}`,
    );
  }
}

function usable(value: JsonObject, how: "as written" | "repaired"): ToolArguments {
  return { kind: "ok", arguments: value, repaired: how === "repaired" };
}

function unusable(problem: string): ToolArguments {
  return { kind: "invalid", problem };
}

function fromValue(value: JsonValue, options: { readonly truncated?: boolean }): ToolArguments {
  if (isJsonObject(value)) return usable(value, "as written");
  if (value === null) return usable({}, "as written");
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) {
    return unusable("The arguments are JSON, but not an object");
  }
  const inner = readToolArguments(value, options);
  return inner.kind === "ok" ? { ...inner, repaired: true } : inner;
}

function mend(raw: string): ToolArguments | undefined {
  const several = mendConcatenated(raw);
  if (several !== undefined) return several;
  try {
    const { value, end } = readLenientJsonAt(raw, 0);
    if (!isJsonObject(value) || !/^[\s}\]]*$/.test(raw.slice(end))) return undefined;
    return usable(value, "repaired");
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Objects one after another: the same one, or one after empty ones. Several different calls are not guessed apart. */
function mendConcatenated(raw: string): ToolArguments | undefined {
  const objects: JsonObject[] = [];
  let at = 0;
  try {
    while (at < raw.length) {
      const { value, end } = readJsonAt(raw, at);
      if (!isJsonObject(value)) return undefined;
      objects.push(value);
      at = skipSpace(raw, end);
    }
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
  const filled = objects.filter((object) => Object.keys(object).length > 0);
  const [first, ...rest] = filled;
  if (first === undefined) return usable({}, "repaired");
  return rest.every((object) => deepEqual(object, first))
    ? usable(first, "repaired")
    : unusable("The arguments are several different objects; make one call for each");
}

/** The most calls that are taken from one text. */
const MAX_TEXT_CALLS = 32;

/**
 * Finds tool calls that a model wrote as its whole text instead of calling. Only a text that is nothing but calls of tools
 * that were offered counts: one JSON object with `name` and `arguments` (or `args`, `parameters`), a list of such, alone,
 * in a fence, or in `<tool_call>` tags.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const text = '{"name": "add", "arguments": {"a": 1}}';
 * assertEquals(toolCallsInText(text, ["add"])?.length, 1);
 * assertEquals(toolCallsInText(`Call ${text}`, ["add"]), undefined);
 * ```
 *
 * @param text The answer's text.
 * @param offered The names of the tools that were offered.
 * @returns The calls, or `undefined` if the text is an answer.
 */
export function toolCallsInText(
  text: string,
  offered: readonly string[],
): readonly ToolCall[] | undefined {
  if (offered.length === 0 || !/^\s*(?:[{[]|```|<tool_call>)/.test(text)) return undefined;
  const values = wholeValues(text.trim());
  if (values === undefined || values.length === 0 || values.length > MAX_TEXT_CALLS) {
    return undefined;
  }
  const calls: ToolCall[] = [];
  for (const [index, value] of values.entries()) {
    const call = callOf(value, `call_${index + 1}`);
    if (call === undefined || !offered.includes(call.name)) return undefined;
    calls.push(call);
  }
  return calls;
}

/** The values that make up the whole text, or `undefined` if there is anything else in it. */
function wholeValues(text: string): readonly JsonValue[] | undefined {
  if (text.startsWith("<tool_call>")) {
    const parts = text.split("<tool_call>").slice(1).map((part) => part.trim());
    const bodies = parts.map((part) => part.replace(/\s*<\/tool_call>$/, ""));
    const values = bodies.map(strictValue);
    return values.every((value) => value !== undefined) ? values : undefined;
  }
  const fence = /^```[A-Za-z_]*\s*([\s\S]*?)\s*```$/.exec(text);
  const value = strictValue(fence?.[1] ?? text);
  return value === undefined ? undefined : Array.isArray(value) ? value : [value];
}

function strictValue(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const NAME_KEYS = ["name", "tool", "function"];
const ARGUMENT_KEYS = ["arguments", "args", "parameters"];
const OTHER_KEYS = ["id", "type"];

function callOf(value: JsonValue, id: string): ToolCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const inner = member(value, "function");
  if (isJsonObject(inner)) return callOf(inner, id);
  const known = [...NAME_KEYS, ...ARGUMENT_KEYS, ...OTHER_KEYS];
  if (!Object.keys(value).every((key) => known.includes(key))) return undefined;
  const name = NAME_KEYS.map((key) => member(value, key)).find((one) => one !== undefined);
  const key = ARGUMENT_KEYS.find((one) => Object.hasOwn(value, one));
  if (typeof name !== "string" || key === undefined) return undefined;
  const read = readToolArguments(value[key]);
  return read.kind === "ok"
    ? { kind: "ok", id, name, arguments: read.arguments, repaired: true }
    : {
      kind: "invalid",
      id,
      name,
      rawArguments: JSON.stringify(value[key]),
      problem: read.problem,
    };
}
