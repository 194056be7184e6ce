import { assertEquals, assertThrows } from "@std/assert";
import { formatPointer, parsePointer, readPointer } from "../../src/json/pointer.ts";

const document = { "foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "n": { "01": 2 } };

const found: [pointer: string, value: unknown][] = [
  ["", document],
  ["/foo", ["bar", "baz"]],
  ["/foo/0", "bar"],
  ["/", 0],
  ["/a~1b", 1],
  ["/m~0n", 8],
  ["/n/01", 2],
  ["/foo/2", undefined],
  ["/foo/01", undefined],
  ["/foo/-", undefined],
  ["/toString", undefined],
  ["/foo/0/x", undefined],
];
for (const [pointer, value] of found) {
  Deno.test(`readPointer() finds ${JSON.stringify(value)} at "${pointer}"`, () => {
    assertEquals<unknown>(readPointer(document, pointer), value);
  });
}

Deno.test("parsePointer() refuses a pointer without a slash in front, and a stray tilde", () => {
  assertThrows(() => parsePointer("foo"), SyntaxError);
  assertThrows(() => parsePointer("/a~2"), SyntaxError);
});

Deno.test("formatPointer() writes what parsePointer() reads", () => {
  assertEquals(formatPointer(["a/b", 0, "m~n"]), "/a~1b/0/m~0n");
  assertEquals(parsePointer("/a~1b/0/m~0n"), ["a/b", "0", "m~n"]);
});
