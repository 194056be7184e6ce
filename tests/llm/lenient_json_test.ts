import { assertEquals, assertThrows } from "@std/assert";
import { JsonError } from "../../src/json/mod.ts";
import { readLenientJsonAt } from "../../src/llm/lenient_json.ts";

const read: [what: string, text: string, json: string][] = [
  ["strict JSON as it is", '{"a": [1, "b\\u0041"]}', '{"a":[1,"bA"]}'],
  ["a comma before a bracket", "[1,]", "[1]"],
  ["single quotes around double ones", "'say \"hi\"'", '"say \\"hi\\""'],
  ["Python's words", "[True, False, None]", "[true,false,null]"],
  ["tabs and line breaks in texts", '"a\tb\nc"', '"a\\tb\\nc"'],
  ["a comment at the end", "[1 // one\n]", "[1]"],
];
for (const [what, text, json] of read) {
  Deno.test(`readLenientJsonAt() reads ${what}`, () => {
    assertEquals(JSON.stringify(readLenientJsonAt(text, 0).value), json);
  });
}

const refused: [what: string, text: string, fault: string][] = [
  ["keys without quotes", "{a: 1}", "syntax"],
  ["a word it does not know", "[undefined]", "syntax"],
  ["two commas", "[1,,2]", "syntax"],
  ["a missing comma", '{"a": 1 "b": 2}', "syntax"],
  ["an object that is not closed", '{"a": 1', "truncated"],
  ["a comment that is not closed", "[1 /* ", "truncated"],
  ["Infinity", "[-Infinity]", "invalid_number"],
  ["an integer that loses digits", "[9007199254740993]", "unsafe_integer"],
  ["an escape it does not know", '"\\x41 and more"', "syntax"],
  ["129 levels", "[".repeat(129), "too_deep"],
];
for (const [what, text, fault] of refused) {
  Deno.test(`readLenientJsonAt() refuses ${what} as ${fault}`, () => {
    assertEquals(assertThrows(() => readLenientJsonAt(text, 0), JsonError).fault, fault);
  });
}
