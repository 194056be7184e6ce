/**
 * The tool `calc`: arithmetic, by the one evaluator of Kit.
 *
 * @module
 */
import { evaluateArithmetic } from "../../llm/mod.ts";
import { clip, type HostTool } from "../../machine/mod.ts";
import { inputText } from "./observation.ts";

/** Most characters of an expression that are quoted back. */
const MAX_QUOTED_CHARS = 80;

/**
 * Makes the tool.
 *
 * @returns The tool: a plain number as text, or `error: could not evaluate 'X' (why)`.
 */
export function calcTool(): HostTool {
  return {
    effect: "read",
    run(input): string {
      const expression = inputText(input, "expr", "query") ?? "";
      const result = evaluateArithmetic(expression.trim(), { dialect: "calc" });
      if (result.ok) return result.text;
      const quoted = clip(expression.replace(/[\p{Cc}]/gu, " "), MAX_QUOTED_CHARS);
      return `error: could not evaluate '${quoted}' (${result.message})`;
    },
  };
}
