/**
 * Masking of secrets in texts that people or models will see.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import { cutText } from "./cut_text.ts";

/** Masks secrets in a text. `maxLength`: where the text is cut, default 64 Ki characters. */
export type Redactor = (text: string, options?: { readonly maxLength?: number }) => string;

/** The longest text that is looked at where nothing else is said; the rest is cut off, since it might hold a secret. */
export const MAX_REDACT_LENGTH = 64 * 1024;

/** The longest text that is ever looked at: as long as the longest answer of an endpoint. */
export const MAX_WHOLE_REDACT_LENGTH = 16 * 1024 * 1024;

/** The shortest secret that is masked by its exact value: a shorter one is found within innocent words. */
export const MIN_SECRET_LENGTH = 8;

const MASK = "[REDACTED]";

/** Forms that are secrets by their look. Each is linear: no repetition within a repetition. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /\bgh[pousr]_[A-Za-z0-9]{4,}/gi,
  /\bgithub_pat_[A-Za-z0-9_]{4,}/gi,
  /\bglpat-[A-Za-z0-9_-]{4,}/gi,
  /\bhf_[A-Za-z0-9]{8,}/g,
  /\bxai-[A-Za-z0-9_-]{8,}/gi,
  /\bgsk_[A-Za-z0-9]{4,}/gi,
  /\bxox[a-z]-[A-Za-z0-9-]{8,}/gi,
  /\bAIza[A-Za-z0-9_-]{8,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bsk[-_][A-Za-z0-9_-]{4,}/gi,
  /\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g,
];

const USERINFO = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"'<>]{1,256}@/gi;
const BEARER = /\b(bearer)(\s{1,8})([A-Za-z0-9+/._~=-]{4,})/gi;
const BASIC = /\b(basic)(\s{1,8})([A-Za-z0-9+/]{4,}={0,2})/gi;
const NAMED =
  /((?:api[_-]?key|access[_-]?key|secret[_-]?key|client[_-]?secret|auth(?:orization|[_-]?token)?|passw(?:or)?d|token|secret|\bkey)["']?\s{0,8}[:=]\s{0,8}["']?)((?:bearer|basic)\s{1,8})?([^\s"',;&}{)(\]]{4,})/gi;
const BARE = /\b(token|secret)(\s{1,8})([A-Za-z0-9+/._~=-]{8,})/gi;

/**
 * Masks what looks like a secret: keys of known vendors, tokens, private keys, values named as such, passwords in URLs.
 *
 * @param text The text.
 * @param options `maxLength`: where the text is cut, default 64 Ki characters.
 * @returns The text with `[REDACTED]` in place of secrets.
 */
export function redact(text: string, options: { readonly maxLength?: number } = {}): string {
  let masked = cutText(text, options.maxLength ?? MAX_REDACT_LENGTH);
  for (const shape of SHAPES) masked = masked.replace(shape, MASK);
  return masked
    .replace(USERINFO, `$1${MASK}@`)
    .replace(BEARER, `$1$2${MASK}`)
    .replace(
      BASIC,
      (whole, word: string, space: string, value: string) =>
        isCredential(value) ? `${word}${space}${MASK}` : whole,
    )
    .replace(NAMED, (whole, name: string, scheme: string | undefined, value: string) => {
      return MASK.startsWith(value) ? whole : `${name}${scheme ?? ""}${MASK}`;
    })
    .replace(
      BARE,
      (whole, word: string, space: string, value: string) =>
        /\d/.test(value) ? `${word}${space}${MASK}` : whole,
    );
}

/** Whether a base64 text is a user and a password, as basic authentication has it, and not an ordinary word. */
function isCredential(value: string): boolean {
  try {
    return atob(value).includes(":");
  } catch {
    return false;
  }
}

/**
 * Masks what looks like a secret in a text that must stay whole: what a person approves, or what is recorded.
 *
 * @param text The text.
 * @returns The text with `[REDACTED]` in place of secrets; cut only beyond 16 Mi characters.
 */
export function redactWhole(text: string): string {
  return redact(text, { maxLength: MAX_WHOLE_REDACT_LENGTH });
}

/** Names of members that hold secrets, in lower case and without separators. A bare `key` is mostly one of a map. */
const TELLING =
  /(?:(?:api|access|secret|private|signing|encryption)key|secret|passw(?:or)?d|passphrase|pwd|credential)s?$|token$|^auth$|authorization$|cookie$/;
/** Names of this end are as often those of counts. */
const COUNT = /token$/;

/**
 * Masks secrets in data: what looks like one in any text, and texts and numbers in members that are named as secrets, such
 * as `password` or `x-api-key`, whatever they look like.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const data = { user: "ada", password: "hunter2", note: "sk-abc12345" };
 * assertEquals(
 *   JSON.stringify(redactData(data)),
 *   '{"user":"ada","password":"[REDACTED]","note":"[REDACTED]"}',
 * );
 * ```
 *
 * @param value The data.
 * @param mask Masks secrets in a text, default {@linkcode redactWhole}.
 * @returns A copy; its objects have no prototype.
 */
export function redactData(
  value: JsonValue,
  mask: (text: string) => string = redactWhole,
): JsonValue {
  return redactMember("", value, mask);
}

function redactMember(name: string, value: JsonValue, mask: (text: string) => string): JsonValue {
  if (typeof value === "string") return isTelling(name) && value !== "" ? MASK : mask(value);
  if (typeof value === "number") return isTelling(name) && !isCount(name) ? MASK : value;
  if (Array.isArray(value)) return value.map((item) => redactMember(name, item, mask));
  if (!isJsonObject(value)) return value;
  const copy: Record<string, JsonValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = redactMember(key, item, mask);
  return copy;
}

function isTelling(name: string): boolean {
  return TELLING.test(lettersOf(name));
}

function isCount(name: string): boolean {
  return COUNT.test(lettersOf(name));
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, "");
}

/**
 * Makes a redactor that knows secrets by their value as well: as they are, URL-encoded, within JSON, and in base64 at any
 * offset.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const mask = createRedactor({ secrets: ["correct-horse"] });
 * assertEquals(mask("login correct-horse with sk-abc12345"), "login [REDACTED] with [REDACTED]");
 * ```
 *
 * @param options `secrets`: the values; those of fewer than 8 characters are not masked by value.
 * @returns The redactor.
 */
export function createRedactor(options: { readonly secrets?: readonly string[] } = {}): Redactor {
  const forms = new Set<string>();
  for (const secret of options.secrets ?? []) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (const form of formsOf(secret)) forms.add(form);
  }
  const longestFirst = [...forms].sort((left, right) => right.length - left.length);
  return (text, { maxLength = MAX_REDACT_LENGTH } = {}) => {
    let masked = cutText(text, maxLength);
    for (const form of longestFirst) masked = masked.replaceAll(form, MASK);
    return redact(masked, { maxLength });
  };
}

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...base64Forms(secret),
  ].filter((form) => form.length >= MIN_SECRET_LENGTH);
}

const BASE64_GROUP = 3;

/** What a secret looks like within base64, at each of the three places it can fall on; the unsure ends left out. */
function base64Forms(secret: string): readonly string[] {
  const bytes = new TextEncoder().encode(secret);
  const forms: string[] = [];
  for (let offset = 0; offset < BASE64_GROUP; offset += 1) {
    const whole = new Uint8Array(offset + bytes.length);
    whole.set(bytes, offset);
    const text = btoa(String.fromCharCode(...whole)).replace(/=+$/, "");
    const first = offset === 0 ? 0 : offset + 1;
    const last = whole.length % BASE64_GROUP === 0 ? text.length : text.length - 1;
    const form = text.slice(first, last);
    forms.push(form, form.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}
