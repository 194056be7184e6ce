/**
 * `_meta`: of requests the claim to the modern era and its ladder of checks, progress tokens, trace context; of results
 * who answers.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/value.ts";
import { ErrorCode, type ErrorObject, isRequestId, type RequestId } from "../jsonrpc/message.ts";
import { MODERN_REVISION } from "./revisions.ts";
import type { ServerInfo } from "./server_info.ts";

/** Key of the revision that a modern request speaks. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** Key of what the client of a modern request can do. */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
/** Key of who the client is. */
export const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";
/** Key of the severity from which log messages are wanted. */
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";
/** Key of who the server is. */
export const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
/** Key of the stream that a notification belongs to. */
export const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

/** How long a client may keep what does not change while the process lives: an hour, in milliseconds. */
export const CACHE_MS = 3_600_000;

const LOG_LEVELS: readonly JsonValue[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
const TRACE_PARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** The longest revision that a request may name, since the refusal repeats it. */
const MAX_VERSION_CHARACTERS = 1_024;
/** The longest trace state and baggage that are passed on, in characters. */
const MAX_TRACE_CHARACTERS = 8_192;

/** What `_meta` of a request said, checked. */
export interface RequestMeta {
  /** What the client can do; empty for legacy requests, whose session knows it. */
  readonly capabilities: JsonObject;
  /** How progress is to be named, if it is wanted. */
  readonly progressToken: RequestId | undefined;
  /** W3C trace context, if it is valid. */
  readonly traceContext: Readonly<Record<string, string>> | undefined;
}

/** A checked value, or why it is refused. */
export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ErrorObject };

/**
 * Tells whether a request claims the modern era: it names its revision or its client's capabilities itself.
 *
 * @param params Of the request.
 * @returns Whether either key is there, well formed or not.
 */
export function hasModernClaim(params: JsonObject): boolean {
  const meta = member(params, "_meta");
  return isJsonObject(meta) &&
    (Object.hasOwn(meta, VERSION_KEY) || Object.hasOwn(meta, CAPABILITIES_KEY));
}

/**
 * Tells whether a claim is complete and speaks of a revision from the modern era on.
 *
 * @param params Of the request.
 * @returns Whether it can only come from a modern client.
 */
export function isWellFormedModernClaim(params: JsonObject): boolean {
  const meta = member(params, "_meta");
  if (!isJsonObject(meta)) return false;
  const version = member(meta, VERSION_KEY);
  return typeof version === "string" && version >= MODERN_REVISION &&
    isJsonObject(member(meta, CAPABILITIES_KEY));
}

/**
 * Climbs the first three steps of the ladder of a modern request: required keys, optional keys, revision.
 *
 * @param params Of the request.
 * @returns What `_meta` said, or the first failure.
 */
export function checkModernMeta(params: JsonObject): Checked<RequestMeta> {
  const meta = member(params, "_meta");
  if (meta === undefined) {
    return refused('Member "_meta" of params is missing', { missing: ["_meta"] });
  }
  if (!isJsonObject(meta)) {
    return refused('Member "_meta" of params must be an object', { invalid: ["_meta"] });
  }
  const missing = [VERSION_KEY, CAPABILITIES_KEY].filter((key) => !Object.hasOwn(meta, key));
  if (missing.length > 0) return refused(`_meta lacks ${quoted(missing)}`, { missing });
  const invalid = invalidKeys(meta);
  if (invalid.length > 0) return refused(`_meta has malformed ${quoted(invalid)}`, { invalid });
  const requested = member(meta, VERSION_KEY) ?? null;
  if (requested !== MODERN_REVISION) {
    const message = `Protocol version is not supported: ${JSON.stringify(requested)}`;
    const data = { supported: [MODERN_REVISION], requested };
    return { ok: false, error: { code: ErrorCode.unsupportedVersion, message, data } };
  }
  return { ok: true, value: { capabilities: objectAt(meta, CAPABILITIES_KEY), ...common(meta) } };
}

/**
 * Checks `_meta` of a legacy request.
 *
 * @param params Of the request.
 * @returns What `_meta` said, or why it is malformed.
 */
export function checkLegacyMeta(params: JsonObject): Checked<RequestMeta> {
  const meta = member(params, "_meta");
  if (meta === undefined) {
    const value = { capabilities: {}, progressToken: undefined, traceContext: undefined };
    return { ok: true, value };
  }
  if (!isJsonObject(meta)) {
    return refused('Member "_meta" of params must be an object', { invalid: ["_meta"] });
  }
  if (Object.hasOwn(meta, "progressToken") && !isRequestId(meta["progressToken"])) {
    return refused("Progress token must be a string or an integer", { invalid: ["progressToken"] });
  }
  return { ok: true, value: { capabilities: {}, ...common(meta) } };
}

function invalidKeys(meta: JsonObject): string[] {
  const checks: [key: string, isValid: (value: JsonValue | undefined) => boolean][] = [
    [VERSION_KEY, (value) => typeof value === "string" && value.length <= MAX_VERSION_CHARACTERS],
    [CAPABILITIES_KEY, isJsonObject],
    [CLIENT_INFO_KEY, isImplementation],
    [LOG_LEVEL_KEY, (value) => value !== undefined && LOG_LEVELS.includes(value)],
    ["progressToken", isRequestId],
  ];
  return checks.filter(([key, isValid]) => Object.hasOwn(meta, key) && !isValid(meta[key]))
    .map(([key]) => key);
}

/**
 * Tells whether a value names a client or a server.
 *
 * @param value Anything.
 * @returns Whether it is an object with a string `name` and a string `version`.
 */
export function isImplementation(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && typeof member(value, "name") === "string" &&
    typeof member(value, "version") === "string";
}

function common(meta: JsonObject): Pick<RequestMeta, "progressToken" | "traceContext"> {
  const token = member(meta, "progressToken");
  return {
    progressToken: isRequestId(token) ? token : undefined,
    traceContext: traceContext(meta),
  };
}

function traceContext(meta: JsonObject): Readonly<Record<string, string>> | undefined {
  const parent = member(meta, "traceparent");
  if (typeof parent !== "string" || !TRACE_PARENT.test(parent)) return undefined;
  const context: Record<string, string> = { traceparent: parent };
  for (const key of ["tracestate", "baggage"]) {
    const value = member(meta, key);
    if (typeof value === "string" && value.length <= MAX_TRACE_CHARACTERS) context[key] = value;
  }
  return context;
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return isJsonObject(value) ? value : {};
}

function quoted(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(", ");
}

function refused(message: string, data: JsonObject): Checked<never> {
  return { ok: false, error: { code: ErrorCode.invalidParams, message, data } };
}

/**
 * `_meta` of every modern result.
 *
 * @param info Who the server is.
 * @returns An object that names it.
 */
export function serverMeta(info: ServerInfo): JsonObject {
  const { name, title, version } = info;
  return { [SERVER_INFO_KEY]: { name, title, version } };
}
