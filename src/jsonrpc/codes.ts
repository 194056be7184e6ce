/**
 * Error codes of {@link https://www.jsonrpc.org/specification#error_object | JSON-RPC 2.0} and of MCP 2026-07-28.
 *
 * @module
 */

/** Codes of error responses. */
export const ErrorCode = {
  /** The bytes are not UTF-8, the text is not JSON, or the line is too long. */
  parse: -32700,
  /** JSON, but not a message; a batch where none is allowed; an id in use. */
  invalidRequest: -32600,
  /** Nothing answers to this method. */
  methodNotFound: -32601,
  /** The method exists, its parameters are wrong. */
  invalidParams: -32602,
  /** A fault of ours. */
  internal: -32603,
  /** The request needs a client capability that it did not declare. */
  missingCapability: -32021,
  /** The request asks for a protocol revision that is not served. */
  unsupportedVersion: -32022,
} as const;
