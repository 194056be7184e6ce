/**
 * Hooks that every run has: the built-in ones and those that carry their arguments in their name.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { jsonText } from "./format.ts";
import type { Hook, HookSource } from "./options.ts";

const AMOUNT_LIMIT = 100;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const BUILT_IN: ReadonlyMap<string, Hook> = new Map<string, Hook>([
  ["always_true", () => true],
  ["always_false", () => false],
  ["amount_le_100", isSmallAmount],
  ["has_receipt", hasReceipt],
  ["auto_approve_ok", (context) => isSmallAmount(context) && hasReceipt(context)],
  ["write_failed", (_context, output) => writeFailed(output)],
]);

/**
 * Finds a hook: the run's own first, then the built-in ones, then `eq:key:value` and `neq:key:value`.
 *
 * @param name The name as a gate has it.
 * @param own The run's own hooks.
 * @returns The hook, or `undefined` if there is none of this name.
 */
export function resolveHook(name: string, own?: HookSource): Hook | undefined {
  return own?.get(name) ?? BUILT_IN.get(name) ?? comparison(name);
}

function comparison(name: string): Hook | undefined {
  const [kind, key, ...rest] = name.split(":");
  if ((kind !== "eq" && kind !== "neq") || !key || rest.length === 0) return undefined;
  const wanted = rest.join(":");
  const equal = kind === "eq";
  return (context) => textForms(member(context, key)).includes(wanted) === equal;
}

/** The JSON text of a value, and for truth values and null also the words that Python has for them. */
function textForms(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [""];
  if (typeof value === "string") return [value.trim()];
  if (value === null) return ["null", "None"];
  if (typeof value === "boolean") return value ? ["true", "True"] : ["false", "False"];
  return [jsonText(value), JSON.stringify(value)];
}

function isSmallAmount(context: JsonObject): boolean {
  const amount = member(context, "amount");
  if (typeof amount === "number") return amount <= AMOUNT_LIMIT;
  if (typeof amount === "boolean") return true;
  if (typeof amount !== "string" || !DECIMAL.test(amount.trim())) return false;
  return Number(amount) <= AMOUNT_LIMIT;
}

function hasReceipt(context: JsonObject): boolean {
  const value = member(context, "has_receipt");
  if (typeof value === "boolean") return value;
  if (value === undefined || value === null || value === "") return false;
  throw new TypeError("hook: not a boolean");
}

function writeFailed(output: JsonValue): boolean {
  const report = typeof output === "string" ? readReport(output) : output;
  if (!isJsonObject(report)) return false;
  return (member(report, "error") ?? null) !== null || member(report, "written") === false;
}

function readReport(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
