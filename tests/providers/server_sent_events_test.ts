import { assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { EventDecoder } from "../../src/providers/server_sent_events.ts";

/** A hundred times what linear work takes here, and less than quadratic work would. */
const LINEAR_MS = 5000;

function decode(...pieces: readonly string[]): readonly (readonly [string, string])[] {
  const decoder = new EventDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.end()].map(({ event, data }) => [event, data]);
}

const streams: [what: string, pieces: string[], events: [string, string][]][] = [
  ["one event", ["data: a\n\n"], [["message", "a"]]],
  ["lines of data joined", ["data: a\ndata: b\n\n"], [["message", "a\nb"]]],
  ["a type", ["event: x\ndata: a\n\n"], [["x", "a"]]],
  ["no space after the colon", ["data:a\n\n"], [["message", "a"]]],
  ["comments left out", [": ping\n\ndata: a\n\n"], [["message", "a"]]],
  ["fields it does not know left out", ["id: 1\nretry: 5\ndata: a\n\n"], [["message", "a"]]],
  ["CR and LF", ["data: a\r\n\r\ndata: b\r\n\r\n"], [["message", "a"], ["message", "b"]]],
  ["CR alone", ["data: a\r\rdata: b\r\r"], [["message", "a"], ["message", "b"]]],
  ["CR and LF in two pieces", ["data: a\r", "\n\r", "\ndata: b\n\n"], [["message", "a"], [
    "message",
    "b",
  ]]],
  ["a line in many pieces", ["da", "ta", ": a", "b", "\n", "\n"], [["message", "ab"]]],
  ["a last event without its blank line", ["data: a\n\ndata: b"], [["message", "a"], [
    "message",
    "b",
  ]]],
  ["nothing for events without data", ["event: x\n\n"], []],
];
for (const [what, pieces, events] of streams) {
  Deno.test(`EventDecoder reads ${what}`, () => assertEquals(decode(...pieces), events));
}

Deno.test("EventDecoder does not depend on where the text is cut", () => {
  const text = fc.array(
    fc.constantFrom("data: a", "data:", "event: x", ": c", "\n", "\r\n", "\r", "b"),
    {
      maxLength: 30,
    },
  ).map((parts) => parts.join(""));
  fc.assert(fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), (whole, cuts) => {
    const places = [
      0,
      ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b),
      whole.length,
    ];
    const pieces = places.slice(1).map((place, index) => whole.slice(places[index], place));
    assertEquals(decode(...pieces), decode(whole));
  }));
});

Deno.test("EventDecoder takes a line of 4 MB in small pieces in linear time", () => {
  const decoder = new EventDecoder();
  const started = performance.now();
  decoder.push("data: ");
  for (let n = 0; n < 4000; n += 1) decoder.push("x".repeat(1000));
  assertEquals(decoder.push("\n\n")[0]?.data.length, 4_000_000);
  assertLess(performance.now() - started, LINEAR_MS);
});
