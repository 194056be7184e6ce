/**
 * Bounds on how much is said about one text, so that a hostile one cannot make its report grow without end.
 *
 * @module
 */
import type { Diagnostic } from "./document.ts";

/** Most problems of one text that are reported. */
export const MAX_PROBLEMS = 200;

/**
 * Takes the first problems of a list, errors before all others, in their order.
 *
 * @param problems All of them.
 * @returns At most {@linkcode MAX_PROBLEMS}, and a diagnostic that counts the rest if there is one.
 */
export function mostImportant<P extends { readonly severity: Diagnostic["severity"] }>(
  problems: readonly P[],
): { readonly shown: readonly P[]; readonly rest: readonly Diagnostic[] } {
  if (problems.length <= MAX_PROBLEMS) return { shown: problems, rest: [] };
  const errors = problems.filter(({ severity }) => severity === "error").slice(0, MAX_PROBLEMS);
  const others = problems.filter(({ severity }) => severity !== "error");
  const chosen = new Set([...errors, ...others.slice(0, MAX_PROBLEMS - errors.length)]);
  const rest = problems.length - chosen.size;
  return {
    shown: problems.filter((problem) => chosen.has(problem)),
    rest: [{
      severity: errors.length > 0 ? "error" : "warning",
      code: "more-problems",
      message: `${rest} more problem${rest === 1 ? " is" : "s are"} not shown`,
    }],
  };
}
