import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type LineBlock, LineGatherer } from "../../src/jsonrpc/line_gatherer.ts";

const encoder = new TextEncoder();

function gather(chunks: readonly (string | number[])[], maxLineBytes = 1_000): unknown[] {
  const gatherer = new LineGatherer({ maxLineBytes });
  const blocks = chunks.map((chunk) =>
    typeof chunk === "string" ? encoder.encode(chunk) : new Uint8Array(chunk)
  )
    .map((chunk) => shown(gatherer.push(chunk)));
  return [...blocks.filter((block) => block !== undefined), gatherer.end()];
}

function shown(block: LineBlock | undefined): unknown {
  if (block === undefined) return undefined;
  const { text, lineCount, faults } = block;
  return faults.size === 0 ? [text, lineCount] : [text, lineCount, Object.fromEntries(faults)];
}

const cases: [what: string, chunks: (string | number[])[], expected: unknown[]][] = [
  ["gives whole lines of one chunk in one block", ["a\nb\n"], [["a\nb\n", 2], undefined]],
  ["keeps what follows the last line feed for the end", ["a\nb"], [["a\n", 1], {
    kind: "text",
    text: "b",
  }]],
  ["joins a line that comes in three chunks", ["a", "b", "c\nd\n"], [["abc\nd\n", 2], undefined]],
  ["keeps empty lines", ["\n\n", "\n"], [["\n\n", 2], ["\n", 1], undefined]],
  ["strips one byte order mark before the first line", ["\ufeffa\n\ufeffb\n"], [
    ["a\n\ufeffb\n", 2],
    undefined,
  ]],
  ["strips a byte order mark that comes in pieces", [[0xef], [0xbb, 0xbf, 0x61], "\n"], [
    ["a\n", 1],
    undefined,
  ]],
  ["strips the mark of an unterminated line", ["\ufeffa"], [{ kind: "text", text: "a" }]],
  ["joins a character cut in two", [[0x22, 0xf0, 0x9f], [0x98, 0x80, 0x22, 0x0a]], [
    ['"😀"\n', 1],
    undefined,
  ]],
  ["marks a line that is not UTF-8 and keeps its neighbours", [[
    0x61,
    0x0a,
    0xff,
    0x0a,
    0x62,
    0x0a,
  ]], [
    ["a\n\nb\n", 3, { 1: "not-utf8" }],
    undefined,
  ]],
  ["marks a line whose bytes are cut off by its end", [[0xc3], [0x0a, 0x61, 0x0a]], [
    ["\na\n", 2, { 0: "not-utf8" }],
    undefined,
  ]],
  ["marks a first line that is not UTF-8 before a mark", [[0xff, 0xfe, 0x7b, 0x7d, 0x0a]], [
    ["\n", 1, { 0: "not-utf8" }],
    undefined,
  ]],
  ["tells of bytes at the end that are not UTF-8", ["a\n", [0xff]], [["a\n", 1], {
    kind: "fault",
    fault: "not-utf8",
  }]],
];
for (const [what, chunks, expected] of cases) {
  Deno.test(`LineGatherer ${what}`, () => {
    assertEquals(gather(chunks), expected);
  });
}

const long: [what: string, chunks: string[], expected: unknown[]][] = [
  ["takes a line of exactly the limit", ["abcd\n"], [["abcd\n", 1], undefined]],
  ["gives up a line one byte longer", ["abcde\nf\n"], [["\nf\n", 2, { 0: "too-long" }], undefined]],
  ["counts bytes, not characters", ["éé\né1é\n"], [["éé\n\n", 2, { 1: "too-long" }], undefined]],
  ["gives up a line that comes in pieces once", ["abc", "def", "ghi\nj\n"], [
    ["\nj\n", 2, { 0: "too-long" }],
    undefined,
  ]],
  ["tells of a long line without an end", ["abcde"], [{ kind: "fault", fault: "too-long" }]],
];
for (const [what, chunks, expected] of long) {
  Deno.test(`LineGatherer ${what}`, () => {
    assertEquals(gather(chunks, 4), expected);
  });
}

Deno.test("LineGatherer decodes lines longer than its segment, whatever the chunks", () => {
  const text = "é😀x".repeat(40_000);
  const bytes = encoder.encode(`${text}\nend\n`);
  for (const size of [1_000, 65_535, 65_536, 65_537, bytes.length]) {
    const gatherer = new LineGatherer({ maxLineBytes: bytes.length });
    let gathered = "";
    for (let at = 0; at < bytes.length; at += size) {
      gathered += gatherer.push(bytes.subarray(at, at + size))?.text ?? "";
    }
    assert(gathered === `${text}\nend\n`, `chunks of ${size}`);
  }
});

Deno.test("LineGatherer may be handed one buffer again and again", () => {
  const buffer = encoder.encode("ab");
  const gatherer = new LineGatherer({ maxLineBytes: 10 });
  gatherer.push(buffer);
  buffer.set(encoder.encode("c\n"));
  assertEquals(gatherer.push(buffer)?.text, "abc\n");
});

Deno.test("LineGatherer holds no byte of a line that it gave up", () => {
  const gatherer = new LineGatherer({ maxLineBytes: 100 });
  const chunk = new Uint8Array(65_536).fill(0x78);
  for (let times = 0; times < 100; times += 1) assertEquals(gatherer.push(chunk), undefined);
  assertEquals(shown(gatherer.push(encoder.encode("\nok\n"))), ["\nok\n", 2, { 0: "too-long" }]);
});

Deno.test("LineGatherer decodes every text alike, wherever it is cut", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 200 }).map((part) =>
    part.replaceAll("\n", " ")
  );
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 3 }),
      (part, size, shift) => {
        // Long enough that the segment is full in the middle of the text.
        const whole = `${"x".repeat(65_530 + shift)}${part}`;
        const bytes = encoder.encode(`${whole}\n`);
        const gatherer = new LineGatherer({ maxLineBytes: bytes.length });
        gatherer.push(bytes.subarray(0, 65_000));
        let gathered = "";
        for (let at = 65_000; at < bytes.length; at += size) {
          gathered += gatherer.push(bytes.subarray(at, at + size))?.text ?? "";
        }
        assert(gathered === `${whole}\n`);
      },
    ),
  );
});

const spoiled: [what: string, tail: number[]][] = [
  ["a character that is cut off", [0xf0, 0x9f, 0x98]],
  ["continuation bytes alone", [0x80, 0x80, 0x80, 0x80, 0x80]],
  ["a character too long", [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
];
for (const [what, tail] of spoiled) {
  Deno.test(`LineGatherer finds ${what} at the end of a full segment`, () => {
    const bytes = new Uint8Array([
      ...new Uint8Array(65_536 - tail.length + 1).fill(0x78),
      ...tail,
      0x0a,
    ]);
    const gatherer = new LineGatherer({ maxLineBytes: 100_000 });
    assertEquals(gatherer.push(bytes.subarray(0, 65_536)), undefined);
    assertEquals(shown(gatherer.push(bytes.subarray(65_536))), ["\n", 1, { 0: "not-utf8" }]);
  });
}
