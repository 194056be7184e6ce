import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import { parseOutput } from "../../src/machine/parse_output.ts";
import { plain } from "./support/running.ts";

const readable: [what: string, text: string, value: JsonValue][] = [
  ["a plain value", ' {"a": [1]} ', { a: [1] }],
  ["a scalar", '"x"', "x"],
  ["a fenced value", '```json\n{"a": 1}\n```', { a: 1 }],
  ["a fence on one line without an info word", "```[1]```", [1]],
  ["a longer fence", "`````json\n[1]\n`````", [1]],
  ["the last of repeated keys", '{"a": 1, "a": 2}', { a: 2 }],
  ["a fraction", "0.1", 0.1],
  ["the largest exact integer", "9007199254740991", 9007199254740991],
];
for (const [what, text, value] of readable) {
  Deno.test(`parseOutput() reads ${what}`, () => {
    assertEquals(plain(parseOutput(text, "json")), value);
  });
}

const unreadable: [what: string, text: string, detail: string][] = [
  ["prose before a fence", "Here:\n```json\n[1]\n```", "it is 'Here: ```json [1] ```'"],
  ["text behind a fence", "```json\n[1]\n```\nDone.", "it is '[1] ``` Done.'"],
  ["a payload on the line of the fence", "```[1]\n[2\n```", "it is '[2'"],
  ["nothing", "", "it is empty"],
  ["NaN", "[NaN]", "it is '[NaN]'"],
  ["an integer that cannot be kept", "[12345678901234567890]", "cannot be kept exactly"],
  ["a number beyond all bounds", "1e400", "cannot be kept exactly"],
  ["nesting over 256 levels", "[".repeat(300) + "]".repeat(300), "256 levels"],
  ["a million brackets", "[".repeat(1_000_000), "it starts"],
];
for (const [what, text, detail] of unreadable) {
  Deno.test(`parseOutput() refuses ${what}`, () => {
    const error = assertThrows(() => parseOutput(text, "json"), Error);
    assert(error.message.startsWith("parse-json: output is not valid JSON ("));
    assert(error.message.includes(detail), error.message);
  });
}

Deno.test("parseOutput() names the JSON type where a list was wanted", () => {
  for (
    const [text, type] of [["{}", "object"], ["null", "null"], ["1", "number"], ['"a"', "string"], [
      "true",
      "boolean",
    ]]
  ) {
    const error = assertThrows(() => parseOutput(text ?? "", "list"), Error);
    assertEquals(error.message, `parse-list: output is JSON but not an array (got ${type})`);
  }
});

Deno.test("parseOutput() makes objects without a prototype, so that no key is special", () => {
  const value = parseOutput('{"__proto__": {"x": 1}}', "json");
  assertEquals(Object.getPrototypeOf(value), null);
  assertEquals(Object.keys(value ?? {}), ["__proto__"]);
  assertFalse(Object.hasOwn(Object.prototype, "x"));
});
