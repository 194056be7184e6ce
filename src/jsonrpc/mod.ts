/**
 * JSON-RPC 2.0 on a byte stream: messages, error codes and line framing.
 *
 * @module
 */
export {
  byteLength,
  decodeLine,
  encodeLine,
  failure,
  MAX_NESTING,
  MAX_OUTPUT_BYTES,
  notification,
  type Outgoing,
  success,
  unreadable,
} from "./codec.ts";
export {
  DEFAULT_MAX_LINE_BYTES,
  type InputLine,
  readLines,
  type ReadLinesOptions,
} from "./read_lines.ts";
export type { LineFault } from "./line_gatherer.ts";
export { LineWriter, type LineWriterOptions } from "./line_writer.ts";
export {
  type Batch,
  classify,
  classifyElement,
  ErrorCode,
  type ErrorObject,
  type Incoming,
  type Invalid,
  isRequestId,
  MAX_ID_BYTES,
  type Message,
  type Notification,
  type Request,
  type RequestId,
  type Response,
} from "./message.ts";
