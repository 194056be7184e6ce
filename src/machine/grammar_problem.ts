/**
 * What validation reports.
 *
 * @module
 */

/** One way in which a document breaks the grammar. */
export interface GrammarProblem {
  /** The stable word. */
  readonly code: string;
  /** What was found and what was wanted. */
  readonly message: string;
  /** What to write instead. */
  readonly hint?: string;
  /** The member it is about. */
  readonly path: readonly (string | number)[];
  /** Whether the key is meant, not the value. */
  readonly part?: "key";
}
