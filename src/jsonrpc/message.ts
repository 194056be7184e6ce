/**
 * What a parsed JSON value is as a message of {@link https://www.jsonrpc.org/specification | JSON-RPC 2.0}, narrowed as
 * MCP narrows it: ids are strings or safe integers, parameters are objects.
 *
 * @module
 */
import {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  member,
} from "../json/value.ts";

/**
 * Codes of error responses, of {@link https://www.jsonrpc.org/specification#error_object | JSON-RPC 2.0} and of MCP
 * 2026-07-28.
 */
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

/**
 * The most bytes that a string which is taken as an id may have as JSON, six for each character that is not plain. The
 * last answer of a stream names its id twice, so this is what fits into a line of 4 MiB.
 */
export const MAX_ID_BYTES = 1_572_864;

/** What JSON on the wire writes in more than one byte, six at the most. */
const NOT_PLAIN = /[^ !#-[\]-~]/g;
const MOST_BYTES = 6;

/** What ties a response to its request. `1` and `"1"` are different; `0` and `""` are ids like any other. */
export type RequestId = string | number;

/** The `error` of a response. */
export interface ErrorObject {
  /** One of {@linkcode ErrorCode}. */
  readonly code: number;
  /** One short sentence. */
  readonly message: string;
  /** More for programs. */
  readonly data?: JsonValue;
}

/** A call that must be answered. */
export interface Request {
  /** Tells it from the other kinds. */
  readonly kind: "request";
  /** To be echoed. */
  readonly id: RequestId;
  /** What is asked for. */
  readonly method: string;
  /** Parameters; empty where the message had none. */
  readonly params: JsonObject;
}

/** A message that is never answered. */
export interface Notification {
  /** Tells it from the other kinds. */
  readonly kind: "notification";
  /** What happened. */
  readonly method: string;
  /** Parameters; empty where the message had none or something else than an object. */
  readonly params: JsonObject;
}

/** An answer to a request of ours. */
export interface Response {
  /** Tells it from the other kinds. */
  readonly kind: "response";
  /** Of our request; `undefined` where it is missing or no id. */
  readonly id: RequestId | undefined;
  /** What it says; `undefined` where it is broken (both a result and an error, or another protocol version). */
  readonly outcome:
    | { readonly ok: true; readonly result: JsonValue }
    | { readonly ok: false; readonly error: JsonValue }
    | undefined;
}

/** Several messages in one array, not yet looked at. */
export interface Batch {
  /** Tells it from the other kinds. */
  readonly kind: "batch";
  /** The elements; use {@linkcode classifyElement}. */
  readonly elements: JsonArray;
}

/** Something that has to be refused. */
export interface Invalid {
  /** Tells it from the other kinds. */
  readonly kind: "invalid";
  /** The id to echo, or `undefined` where none could be read. */
  readonly id: RequestId | undefined;
  /** Why. */
  readonly error: ErrorObject;
}

/** One message, not a batch. */
export type Message = Request | Notification | Response | Invalid;

/** Whatever a line held. */
export type Incoming = Message | Batch;

const NO_PARAMS: JsonObject = Object.freeze({});

/**
 * Tells what a parsed value is.
 *
 * @param value A parsed line.
 * @returns The message, the batch, or why it is neither.
 */
export function classify(value: JsonValue): Incoming {
  return Array.isArray(value) ? { kind: "batch", elements: value } : classifyElement(value);
}

/**
 * Tells what a value is that stands alone or in a batch, where no further batch is allowed.
 *
 * @param value A parsed value.
 * @returns The message, or why it is none.
 */
export function classifyElement(value: JsonValue): Message {
  if (!isJsonObject(value)) return invalid(undefined, "A message must be a JSON object");
  const id = member(value, "id");
  const echo = isRequestId(id) ? id : undefined;
  const method = member(value, "method");
  if (method === undefined && isResponseShaped(value)) return response(value, echo);
  if (member(value, "jsonrpc") !== "2.0") return invalid(echo, 'Member "jsonrpc" must be "2.0"');
  if (method === undefined) {
    return invalid(echo, "A message must have a method, a result or an error");
  }
  if (typeof method !== "string") return invalid(echo, 'Member "method" must be a string');
  const params = member(value, "params");
  if (id === undefined) {
    return { kind: "notification", method, params: isJsonObject(params) ? params : NO_PARAMS };
  }
  if (echo === undefined) {
    return invalid(undefined, 'Member "id" must be a string or an integer below 2^53');
  }
  if (params === undefined) return { kind: "request", id: echo, method, params: NO_PARAMS };
  if (isJsonObject(params)) return { kind: "request", id: echo, method, params };
  return {
    kind: "invalid",
    id: echo,
    error: { code: ErrorCode.invalidParams, message: 'Member "params" must be an object' },
  };
}

/**
 * Tells whether a value can be a request id, or a progress token, which obeys the same rule.
 *
 * @param value Anything.
 * @returns Whether it is a string that can be echoed, or a safe integer.
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" ? canBeEchoed(value) : Number.isSafeInteger(value);
}

function canBeEchoed(id: string): boolean {
  if (id.length * MOST_BYTES <= MAX_ID_BYTES) return true;
  if (id.length > MAX_ID_BYTES) return false;
  const others = id.match(NOT_PLAIN)?.length ?? 0;
  return id.length + others * (MOST_BYTES - 1) <= MAX_ID_BYTES;
}

function isResponseShaped(value: JsonObject): boolean {
  return Object.hasOwn(value, "result") || Object.hasOwn(value, "error");
}

function response(value: JsonObject, id: RequestId | undefined): Response {
  const result = member(value, "result");
  const error = member(value, "error");
  if (member(value, "jsonrpc") !== "2.0" || (result !== undefined && error !== undefined)) {
    return { kind: "response", id, outcome: undefined };
  }
  if (result !== undefined) return { kind: "response", id, outcome: { ok: true, result } };
  return { kind: "response", id, outcome: { ok: false, error: error ?? null } };
}

function invalid(id: RequestId | undefined, message: string): Invalid {
  return { kind: "invalid", id, error: { code: ErrorCode.invalidRequest, message } };
}
