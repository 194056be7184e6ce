import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { ConfigError } from "../../src/llm/mod.ts";
import {
  checkHeaders,
  cleanKey,
  endpointRedactor,
  endpointUrl,
  showUrl,
} from "../../src/providers/endpoint.ts";

const PATH = "/chat/completions";

const urls: [what: string, baseUrl: string, url: string][] = [
  ["a plain base", "http://h:1/v1", "http://h:1/v1/chat/completions"],
  ["slashes at the end", "http://h:1/v1//", "http://h:1/v1/chat/completions"],
  ["no path", "http://h:1", "http://h:1/chat/completions"],
  ["the whole address", "http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"],
  ["white space around", " http://h:1/v1 \n", "http://h:1/v1/chat/completions"],
  ["a query in the base", "https://h/v1?version=2", "https://h/v1/chat/completions?version=2"],
  ["letters in another case", "HTTP://H/v1", "http://h/v1/chat/completions"],
];
for (const [what, baseUrl, url] of urls) {
  Deno.test(`W11 endpointUrl() takes ${what}`, () => {
    assertEquals(endpointUrl({ baseUrl, path: PATH }).href, url);
  });
}

Deno.test("endpointUrl() adds query parameters, encoded", () => {
  const query = { "api-version": "2026-01", "x": "a b" };
  assertEquals(
    endpointUrl({ baseUrl: "https://h/v1?k=1", path: PATH, query }).search,
    "?k=1&api-version=2026-01&x=a+b",
  );
});

const refused: [what: string, baseUrl: string, says: string][] = [
  ["nothing", "", "is empty"],
  ["no scheme", "h:1/v1", 'does not begin with "http://"'],
  ["another scheme", "ftp://h/v1", 'does not begin with "http://"'],
  ["a scheme alone", "http://", "is not a URL"],
  ["a user", "https://me:hunter22@h/v1", "has a user or a password"],
  ["a fragment", "https://h/v1#x", "has a fragment"],
];
for (const [what, baseUrl, says] of refused) {
  Deno.test(`W11 endpointUrl() refuses ${what}`, () => {
    const error = assertThrows(() => endpointUrl({ baseUrl, path: PATH }), ConfigError, says);
    assertFalse(error.message.includes("hunter22"));
  });
}

Deno.test("endpointUrl() shows no query of a base that it refuses", () => {
  const baseUrl = "h:1/v1?key=abcdefgh";
  const error = assertThrows(() => endpointUrl({ baseUrl, path: PATH }), ConfigError);
  assertFalse(error.message.includes("abcdefgh"));
});

Deno.test("showUrl() shows scheme, host and path alone", () => {
  assertEquals(showUrl(new URL("https://me:pw@h/v1?k=1#f")), "https://h/v1");
});

Deno.test("cleanKey() trims, and takes blanks for no key", () => {
  assertEquals([" sk-1 \n", "  ", "", undefined].map(cleanKey), [
    "sk-1",
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("cleanKey() refuses what no header may have, without showing it", () => {
  for (const key of ["sk 12345", "sk-\u00e9tude", "sk-1\n2"]) {
    assertFalse(assertThrows(() => cleanKey(key), ConfigError).message.includes(key));
  }
});

Deno.test("checkHeaders() refuses names and values that HTTP does not allow", () => {
  assertThrows(() => checkHeaders({ "a b": "1" }), ConfigError);
  assertThrows(() => checkHeaders({ a: "1\r\nx: 2" }), ConfigError);
  checkHeaders({ "x-a": "caf\u00e9 1" });
});

Deno.test("endpointRedactor() masks the key, and headers and parameters named like secrets", () => {
  const mask = endpointRedactor({
    apiKey: "the-key-12345",
    headers: { "api-key": "header-secret", "accept": "application/json" },
    url: new URL("https://h/?sig_token=query-secret&version=2026-01-01"),
  });
  const text = mask("the-key-12345 header-secret query-secret application/json 2026-01-01");
  assertEquals(text, "[REDACTED] [REDACTED] [REDACTED] application/json 2026-01-01");
  assert(text.includes("application/json"));
});
