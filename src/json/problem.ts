/**
 * What is wrong with a value, as a schema tells it.
 *
 * @module
 */
import type { JsonValue } from "./value.ts";

/** What is wrong with a value. */
export interface Problem {
  /** Where, as a JSON pointer; `""` is the whole value. */
  readonly pointer: string;
  /** The keyword of the schema that is not met. */
  readonly keyword: string;
  /** What was found against what was wanted. */
  readonly message: string;
}

/** A schema ready for use. */
export interface CompiledSchema {
  /**
   * Checks a value.
   *
   * @param value The value.
   * @returns Every problem, in the order of the schema; none if the value fits.
   */
  validate(value: JsonValue): readonly Problem[];
}

/**
 * Writes a problem in one line.
 *
 * @param problem The problem.
 * @returns Its pointer and its message; for the whole value the message alone.
 */
export function problemText(problem: Problem): string {
  return problem.pointer === "" ? problem.message : `${problem.pointer}: ${problem.message}`;
}
