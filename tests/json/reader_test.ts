import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "fast-check";
import { JsonError, type JsonFault, parseJson, readJsonAt } from "../../src/json/reader.ts";

const values: [what: string, text: string, value: unknown][] = [
  ["an object", '{"a": [1, -2.5e3, true, false, null]}', { a: [1, -2500, true, false, null] }],
  ["white space around", ' \n\t"x"\r\n', "x"],
  ["a byte order mark", "\uFEFF1", 1],
  ["escapes", '"\\u00e9\\n\\"\\\\/"', 'é\n"\\/'],
  ["a backslash before a letter that is escaped", '"\\\\x"', "\\x"],
  ["the largest safe integer", "9007199254740991", 9007199254740991],
  ["a large number that is no integer literal", "1e20", 1e20],
  ["a large integer as numbers are printed", "100000000000000000000", 1e20],
  ["an integer beyond 2^53 that a number holds", "9007199254740994", 9007199254740994],
  ["an empty object and an empty array", '[{}, [ ], ""]', [{}, [], ""]],
];
for (const [what, text, value] of values) {
  Deno.test(`parseJson() reads ${what}`, () => assertEquals<unknown>(parseJson(text), value));
}

const faults: [what: string, text: string, fault: JsonFault][] = [
  ["nothing", "", "truncated"],
  ["an open object", '{"a":', "truncated"],
  ["an open text", '"abc', "truncated"],
  ["a text that ends in a backslash", '"abc\\', "truncated"],
  ["half a word", "tru", "truncated"],
  ["a comma before a bracket", "[1,]", "syntax"],
  ["single quotes", "{'a': 1}", "syntax"],
  ["NaN", "NaN", "syntax"],
  ["a leading zero", "01", "syntax"],
  ["a plus sign", "+1", "syntax"],
  ["a line break within a text", '"a\nb"', "syntax"],
  ["an unknown escape", '"\\x41"', "syntax"],
  ["something after the value", "{} x", "syntax"],
  ["an integer beyond 2^53", "9007199254740993", "unsafe_integer"],
  ["a negative integer beyond 2^53", "[-9007199254740993]", "unsafe_integer"],
  ["a number that overflows", "1e400", "invalid_number"],
  ["129 levels", "[".repeat(129) + "]".repeat(129), "too_deep"],
];
for (const [what, text, fault] of faults) {
  Deno.test(`W37 parseJson() refuses ${what} as ${fault}`, () => {
    assertEquals(assertThrows(() => parseJson(text), JsonError).fault, fault);
  });
}

Deno.test("parseJson() reads 128 levels", () => {
  parseJson("[".repeat(128) + "]".repeat(128));
});

Deno.test("parseJson() makes objects without a prototype, __proto__ being a member", () => {
  const value = parseJson('{"__proto__": {"polluted": true}}');
  assertEquals(Object.getPrototypeOf(value), null);
  assertEquals(JSON.stringify(value), '{"__proto__":{"polluted":true}}');
  assertFalse(Object.hasOwn(Object.prototype, "polluted"));
});

Deno.test("parseJson() keeps the last of two equal keys, or refuses them on request", () => {
  assertEquals<unknown>(parseJson('{"a": 1, "a": 2}'), { a: 2 });
  const error = assertThrows(
    () => parseJson('{"a": 1, "a": 2}', { duplicateKeys: "refuse" }),
    JsonError,
  );
  assertEquals([error.fault, error.position], ["duplicate_key", 9]);
});

Deno.test("readJsonAt() stops after the value, whatever follows", () => {
  assertEquals<unknown>(readJsonAt('x {"a": 1} y', 1), { value: { a: 1 }, end: 10 });
});

Deno.test("JsonError says in characters where it is, and quotes no more than one", () => {
  const error = assertThrows(() => parseJson('{"a" 1}'), JsonError);
  assertEquals(error.message, 'Found "1" where ":" is wanted, at character 6');
});

Deno.test("parseJson() agrees with JSON.parse on whatever JSON.stringify writes", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
    const text = JSON.stringify(value);
    assertEquals(JSON.stringify(parseJson(text)), JSON.stringify(JSON.parse(text)));
  }));
});

Deno.test("parseJson() throws JsonError or reads what JSON.parse reads, for any text", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(..."{}[]\",:-+.0123eE truefalsn\\u\n'"), { maxLength: 30 }).map((
      parts,
    ) => parts.join("")),
  );
  fc.assert(fc.property(texts, (text) => {
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      return error instanceof JsonError;
    }
    return JSON.stringify(value) === JSON.stringify(JSON.parse(text.replace(/^\uFEFF/, "")));
  }));
});
