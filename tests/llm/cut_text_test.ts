import { assertEquals } from "@std/assert";
import { cutText } from "../../src/llm/cut_text.ts";

const cuts: [what: string, text: string, max: number, cut: string][] = [
  ["nothing from a short text", "abc", 3, "abc"],
  ["after whole code points", "😀😀😀", 2, "😀😀…"],
  ["nothing where code points are fewer than units", "😀😀", 2, "😀😀"],
  ["everything at 0", "abc", 0, "…"],
];
for (const [what, text, max, cut] of cuts) {
  Deno.test(`cutText() cuts ${what}`, () => assertEquals(cutText(text, max), cut));
}

Deno.test("cutText() appends the mark it is given", () => {
  assertEquals(cutText("abc", 1, { mark: " [cut]" }), "a [cut]");
});
