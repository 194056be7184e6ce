/**
 * Who the server says it is.
 *
 * @module
 */

/** Who the server is. */
export interface ServerInfo {
  /** For programs. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Version of the program. */
  readonly version: string;
  /** What the program is, in a sentence. */
  readonly description: string;
  /** What a model should know before it uses the tools; left out where empty. */
  readonly instructions?: string;
}
