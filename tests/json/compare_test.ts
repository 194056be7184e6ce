import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { cloneJson, deepEqual, deepFreeze } from "../../src/json/compare.ts";
import { parseJson } from "../../src/json/reader.ts";

type Value = Parameters<typeof deepEqual>[0];

const equal: [what: string, left: Value, right: Value][] = [
  ["keys in another order", { a: 1, b: 2 }, { b: 2, a: 1 }],
  ["objects with and without a prototype", { a: [1] }, parseJson('{"a": [1]}')],
  ["1 and 1.0", 1, parseJson("1.0")],
];
for (const [what, left, right] of equal) {
  Deno.test(`deepEqual() finds equal: ${what}`, () => assert(deepEqual(left, right)));
}

const different: [what: string, left: Value, right: Value][] = [
  ["items in another order", [1, 2], [2, 1]],
  ["a list and an object of its items", ["a"], { 0: "a" }],
  ["null and an empty object", null, {}],
  ["a number and its text", 1, "1"],
  ["a member more", { a: 1 }, { a: 1, b: 2 }],
  ["an inherited member", parseJson('{"toString": null}'), { other: null }],
];
for (const [what, left, right] of different) {
  Deno.test(`deepEqual() tells apart: ${what}`, () => assertFalse(deepEqual(left, right)));
}

Deno.test("cloneJson() shares nothing with the original", () => {
  const original = { a: [{ b: 1 }] };
  const copy = cloneJson(original);
  assertEquals(copy, original);
  assertFalse(copy.a === original.a);
  assertEquals(Object.getPrototypeOf(copy), null);
});

Deno.test("deepFreeze() freezes what is within", () => {
  const value = deepFreeze({ a: [{ b: 1 }] });
  assertThrows(() => Object.assign(value.a[0] ?? {}, { b: 2 }), TypeError);
});
