import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../src/cli/arguments.ts";
import { readSettings } from "../../src/cli/set.ts";

const read: [setting: string, path: string, value: unknown][] = [
  ["n=3", "n", 3],
  ["n=007", "n", "007"],
  ['s="3"', "s", "3"],
  ["s=", "s", ""],
  ["l=[1,2]", "l", [1, 2]],
  ["b=true", "b", true],
  ["z=null", "z", null],
  ["name=Ann Lee", "name", "Ann Lee"],
  ["ticket.body=a=b", "ticket.body", "a=b"],
  [" padded =x", "padded", "x"],
  ['o={"a":{"b":1}}', "o", { a: { b: 1 } }],
  ["t=NaN", "t", "NaN"],
];
for (const [setting, path, value] of read) {
  Deno.test(`readSettings() reads ${setting} as ${JSON.stringify(value)}`, () => {
    assertEquals(readSettings([setting])[path], value);
  });
}

const refused: [setting: string, message: string][] = [
  ["novalue", "invalid --set 'novalue'; expected k.path=value"],
  ["=x", "invalid --set '=x'; the key is blank"],
  ["  =x", "invalid --set '  =x'; the key is blank"],
  [
    "n=9007199254740993",
    "invalid --set 'n': the number cannot be kept exactly; give it as text: n='\"…\"'",
  ],
  ["n=[1e999]", "invalid --set 'n': the number cannot be kept exactly; give it as text: n='\"…\"'"],
];
for (const [setting, message] of refused) {
  Deno.test(`readSettings() refuses ${setting}`, () => {
    assertEquals(assertThrows(() => readSettings([setting]), UsageError).message, message);
  });
}

Deno.test("readSettings() lets the later of two equal paths win", () => {
  assertEquals(readSettings(["a=1", "a=2"])["a"], 2);
});

Deno.test("readSettings() keeps __proto__ as a plain member", () => {
  const inputs = readSettings(['__proto__={"polluted":true}']);
  assert(Object.hasOwn(inputs, "__proto__"));
  assert(!("polluted" in {}));
});
