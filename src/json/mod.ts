/**
 * JSON values, pointers (RFC 6901), schema validation.
 *
 * @module
 */
export { isJsonObject, type JsonArray, type JsonObject, type JsonValue, member } from "./value.ts";
