import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import { createRedactor, type KitErrorCode } from "../../src/llm/mod.ts";
import { errorInBody, refusalError } from "../../src/providers/status_error.ts";

const KNOWN = { url: "http://h/v1", redact: createRedactor() };

const statuses: [status: number, code: KitErrorCode, retryable: boolean][] = [
  [400, "bad_request", false],
  [401, "auth", false],
  [402, "quota", false],
  [403, "auth", false],
  [404, "not_found", false],
  [405, "bad_request", false],
  [408, "timeout", true],
  [409, "server", true],
  [410, "not_found", false],
  [413, "too_large", false],
  [414, "bad_request", false],
  [415, "bad_request", false],
  [422, "unprocessable", false],
  [425, "server", true],
  [426, "bad_request", false],
  [429, "rate_limit", true],
  [451, "bad_request", false],
  [500, "server", true],
  [501, "bad_request", false],
  [502, "server", true],
  [503, "server", true],
  [504, "server", true],
  [505, "bad_request", false],
  [520, "server", true],
  [524, "server", true],
  [529, "overloaded", true],
];
for (const [status, code, retryable] of statuses) {
  Deno.test(`W14 refusalError() of status ${status} is ${code}, retryable ${retryable}`, () => {
    const error = refusalError({ ...KNOWN, status, body: { error: { message: "x", code: null } } });
    assertEquals([error.code, error.retryable, error.details["status"]], [code, retryable, status]);
  });
}

const words: [what: string, status: number, error: JsonValue, code: KitErrorCode][] = [
  ["an exhausted quota", 429, { code: "insufficient_quota", message: "x" }, "quota"],
  ["a billing problem", 429, { type: "billing_hard_limit_reached" }, "quota"],
  ["a filter", 400, { code: "content_filter" }, "content_filter"],
  [
    "a policy within",
    400,
    { innererror: { code: "ResponsibleAIPolicyViolation" } },
    "content_filter",
  ],
  ["an overloaded server", 503, { type: "overloaded_error" }, "overloaded"],
  [
    "numbers and words in its text",
    400,
    { message: "timeout of overloaded network 429" },
    "bad_request",
  ],
];
for (const [what, status, error, code] of words) {
  Deno.test(`refusalError() knows ${what} by its words, not by its text`, () => {
    assertEquals(refusalError({ ...KNOWN, status, body: { error } }).code, code);
  });
}

const bodies: [what: string, body: JsonValue, text: string][] = [
  ["a message", { error: { message: "No such model" } }, '"No such model"'],
  ["a text", { error: "No such model" }, '"No such model"'],
  ["a detail", { detail: "No such route" }, '"No such route"'],
  ["plain text", "Bad gateway", '"Bad gateway"'],
];
for (const [what, body, text] of bodies) {
  Deno.test(`refusalError() quotes ${what}`, () => {
    const { message } = refusalError({ ...KNOWN, status: 404, body });
    assertEquals(
      message,
      `The endpoint http://h/v1 answered status 404: ${text}; check the base URL and the model's name`,
    );
  });
}

Deno.test("refusalError() cuts the endpoint's text to 500 characters, and masks it", () => {
  const body = { error: { message: `sk-abcdefgh ${"x".repeat(2000)}` } };
  const { message } = refusalError({ ...KNOWN, status: 400, body });
  assertFalse(message.includes("sk-abcdefgh"));
  assert(message.length < 600);
});

Deno.test("refusalError() keeps what the endpoint says further, in the details", () => {
  const innererror = { "content_filter_result": { sexual: { filtered: true } } };
  const error = refusalError({
    ...KNOWN,
    status: 400,
    body: { error: { code: "content_filter", param: "prompt", innererror } },
    retryAfterMs: 7,
  });
  assertStringIncludes(String(error.details["endpoint"]), "sexual");
  assertEquals([error.details["param"], error.retryAfterMs], ["prompt", 7]);
});

const inBody: [what: string, error: JsonValue, code: KitErrorCode, retryable: boolean][] = [
  ["a status as a number", { code: 502, message: "x" }, "server", true],
  ["a status as a text", { code: "404" }, "not_found", false],
  ["rate_limit_exceeded", { code: "rate_limit_exceeded" }, "rate_limit", true],
  ["overloaded_error", { type: "overloaded_error" }, "overloaded", true],
  ["invalid_request_error", { type: "invalid_request_error" }, "bad_request", false],
  ["authentication_error", { type: "authentication_error" }, "auth", false],
  ["server_error", { type: "server_error" }, "server", true],
  ["a word unheard of", { type: "odd", message: "x" }, "bad_response", true],
];
for (const [what, error, code, retryable] of inBody) {
  Deno.test(`errorInBody() maps ${what} to ${code}`, () => {
    const made = errorInBody({ error }, KNOWN);
    assertEquals([made.code, made.retryable], [code, retryable]);
  });
}
