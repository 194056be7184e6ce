import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonValue } from "../../src/json/mod.ts";
import {
  clip,
  countChars,
  firstChars,
  formatValue,
  jsonEnd,
  jsonStart,
  jsonText,
  lastChars,
} from "../../src/machine/format.ts";

const formatted: [what: string, value: JsonValue, text: string][] = [
  ["null as nothing", null, ""],
  ["a text as it is", "a\nb", "a\nb"],
  ["a list as numbered lines", ["x", "y"], "1. x\n2. y"],
  ["an empty list as nothing", [], ""],
  ["a null element as a number and a space", ["x", null], "1. x\n2. "],
  ["a nested list without indentation", [["a", "b"]], "1. 1. a\n2. b"],
  ["a mapping as spaced JSON", { a: 1, b: true }, '{"a": 1, "b": true}'],
  ["an empty mapping", {}, "{}"],
  ["non-ASCII characters as they are", { é: "ü" }, '{"é": "ü"}'],
  ["false and zero as values", [false, 0], "1. false\n2. 0"],
  ["a mapping within a list as JSON", [{ k: [1, 2] }], '1. {"k": [1, 2]}'],
];
for (const [what, value, text] of formatted) {
  Deno.test(`formatValue() writes ${what}`, () => assertEquals(formatValue(value), text));
}

Deno.test("formatValue() keeps 20000 characters and cuts 20001 to 20000 with the marker inside", () => {
  assertEquals(formatValue("x".repeat(20_000)), "x".repeat(20_000));
  const cut = formatValue("x".repeat(20_001));
  assertEquals(cut.length, 20_000);
  assertEquals(cut, `${"x".repeat(19_988)}…[truncated]`);
});

Deno.test("formatValue() counts and cuts code points, never half a surrogate pair", () => {
  assertEquals(formatValue("🙂".repeat(20_000)), "🙂".repeat(20_000));
  const cut = formatValue("🙂".repeat(20_001));
  assertEquals(countChars(cut), 20_000);
  assertEquals(cut, `${"🙂".repeat(19_988)}…[truncated]`);
});

Deno.test("formatValue() with 0 has no limit", () => {
  assertEquals(formatValue("x".repeat(30_000), 0).length, 30_000);
});

Deno.test("clip() gives the start of the marker where nothing else fits", () => {
  assertEquals(clip("abcdefghijklmnop", 5), "…[tru");
  assertEquals(clip("abcdefghijklmnop", 12), "…[truncated]");
  assertEquals(clip("abcdefghijklmnop", 13), "a…[truncated]");
});

Deno.test("firstChars() and lastChars() count code points from their end", () => {
  assertEquals(firstChars("a🙂b🙂c", 2), "a🙂");
  assertEquals(lastChars("a🙂b🙂c", 2), "🙂c");
  assertEquals(firstChars("ab", 5), "ab");
  assertEquals(lastChars("🙂", 0), "");
});

Deno.test("countChars() counts a lone surrogate as one", () => {
  assertEquals(countChars("\ud83d🙂\ude42"), 3);
});

Deno.test("jsonText() escapes as JSON does and keeps the order of members", () => {
  assertEquals(jsonText({ z: 'q"\n', a: [null, 1.5] }), '{"z": "q\\"\\n", "a": [null, 1.5]}');
});

Deno.test("formatValue() cuts a long list where it would cut the whole text", () => {
  const list = Array.from({ length: 50_000 }, (_, i) => `🙂${i}`);
  assertEquals(formatValue(list), clip(formatValue(list, 0), 20_000));
});

Deno.test("jsonStart() and jsonEnd() write the ends of any JSON text, or all of it", () => {
  let whole = 0;
  let cut = 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(60), (made, enough) => {
      const value: JsonValue = JSON.parse(JSON.stringify(made));
      const text = jsonText(value);
      const start = jsonStart(value, enough);
      const end = jsonEnd(value, enough);
      if (text.length <= enough) {
        whole++;
        assertEquals([start, end], [text, text]);
      } else {
        cut++;
        assert(start.length > enough && end.length > enough, `${start.length} and ${end.length}`);
        assertEquals(start.slice(0, enough), text.slice(0, enough));
        assertEquals(end.slice(end.length - enough), text.slice(text.length - enough));
      }
    }),
    { seed: 5, numRuns: 5000 },
  );
  assert(whole > 500 && cut > 500, `${whole} whole, ${cut} cut`);
});

Deno.test("jsonStart() and jsonEnd() take the time of what they write", () => {
  let value: JsonValue = "x".repeat(1000);
  // Written out it would have more characters than any text can have.
  for (let i = 0; i < 60; i++) value = { first: value, last: value };
  const start = jsonStart(value, 500);
  const end = jsonEnd(value, 500);
  assertEquals([start.slice(0, 10), start.length], ['{"first": ', 501]);
  assertEquals([end.slice(-3), end.length], ["}}}", 501]);
});
