/**
 * The two tools that anybody may be given: they reach nothing.
 *
 * @module
 */
import { member } from "../json/mod.ts";
import { evaluateArithmetic } from "../llm/mod.ts";
import type { ReactTool } from "./react_options.ts";

const BUILTIN_TIMEOUT_MS = 5000;

/**
 * Evaluates arithmetic: `+ - * / % **` and parentheses, integers exact within bounds. Errors are told as
 * `Error: <reason>`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const context = { signal: new AbortController().signal, toolCallId: "call_1" };
 * assertEquals(calculatorTool.execute({ expression: "2**10 / 4" }, context), "256");
 * ```
 */
export const calculatorTool: ReactTool = Object.freeze<ReactTool>({
  name: "calculator",
  description: "Evaluates an arithmetic expression of numbers, + - * / % ** and parentheses. " +
    "% rounds down as in mathematics; ** is power. At most 512 characters.",
  parameters: {
    type: "object",
    properties: {
      expression: { type: "string", description: "For example (17 * 83 + 5) / 2" },
    },
    required: ["expression"],
    additionalProperties: false,
  },
  timeoutMs: BUILTIN_TIMEOUT_MS,
  execute: (args) => {
    const result = evaluateArithmetic(String(member(args, "expression")));
    return result.ok ? result.text : `Error: ${result.message}`;
  },
});

/**
 * Gives its text back, unchanged.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const context = { signal: new AbortController().signal, toolCallId: "call_1" };
 * assertEquals(echoTool.execute({ text: "hello" }, context), "hello");
 * ```
 */
export const echoTool: ReactTool = Object.freeze<ReactTool>({
  name: "echo",
  description: "Returns the given text unchanged.",
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "The text to return" } },
    required: ["text"],
    additionalProperties: false,
  },
  timeoutMs: BUILTIN_TIMEOUT_MS,
  execute: (args) => String(member(args, "text")),
});
