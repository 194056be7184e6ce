import { assertEquals } from "@std/assert";
import { compareCodePoints } from "../../src/machine/compare.ts";

Deno.test("compareCodePoints() sorts by code points where UTF-16 units would sort otherwise", () => {
  const sorted = ["b", "a", "B", "", "ab", "é", "\uffff", "😀"].sort(compareCodePoints);
  assertEquals(sorted, ["", "B", "a", "ab", "b", "é", "\uffff", "😀"]);
  assertEquals(["\uffff", "😀"].sort(), ["😀", "\uffff"]);
});

Deno.test("compareCodePoints() finds equal texts equal", () => {
  assertEquals(compareCodePoints("a😀", "a😀"), 0);
});
