/**
 * JSON values, pointers (RFC 6901), schema validation.
 *
 * @module
 */
export { compileSchema, validateSchema } from "./compile.ts";
export { cloneJson, deepEqual, deepFreeze } from "./compare.ts";
export { formatPointer, parsePointer, readPointer } from "./pointer.ts";
export { type CompiledSchema, type Problem, problemText } from "./problem.ts";
export {
  JsonError,
  type JsonFault,
  type JsonReadOptions,
  MAX_JSON_DEPTH,
  parseJson,
  readJsonAt,
  skipSpace,
} from "./reader.ts";
export { SchemaError } from "./schema_error.ts";
export { canonicalJson, jsonText } from "./text.ts";
export { isJsonObject, type JsonArray, type JsonObject, type JsonValue, member } from "./value.ts";
