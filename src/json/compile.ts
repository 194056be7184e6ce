/**
 * The way to the schema validator, which is loaded with the first schema: its package is not even looked for before.
 *
 * @module
 */
import type { CompiledSchema, Problem } from "./problem.ts";
import type { JsonValue } from "./value.ts";

/** Not a literal within `import()`: what that leads to is read at the start of the program, reached or not. */
const SCHEMA: string = "./schema.ts";

/**
 * Checks a schema and makes it ready.
 *
 * @param schema A schema of dialect 2020-12.
 * @returns The schema, ready.
 * @throws {SchemaError} If the schema is ill-formed, too large, refers outside itself, or has a keyword or a pattern
 * that is not served.
 */
export async function compileSchema(schema: JsonValue): Promise<CompiledSchema> {
  const { compileSchema }: typeof import("./schema.ts") = await import(SCHEMA);
  return await compileSchema(schema);
}

/**
 * Checks a value against a schema.
 *
 * @param schema A schema of dialect 2020-12.
 * @param value The value.
 * @returns Every problem; none if the value fits.
 * @throws {SchemaError} If the schema cannot be used.
 */
export async function validateSchema(
  schema: JsonValue,
  value: JsonValue,
): Promise<readonly Problem[]> {
  return (await compileSchema(schema)).validate(value);
}
