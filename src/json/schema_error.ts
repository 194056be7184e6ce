/**
 * Why a schema cannot be used.
 *
 * @module
 */

/** A schema that cannot be used. */
export class SchemaError extends TypeError {
  /** The class, also where `instanceof` cannot tell. */
  override readonly name = "SchemaError";
  /** Where in the schema, as a JSON pointer. */
  readonly pointer: string;
  /** Makes an error. */
  constructor(pointer: string, problem: string) {
    super(`Cannot use JSON Schema at "${pointer}": ${problem}`);
    this.pointer = pointer;
  }
}
