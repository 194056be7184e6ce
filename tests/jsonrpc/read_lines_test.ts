import { assertEquals } from "@std/assert";
import { LineSplitter } from "../../src/jsonrpc/framing.ts";
import { type InputLine, readLines } from "../../src/jsonrpc/mod.ts";
import { cutLines } from "../../src/jsonrpc/read_lines.ts";
import fc from "fast-check";

async function read(
  chunks: readonly string[],
  maxLineBytes = 1_000,
): Promise<(readonly InputLine[])[]> {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
  const groups: (readonly InputLine[])[] = [];
  for await (const group of readLines(() => Promise.resolve(bytes.shift()), { maxLineBytes })) {
    groups.push(group);
  }
  return groups;
}

const cases: [what: string, chunks: string[], expected: InputLine[][]][] = [
  ["gives one line of one chunk", ["a\n"], [["a"]]],
  ["gives the lines of one chunk together", ["a\nb\n", "c\nd\n"], [["a", "b"], ["c", "d"]]],
  ["drops one carriage return before the line feed", ["a\r\n", "b\r\r\nc\r\n"], [["a"], [
    "b\r",
    "c",
  ]]],
  ["takes a carriage return alone for no end", ["a\rb\n"], [["a\rb"]]],
  ["gives a line whose end is cut between its two characters", ["a\r", "\nb\r\n"], [["a", "b"]]],
  ["keeps empty lines", ["\n", "\n\n"], [[""], ["", ""]]],
  ["gives the unterminated last line apart", ["a\nb"], [["a"], [{
    kind: "unterminated",
    text: "b",
  }]]],
  ["gives nothing for nothing", [], []],
  ["splits at no line end but the line feed", ["a\u2028b\u0085c\n1\n"], [["a\u2028b\u0085c", "1"]]],
];
for (const [what, chunks, expected] of cases) {
  Deno.test(`readLines() ${what}`, async () => {
    assertEquals(await read(chunks), expected);
  });
}

const faulty: InputLine = { kind: "fault", fault: "too-long", isUnterminated: false };

Deno.test("readLines() gives a fault in the place of its line, alone or among others", async () => {
  assertEquals(await read(["abcd\n", "a\nabcd\nb\n"], 3), [[faulty], ["a", faulty, "b"]]);
});

Deno.test("readLines() tells of a fault in the last line that it had no end", async () => {
  assertEquals(await read(["abcd"], 3), [[{ ...faulty, isUnterminated: true }]]);
});

Deno.test("cutLines() and TextLineStream cut every text alike", async () => {
  const pieces = fc.array(fc.constantFrom("a", "é", "\r", "\n", "\r\n", "\u2028", ""), {
    maxLength: 40,
  });
  const splitter = new LineSplitter();
  await fc.assert(fc.asyncProperty(pieces, async (parts) => {
    const text = `${parts.join("")}\n`;
    const block = { text, lineCount: text.split("\n").length - 1, faults: new Map() };
    assertEquals(cutLines(block), await splitter.split(block));
  }));
});

Deno.test("readLines() gives the lines of a large block in order, faults in their places", async () => {
  const texts = Array.from(
    { length: 100 },
    (_, at) => at === 50 ? "x".repeat(2_000) : `line ${at}`,
  );
  const [group = []] = await read([texts.map((text) => `${text}\r\n`).join("")]);
  assertEquals(group, texts.map((text, at) => at === 50 ? faulty : text));
});
