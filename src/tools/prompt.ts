/**
 * Refuses calls of the tools that take a prompt: the schema cannot say that a prompt must say something.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { ArgumentProblem } from "../mcp/mod.ts";
import { textArgument } from "./arguments.ts";
import { type EndOutcome, ERROR_META_KEY, outcome } from "./outcome.ts";

const CODE = "invalid-request";
const BLANK = "'prompt' is required and must be a non-empty string";

/**
 * Refuses a blank prompt before anything is spent.
 *
 * @param args The arguments.
 * @returns An `isError` outcome, or `undefined` if the prompt says something.
 */
export function refuseBlank(args: JsonObject): EndOutcome | undefined {
  return isBlank(args) ? invalidRequest([BLANK]) : undefined;
}

/**
 * Refuses arguments that do not fit.
 *
 * @param problems What does not fit the schema.
 * @param args The arguments.
 * @returns An `isError` outcome with every problem, a blank prompt among them.
 */
export function refusePrompt(
  problems: readonly ArgumentProblem[],
  args: JsonObject,
): EndOutcome {
  const isNamed = problems.some(({ argument }) => argument === undefined || argument === "prompt");
  const messages = problems.map(({ message }) => message);
  return invalidRequest(isNamed || !isBlank(args) ? messages : [...messages, BLANK]);
}

function isBlank(args: JsonObject): boolean {
  return (textArgument(args, "prompt") ?? "").trim() === "";
}

function invalidRequest(problems: readonly string[]): EndOutcome {
  const object = { status: "error", error: CODE, errors: problems, warnings: [] };
  const meta = { [ERROR_META_KEY]: { code: CODE, retryable: false } };
  return outcome(problems.join("\n"), object, { isError: true, meta });
}
