/**
 * Paths into a document as text.
 *
 * @module
 */

/**
 * Writes a path as people read it: `states.draft.gates[0].when`.
 *
 * Keys that are not plain words are written in brackets, as JSON: `states["my state"]`.
 *
 * @param path Keys and indexes from the root.
 * @returns The text; `the document` for the root.
 */
export function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return "the document";
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(step) && step.length <= 80) {
      text += text === "" ? step : `.${step}`;
    } else text += `[${JSON.stringify(step.slice(0, 80))}]`;
  }
  return text;
}
