import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { canonicalJson, jsonText } from "../../src/json/text.ts";
import { parseJson } from "../../src/json/reader.ts";

const texts: [what: string, value: Parameters<typeof jsonText>[0], text: string][] = [
  [
    "nested values with spaces after commas and colons",
    { a: [1, { b: null }] },
    '{"a": [1, {"b": null}]}',
  ],
  ["empty values without spaces", [{}, []], "[{}, []]"],
  ["letters beyond ASCII as they are", "naïve — 東京", '"naïve — 東京"'],
  ["quotes and line breaks escaped", 'a"b\n', '"a\\"b\\n"'],
  ["a whole number without a fraction", 4 / 2, "2"],
];
for (const [what, value, text] of texts) {
  Deno.test(`jsonText() writes ${what}`, () => assertEquals(jsonText(value), text));
}

Deno.test("jsonText() reads back as the value", () => {
  fc.assert(fc.property(fc.json(), (text) => {
    const value = parseJson(text);
    assertEquals(JSON.stringify(parseJson(jsonText(value))), JSON.stringify(value));
  }));
});

Deno.test("canonicalJson() does not depend on the order of keys", () => {
  assertEquals(canonicalJson({ b: 1, a: [{ d: 2, c: 3 }] }), '{"a":[{"c":3,"d":2}],"b":1}');
  assertEquals(canonicalJson({ a: [{ c: 3, d: 2 }], b: 1 }), '{"a":[{"c":3,"d":2}],"b":1}');
});

Deno.test("canonicalJson() writes -0 as 0", () => assertEquals(canonicalJson([-0]), "[0]"));
