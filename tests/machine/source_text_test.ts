import { assertEquals } from "@std/assert";
import { SourceText } from "../../src/machine/source_text.ts";

const positions: [what: string, text: string, offset: number, line: number, column: number][] = [
  ["the start", "abc", 0, 1, 1],
  ["the middle of a line", "abc", 2, 1, 3],
  ["the end of the text", "abc", 3, 1, 4],
  ["behind the end", "abc", 99, 1, 4],
  ["before the start", "abc", -5, 1, 1],
  ["the start of a second line", "a\nbc", 2, 2, 1],
  ["the line feed itself", "a\nbc", 1, 1, 2],
  ["a line behind CRLF", "a\r\nbc", 4, 2, 2],
  ["behind a character of two UTF-16 units", "😀b", 2, 1, 2],
  ["behind a byte order mark, which does not count", "\ufeffab", 1, 1, 2],
  ["an empty text", "", 0, 1, 1],
];
for (const [what, text, offset, line, column] of positions) {
  Deno.test(`SourceText.position() finds ${what} at ${line}:${column}`, () => {
    assertEquals(new SourceText(text).position(offset), { line, column });
  });
}

Deno.test("SourceText.position() is the same in any order of asking", () => {
  const text = "a😀b\ncd😀e\n";
  const offsets = Array.from({ length: text.length + 1 }, (_, index) => index);
  const fresh = offsets.map((offset) => new SourceText(text).position(offset));
  const source = new SourceText(text);
  assertEquals(offsets.map((offset) => source.position(offset)), fresh);
  assertEquals(offsets.toReversed().map((offset) => source.position(offset)), fresh.toReversed());
});

Deno.test("SourceText.line() gives a line without LF or CRLF, and nothing beyond the last", () => {
  const source = new SourceText("a\r\nb\nc");
  assertEquals([0, 1, 2, 3, 4].map((line) => source.line(line)), ["", "a", "b", "c", ""]);
});

Deno.test("SourceText.excerpt() cuts a line to 200 code points and ends it with an ellipsis", () => {
  const excerpt = new SourceText("😀".repeat(300)).excerpt(1);
  assertEquals(excerpt, "😀".repeat(199) + "…");
});

Deno.test("SourceText.excerpt() leaves a line of 200 code points alone", () => {
  assertEquals(new SourceText("x".repeat(200) + "\r\ny").excerpt(1), "x".repeat(200));
});

Deno.test("SourceText counts the empty line behind a last line feed", () => {
  assertEquals(new SourceText("a\n").lineCount, 2);
  assertEquals(new SourceText("").lineCount, 1);
});
