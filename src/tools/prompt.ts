/**
 * What a schema cannot say of a prompt: that it says something.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { ToolOutcome } from "../mcp/mod.ts";
import { textArgument } from "./arguments.ts";
import { ERROR_META_KEY, outcome } from "./outcome.ts";

/**
 * Refuses a blank prompt before anything is spent.
 *
 * @param args The arguments.
 * @returns An `isError` outcome, or `undefined` if the prompt says something.
 */
export function promptProblem(args: JsonObject): ToolOutcome | undefined {
  if ((textArgument(args, "prompt") ?? "").trim() !== "") return undefined;
  const text = "'prompt' is required and must be a non-empty string";
  const object = { status: "error", error: "invalid-request", errors: [text], warnings: [] };
  const meta = { [ERROR_META_KEY]: { code: "argument", retryable: false } };
  return outcome(text, object, { isError: true, meta });
}
