import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import {
  checkExtent,
  copyObject,
  growList,
  isTooDeep,
  measureValue,
  sameValue,
  setPath,
} from "../../src/machine/values.ts";
import { plain } from "./support/running.ts";

const same: [left: JsonValue | undefined, right: JsonValue | undefined, equal: boolean][] = [
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [undefined, null, true],
  [1, true, true],
  [0, false, true],
  ["1", 1, false],
  [[], {}, false],
  [[1, 2], [2, 1], false],
  [null, false, false],
];
for (const [left, right, equal] of same) {
  Deno.test(`sameValue() of ${JSON.stringify(left)} and ${JSON.stringify(right)} is ${equal}`, () => {
    assertEquals(sameValue(left, right), equal);
  });
}

Deno.test("sameValue() compares own members alone", () => {
  const odd: JsonObject = JSON.parse('{"__proto__": 1}');
  assertFalse(sameValue(odd, { toString: 1 }));
  assert(sameValue(odd, JSON.parse('{"__proto__": 1}')));
});

Deno.test("setPath() changes copies along the path alone", () => {
  const object = { a: { b: { c: 1 } }, other: { x: 1 } };
  const changed = setPath(object, "a.b.d", 2);
  assertEquals(plain(changed), { a: { b: { c: 1, d: 2 } }, other: { x: 1 } });
  assertEquals(object, { a: { b: { c: 1 } }, other: { x: 1 } });
  assert(changed.other === object.other);
});

Deno.test("setPath() reaches no prototype", () => {
  const changed = setPath({}, "__proto__.polluted", 1);
  assertEquals(Object.keys(changed), ["__proto__"]);
  assertFalse("polluted" in {});
  setPath({}, "constructor.prototype.polluted", 1);
  assertFalse("polluted" in {});
});

Deno.test("copyObject() shares nothing with its source", () => {
  const source = { a: [{ b: 1 }] };
  const copy = copyObject(source);
  source.a[0] = { b: 2 };
  assertEquals(plain(copy), { a: [{ b: 1 }] });
});

Deno.test("isTooDeep() counts levels of nesting", () => {
  assertFalse(isTooDeep([[[1]]], 3));
  assert(isTooDeep([[[[1]]]], 3));
});

Deno.test("measureValue() counts shared parts each time, in the time of the parts", () => {
  let value: JsonValue = [1];
  for (let i = 0; i < 60; i++) value = [value, value];
  assertEquals(measureValue(value).depth, 61);
  assert(measureValue(value).nodes > 2 ** 60);
  assertThrows(() => checkExtent(value, "it"), RangeError, "it holds over 1000000 values");
});

Deno.test("growList() keeps the measure of a list that grows", () => {
  const list: JsonValue[] = [1];
  growList(list, [2, [3]]);
  assertEquals(measureValue(list), { nodes: 6, depth: 3, chars: 48 });
  assertEquals(list, [1, [2, [3]]]);
});
