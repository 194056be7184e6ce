import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { delimit, truncateText } from "../../src/patterns/text_limits.ts";
import { SeededRandom } from "../../src/testing/mod.ts";

const rows: [text: string, limit: number, expected: string, truncated: boolean][] = [
  ["short", 5, "short", false],
  ["longer than that", 14, "lo\n[truncated]", true],
  ["longer than that", 12, "longer than ", true],
  ["a\u{1f600}b", 2, "a", true],
  ["a\u{1f600}bcdefghijklmnopq", 14, "a\n[truncated]", true],
];
for (const [text, limit, expected, truncated] of rows) {
  Deno.test(`truncateText() cuts ${JSON.stringify(text)} to ${limit}`, () => {
    assertEquals(truncateText(text, limit), { text: expected, truncated });
  });
}

Deno.test("truncateText() never passes its limit and never leaves half a character", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat({ max: 40 }), (text, limit) => {
    const cut = truncateText(text, limit);
    assert(
      cut.text.length <= Math.max(limit, 0) && cut.text.isWellFormed() === text.isWellFormed(),
    );
    assertEquals(cut.truncated, text.length > limit);
  }));
});

Deno.test("W24 delimit() lets nothing in a text close it, for any text", () => {
  const parts = fc.constantFrom("<", "/", "candidate", "CANDIDATE", " ", "-", ">", "\n", "x");
  fc.assert(fc.property(fc.array(parts), fc.nat(), (pieces, seed) => {
    const text = pieces.join("");
    const shown = delimit("candidate", text, new SeededRandom(seed));
    const tag = /^<(candidate-[0-9a-f]{12})>\n/.exec(shown)?.[1] ?? "none";
    const inner = shown.slice(`<${tag}>\n`.length, -`\n</${tag}>`.length);
    assert(shown.endsWith(`\n</${tag}>`));
    assert(!/<\s?\/?\s?candidate/i.test(inner), inner);
  }));
});

Deno.test("delimit() chooses another tag each time", () => {
  const random = new SeededRandom();
  const tags = Array.from({ length: 3 }, () => delimit("item", "a", random));
  assert(new Set(tags).size === 3);
});
