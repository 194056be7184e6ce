/**
 * What an endpoint's refusal means.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { cutText, type KitErrorCode, LlmError, type Redactor } from "../llm/mod.ts";

/** The longest text of an endpoint that is passed on in an error. */
export const MAX_ERROR_TEXT = 500;

/** A refusal. */
export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  /** The body, parsed if it is JSON, else its text. */
  readonly body: JsonValue;
  /** How long the endpoint asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The URL as it may be shown. */
  readonly url: string;
  /** Masks secrets. */
  readonly redact: Redactor;
}

/** What an endpoint says about its refusal, whatever its dialect. */
export interface RefusalFacts {
  /** For people. */
  readonly message: string;
  /** Its words for the kind, as `code` or `type`, as they came. */
  readonly words: readonly string[];
  /** The parameter that it names. */
  readonly param: string | undefined;
  /** Its numeric code, as some put an HTTP status in a body. */
  readonly status: number | undefined;
}

/**
 * Reads what an endpoint says about a refusal.
 *
 * @param body The body.
 * @returns The facts that are there.
 */
export function readRefusal(body: JsonValue): RefusalFacts {
  const error = isJsonObject(body)
    ? member(body, "error") ?? member(body, "detail") ?? member(body, "errors") ?? body
    : body;
  if (!isJsonObject(error)) {
    const message = typeof error === "string" ? error : error === null ? "" : JSON.stringify(error);
    return { message, words: [], param: undefined, status: undefined };
  }
  const inner = member(error, "innererror");
  const words = [error, isJsonObject(inner) ? inner : {}].flatMap((source) =>
    ["code", "type", "status"].map((key) => member(source, key))
  ).filter((word) => typeof word === "string");
  const param = member(error, "param");
  return {
    message: textOf(member(error, "message") ?? member(error, "msg") ?? JSON.stringify(error)),
    words,
    param: typeof param === "string" ? param : undefined,
    status: statusOf(member(error, "code")),
  };
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function statusOf(code: JsonValue | undefined): number | undefined {
  const status = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === "number" && status >= 400 && status <= 599 ? status : undefined;
}

/**
 * Makes the error of a refusal.
 *
 * @param refusal The refusal.
 * @returns The error, with status and the endpoint's words in `details`, secrets masked.
 */
export function refusalError(refusal: Refusal): LlmError {
  const { status, redact, url } = refusal;
  const facts = readRefusal(refusal.body);
  const { code, retryable } = kindOf(status, facts);
  const said = shownText(facts.message, redact);
  const hint = HINTS[code];
  const text = `The endpoint ${url} answered status ${status}` +
    (said === "" ? "" : `: "${said}"`) +
    (hint === undefined ? "" : `; ${hint}`);
  const extra = innerDetail(refusal.body);
  return new LlmError(code, text, {
    retryable,
    details: {
      status,
      url,
      ...(facts.words.length > 0 ? { words: shownWords(facts, redact) } : {}),
      ...(facts.param === undefined ? {} : { param: shownText(facts.param, redact) }),
      ...(extra === undefined ? {} : { endpoint: shownText(extra, redact, MAX_DETAIL_TEXT) }),
    },
    ...(refusal.retryAfterMs === undefined ? {} : { retryAfterMs: refusal.retryAfterMs }),
  });
}

const MAX_DETAIL_TEXT = 2000;
const MAX_WORD_LENGTH = 100;

/** What may be shown of an endpoint's text: secrets masked, cut, nothing that moves a terminal. */
function shownText(text: string, redact: Redactor, maxLength: number = MAX_ERROR_TEXT): string {
  // deno-lint-ignore no-control-regex -- these are what must not get through
  const plain = redact(text).replace(/[\x00-\x1f\x7f-\x9f]+/g, " ").trim();
  return cutText(plain, maxLength);
}

function shownWords({ words }: RefusalFacts, redact: Redactor): readonly string[] {
  return words.map((word) => shownText(word, redact, MAX_WORD_LENGTH).toLowerCase());
}

function innerDetail(body: JsonValue): string | undefined {
  const error = isJsonObject(body) ? member(body, "error") : undefined;
  const inner = isJsonObject(error)
    ? member(error, "innererror") ?? member(error, "metadata")
    : undefined;
  return inner === undefined || inner === null ? undefined : JSON.stringify(inner);
}

const HINTS: Readonly<Partial<Record<KitErrorCode, string>>> = {
  auth: "check the API key and what it may use",
  quota: "the account has no credit left for this",
  "not_found": "check the base URL and the model's name",
  "too_large": "the request is too large for this endpoint",
};

interface Kind {
  readonly code: KitErrorCode;
  readonly retryable: boolean;
}

const QUOTA_WORDS =
  /insufficient_quota|insufficient_credit|billing|quota_exceeded|credit_balance|payment_required/;
const FILTER_WORDS = /content_filter|responsibleaipolicyviolation|content_policy_violation/;

function kindOf(status: number, facts: RefusalFacts): Kind {
  const words = facts.words.join(" ").toLowerCase();
  if (FILTER_WORDS.test(words)) return { code: "content_filter", retryable: false };
  if (QUOTA_WORDS.test(words) || status === 402) return { code: "quota", retryable: false };
  if (status === 529 || /overloaded/.test(words)) return { code: "overloaded", retryable: true };
  return BY_STATUS.get(status) ??
    (status >= 500
      ? { code: "server", retryable: true }
      : { code: "bad_request", retryable: false });
}

const BY_STATUS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [401, { code: "auth", retryable: false }],
  [403, { code: "auth", retryable: false }],
  [404, { code: "not_found", retryable: false }],
  [410, { code: "not_found", retryable: false }],
  [408, { code: "timeout", retryable: true }],
  [409, { code: "server", retryable: true }],
  [413, { code: "too_large", retryable: false }],
  [422, { code: "unprocessable", retryable: false }],
  [425, { code: "server", retryable: true }],
  [429, { code: "rate_limit", retryable: true }],
  [501, { code: "bad_request", retryable: false }],
  [505, { code: "bad_request", retryable: false }],
]);

/**
 * Makes the error of a 200 whose body is an error after all, as gateways send them.
 *
 * @param body The body.
 * @param refusal What else is known.
 * @returns The error by the code in the body, or `bad_response` where it has none.
 */
export function errorInBody(body: JsonObject, refusal: Omit<Refusal, "status" | "body">): LlmError {
  const facts = readRefusal(body);
  const status = facts.status ?? wordStatus(facts.words);
  if (status !== undefined) return refusalError({ ...refusal, status, body });
  const said = shownText(facts.message, refusal.redact);
  const words = shownWords(facts, refusal.redact);
  return new LlmError(
    "bad_response",
    `The endpoint ${refusal.url} answered with an error: "${said}"`,
    { retryable: true, details: { status: 200, url: refusal.url, words } },
  );
}

function wordStatus(words: readonly string[]): number | undefined {
  const all = words.join(" ").toLowerCase();
  if (QUOTA_WORDS.test(all)) return 402;
  if (/rate_limit/.test(all)) return 429;
  if (/overloaded/.test(all)) return 529;
  if (/invalid_request/.test(all)) return 400;
  if (/authentication|permission|invalid_api_key/.test(all)) return 401;
  if (/not_found/.test(all)) return 404;
  if (FILTER_WORDS.test(all)) return 400;
  return /server_error|internal|api_error/.test(all) ? 500 : undefined;
}
