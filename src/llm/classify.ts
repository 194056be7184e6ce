/**
 * Errors of the runtime and of foreign providers, as Kit's own.
 *
 * @module
 */
import { AbortedError, ConfigError, KitError, LlmError } from "./errors.ts";

/**
 * Tells what a thrown value is, from its name, its codes and its causes; the text decides last, since it is worded
 * differently by every runtime.
 *
 * @param thrown What `fetch`, a body reader or a foreign provider threw.
 * @returns A Kit error with `cause` set: `aborted`, `timeout`, `config`, `network`, or `server` for what cannot be told.
 */
export function classifyFetchError(thrown: unknown): KitError {
  if (thrown instanceof KitError) return thrown;
  const chain = causesOf(thrown);
  if (chain.some((cause) => hasName(cause, TIMEOUT_NAMES) || hasCode(cause, TIMEOUT_CODES))) {
    return new LlmError("timeout", "The endpoint did not answer in time", {
      cause: thrown,
      retryable: true,
    });
  }
  if (chain.some((cause) => hasName(cause, ABORT_NAMES))) {
    return new AbortedError(undefined, { cause: thrown });
  }
  if (chain.some((cause) => BLOCKED_PORT.test(textOf(cause)))) {
    const message = "Cannot use the base URL: its port is one that fetch never connects to";
    return new ConfigError(message, { cause: thrown });
  }
  if (chain.some((cause) => hasCode(cause, UNSENT_CODES) || UNSENT_TEXT.test(textOf(cause)))) {
    return new LlmError("network", "Cannot connect to the endpoint", {
      cause: thrown,
      retryable: true,
      details: { sent: false },
    });
  }
  if (chain.some(isNetwork)) {
    return new LlmError("network", "The connection to the endpoint was lost", {
      cause: thrown,
      retryable: true,
    });
  }
  return new LlmError("server", "The provider failed for a reason that it does not tell", {
    cause: thrown,
  });
}

const MAX_CAUSES = 8;

const TIMEOUT_NAMES = ["TimeoutError", "ConnectTimeoutError", "HeadersTimeoutError"];
const TIMEOUT_CODES = [
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
];
const ABORT_NAMES = ["AbortError"];
const UNSENT_CODES = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
];
const UNSENT_TEXT =
  /\btcp connect error|connection refused|dns error|failed to lookup|invalid peer certificate|network is unreachable|no route to host/i;
/** Of {@link https://fetch.spec.whatwg.org/#port-blocking | the fetch standard}. */
const BLOCKED_PORT = /\brequests to port \d+ are blocked/i;
const NETWORK_NAMES = [
  "ConnectionReset",
  "ConnectionRefused",
  "ConnectionAborted",
  "NotConnected",
  "BrokenPipe",
  "UnexpectedEof",
  "Http",
  "SocketError",
];
const NETWORK_CODES = ["ECONNRESET", "ECONNABORTED", "EPIPE", "EPROTO", "UND_ERR_SOCKET"];
const NETWORK_TEXT =
  /error sending request|connection (?:closed|reset|error|was)|closed before message completed|error (?:reading|decoding).*body|fetch failed|failed to fetch|network ?error|socket hang up|terminated|unexpected (?:eof|end of file)|premature close|incomplete message|tls|load failed/i;

function causesOf(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let next = thrown;
  while (next !== undefined && next !== null && chain.length < MAX_CAUSES) {
    if (chain.includes(next)) break;
    chain.push(next);
    next = fieldOf(next, "cause");
  }
  return chain;
}

function isNetwork(thrown: unknown): boolean {
  return hasName(thrown, NETWORK_NAMES) || hasCode(thrown, NETWORK_CODES) ||
    (hasName(thrown, ["TypeError", "Error"]) && NETWORK_TEXT.test(textOf(thrown)));
}

function hasName(thrown: unknown, names: readonly string[]): boolean {
  const name = fieldOf(thrown, "name");
  return typeof name === "string" && names.includes(name);
}

function hasCode(thrown: unknown, codes: readonly string[]): boolean {
  const code = fieldOf(thrown, "code");
  return typeof code === "string" && codes.includes(code);
}

const MAX_TEXT = 1000;

function textOf(thrown: unknown): string {
  const text = typeof thrown === "string" ? thrown : fieldOf(thrown, "message");
  return typeof text === "string" ? text.slice(0, MAX_TEXT) : "";
}

function fieldOf(thrown: unknown, field: string): unknown {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, field);
  } catch {
    return undefined;
  }
}
