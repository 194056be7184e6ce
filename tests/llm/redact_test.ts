// deno-lint-ignore-file camelcase -- names of secrets
import { assert, assertEquals, assertFalse, assertLess } from "@std/assert";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { createRedactor, redact, redactData } from "../../src/llm/redact.ts";

/** A hundred times what linear work takes here, and less than quadratic work would. */
const LINEAR_MS = 2000;

const masked: [what: string, text: string, expected: string][] = [
  ["an OpenAI key", "key sk-proj-abc123DEF rest", "key [REDACTED] rest"],
  ["a GitHub token", "ghp_abcd1234", "[REDACTED]"],
  ["a fine-grained GitHub token", "github_pat_11ABC_def", "[REDACTED]"],
  ["a GitLab token", "glpat-abcd_1234", "[REDACTED]"],
  ["a Hugging Face token", "hf_abcdefgh", "[REDACTED]"],
  ["an xAI key", "xai-abcdefgh", "[REDACTED]"],
  ["a Groq key", "gsk_abcdef", "[REDACTED]"],
  ["a Google key", "AIzaSyABCDEFG-h", "[REDACTED]"],
  ["a Slack token", "xoxb-1234567890", "[REDACTED]"],
  ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", "[REDACTED]"],
  ["a JWT", "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl!", "[REDACTED]!"],
  ["a bearer token", "Authorization: Bearer abc.def", "Authorization: Bearer [REDACTED]"],
  ["basic authentication", "Basic dXNlcjpwYXNz", "Basic [REDACTED]"],
  ["a password in a URL", "https://me:pa55@host/x", "https://[REDACTED]@host/x"],
  ["a member of JSON", '{"api_key": "abcd1234"}', '{"api_key": "[REDACTED]"}'],
  ["YAML", "api_key: abcd1234", "api_key: [REDACTED]"],
  ["a header", "x-api-key: abcd1234", "x-api-key: [REDACTED]"],
  ["a query parameter", "?token=abcd1234&x=1", "?token=[REDACTED]&x=1"],
  ["a password", "password=hunter22", "password=[REDACTED]"],
  ["a bare token with digits", "the token abc12345 is wrong", "the token [REDACTED] is wrong"],
  [
    "a private key",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx",
    "[REDACTED]\nx",
  ],
  ["a private key that is cut off", "-----BEGIN PRIVATE KEY-----\nMIIE", "[REDACTED]"],
];
for (const [what, text, expected] of masked) {
  Deno.test(`W15 redact() masks ${what}`, () => assertEquals(redact(text), expected));
}

const innocent = [
  "the token bucket algorithm",
  "a secret garden",
  "max_tokens must be <= 5000",
  "prompt_tokens 12, total 15",
  "ask-me-anything",
  "a monkey in the tree",
  "basic idea",
];
for (const text of innocent) {
  Deno.test(`W15 redact() leaves "${text}"`, () => assertEquals(redact(text), text));
}

const SECRET = 'pa/ss+w"rd~12';

Deno.test("W15 createRedactor() masks a secret as it is, in a URL, in JSON and in base64", () => {
  const mask = createRedactor({ secrets: [SECRET] });
  assertEquals(mask(`x ${SECRET} y`), "x [REDACTED] y");
  assertEquals(mask(`?k=${encodeURIComponent(SECRET)}&z`), "?k=[REDACTED]&z");
  assertEquals(mask(JSON.stringify({ k: SECRET })), '{"k":"[REDACTED]"}');
  for (const prefix of ["", "u", "us"]) {
    assert(mask(btoa(`${prefix}${SECRET}!`)).includes("[REDACTED]"), prefix);
  }
});

Deno.test("createRedactor() masks by value from eight characters on", () => {
  assertEquals(createRedactor({ secrets: ["1234567"] })("a 1234567 b"), "a 1234567 b");
  assertEquals(createRedactor({ secrets: ["12345678"] })("a 12345678 b"), "a [REDACTED] b");
});

Deno.test("redact() cuts a text to 65536 characters", () => {
  assertEquals(redact("é".repeat(70_000)).length, 65_537);
});

Deno.test("createRedactor() never lets a secret of eight or more characters through", () => {
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: "grapheme-ascii" })
    .filter((text) => !"[REDACTED]".includes(text));
  fc.assert(fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
    assertFalse(
      createRedactor({ secrets: [hidden] })(`${before}${hidden}${after}`).includes(hidden),
    );
  }));
});

const hostile: [what: string, text: string][] = [
  ["dashes", "-----BEGIN ".repeat(6000)],
  ["names", "api_key".repeat(9000)],
  ["schemes", "Bearer ".repeat(9000)],
  ["slashes", "a://".repeat(16_000)],
  ["dots", "eyJaaaaaa.".repeat(6500)],
  ["spaces", `token${" ".repeat(60_000)}`],
  ["letters", "a".repeat(65_000)],
];
for (const [what, text] of hostile) {
  Deno.test(`redact() is done with 64 KiB of ${what} in linear time`, () => {
    const started = performance.now();
    redact(text);
    assertLess(performance.now() - started, LINEAR_MS);
  });
}

const secret: [what: string, name: string, value: JsonValue, expected: JsonValue][] = [
  ["a password", "password", "hunter2", "[REDACTED]"],
  ["a number for a password", "dbPassword", 12345678, "[REDACTED]"],
  ["an API key", "api_key", "abcd", "[REDACTED]"],
  ["a header's key", "X-Api-Key", "abcd", "[REDACTED]"],
  ["a client's secret", "clientSecret", "abcd", "[REDACTED]"],
  ["a list of secrets", "secrets", ["abcd", "efgh"], ["[REDACTED]", "[REDACTED]"]],
  ["an access token", "accessToken", "abcd", "[REDACTED]"],
  ["a header's credentials", "Authorization", "Digest abcd", "[REDACTED]"],
  ["a cookie", "set-cookie", "id=1", "[REDACTED]"],
];
for (const [what, name, value, expected] of secret) {
  Deno.test(`redactData() masks ${what} by its name`, () => {
    assertEquals(
      JSON.stringify(redactData({ in: [{ [name]: value }] })),
      JSON.stringify({
        in: [{ [name]: expected }],
      }),
    );
  });
}

Deno.test("redactData() masks texts anywhere, and leaves what only sounds like a secret", () => {
  const innocent: JsonObject = {
    key: "users/42",
    max_tokens: 5,
    token: 7,
    costPerToken: 0.002,
    maxToken: 5,
    COST_PER_TOKEN: 0,
    "price-token-2": [1, 2],
    hasToken: true,
    noToken: false,
    cookie: false,
    tokens: ["a", "b"],
    password: null,
    hasPassword: true,
    secretary: "Ada",
    publicKey: "abcd",
    properties: { password: { type: "string" } },
    empty: { secret: "" },
  };
  assertEquals(JSON.stringify(redactData(innocent)), JSON.stringify(innocent));
  assertEquals(redactData(["mail sk-0123456789abcdef"]), ["mail [REDACTED]"]);
  assertEquals(redactData("x", (text) => text + text), "xx");
});

Deno.test("createRedactor() looks at as much of a text as it is told to", () => {
  const mask = createRedactor({ secrets: ["correct-horse"] });
  const text = " ".repeat(70_000) + "correct-horse";
  assertFalse(mask(text).includes("[REDACTED]"));
  assertEquals(mask(text, { maxLength: 80_000 }).trim(), "[REDACTED]");
});
