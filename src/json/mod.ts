/**
 * JSON values, pointers (RFC 6901), schema validation.
 *
 * @module
 */
export { cloneJson, deepEqual, deepFreeze } from "./compare.ts";
export { formatPointer, parsePointer, readPointer } from "./pointer.ts";
export {
  JsonError,
  type JsonFault,
  type JsonReadOptions,
  MAX_JSON_DEPTH,
  parseJson,
  readJsonAt,
  skipSpace,
} from "./reader.ts";
export { canonicalJson, jsonText } from "./text.ts";
export {
  type CompiledSchema,
  compileSchema,
  type Problem,
  problemText,
  SchemaError,
  validateSchema,
} from "./schema.ts";
export { isJsonObject, type JsonArray, type JsonObject, type JsonValue, member } from "./value.ts";
