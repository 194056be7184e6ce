/**
 * What the packages of jsr.io are relied on for. Runs against whatever `vendor/` holds, so that a stand-in that behaves
 * differently from the real package fails on one of two networks.
 */
import {
  assert,
  assertEquals,
  AssertionError,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { parse } from "@std/jsonc";
import { TextLineStream } from "@std/streams/text-line-stream";

async function lines(chunks: string[], options = {}): Promise<string[]> {
  const found: string[] = [];
  const stream = ReadableStream.from(chunks).pipeThrough(new TextLineStream(options));
  for await (const line of stream) found.push(line);
  return found;
}

const split: [what: string, chunks: string[], expected: string[]][] = [
  ["at line feeds", ["a\nb\n"], ["a", "b"]],
  ["at carriage return and line feed", ["a\r\nb\r\n"], ["a", "b"]],
  ["across chunks", ["a", "b\n", "c", "\n"], ["ab", "c"]],
  ["a pair that two chunks share", ["a\r", "\nb\n"], ["a", "b"]],
  ["and keeps a lone carriage return", ["a\rb\n"], ["a\rb"]],
  ["and keeps empty lines", ["\n\na\n"], ["", "", "a"]],
  ["and gives an unfinished last line", ["a\nb"], ["a", "b"]],
  ["and gives nothing for nothing", [], []],
];
for (const [what, chunks, expected] of split) {
  Deno.test(`TextLineStream splits ${what}`, async () => {
    assertEquals(await lines(chunks), expected);
  });
}

Deno.test("TextLineStream with allowCR splits at a lone carriage return too", async () => {
  assertEquals(await lines(["a\rb\r\nc"], { allowCR: true }), ["a", "b", "c"]);
});

const jsonc: [text: string, value: unknown][] = [
  ['{"a": 1, // comment\n "b": [1, 2,], /* more */ }', { a: 1, b: [1, 2] }],
  ['"// no comment"', "// no comment"],
  ["null", null],
  ['{"a": [1, // one\n 2, /* two */ ], } // end', { a: [1, 2] }],
  ['["a,]", "b\\"/*x*/", "c//",]', ["a,]", 'b"/*x*/', "c//"]],
  ["[-1.5e3, true]", [-1500, true]],
];
for (const [text, value] of jsonc) {
  Deno.test(`parse() of JSONC reads ${JSON.stringify(text)}`, () => {
    assertEquals(parse(text) as unknown, value);
  });
}
for (
  const text of ["{", "[1 2]", "{a: 1}", "", "nul", "[1,,]", "[,]", '{"a": 1 /* open', "[1] 2"]
) {
  Deno.test(`parse() of JSONC refuses ${JSON.stringify(text)} with a SyntaxError`, () => {
    assertThrows(() => parse(text), SyntaxError);
  });
}

const unequal: [what: string, left: unknown, right: unknown][] = [
  ["a missing member and an undefined one", { a: 1 }, { a: 1, b: undefined }],
  ["1 and its text", 1, "1"],
  ["lists in another order", [1, 2], [2, 1]],
  ["null and undefined", null, undefined],
];
for (const [what, left, right] of unequal) {
  Deno.test(`assertEquals() tells ${what} apart`, () => {
    assertThrows(() => assertEquals(left, right), AssertionError);
    assertNotEquals(left, right);
  });
}

Deno.test("assertEquals() takes an object without prototype for an ordinary one", () => {
  assertEquals(Object.assign(Object.create(null), { a: [1] }), { a: [1] });
});

Deno.test("assertEquals() compares maps, sets, dates and NaN by value", () => {
  assertEquals(new Map([["a", new Set([1])]]), new Map([["a", new Set([1])]]));
  assertEquals([new Date(0), NaN], [new Date(0), NaN]);
});

Deno.test("assertThrows() gives the error, and fails for another class or none", () => {
  const error = assertThrows(() => {
    throw new RangeError("no");
  }, RangeError);
  assertStrictEquals(error.message, "no");
  assertThrows(() => assertThrows(() => {}), AssertionError);
  assertThrows(() =>
    assertThrows(() => {
      throw new TypeError("no");
    }, RangeError), AssertionError);
});

Deno.test("assertRejects() fails where the promise is kept", async () => {
  await assertRejects(() => assertRejects(() => Promise.resolve(1)), AssertionError);
});

Deno.test("assert() and assertStringIncludes() fail with an AssertionError", () => {
  assertThrows(() => assert(0), AssertionError);
  assertThrows(() => assertStringIncludes("abc", "x"), AssertionError);
});
