import { assert, assertEquals } from "@std/assert";
import { fit } from "../../src/host/fit.ts";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";

const MAX = 20_000;
const DONE = { status: "done", error: null, result: "r", trace: [], warnings: [] };

function steps(count: number, step: JsonValue): readonly JsonValue[] {
  return Array.from({ length: count }, () => step);
}

const large: readonly (readonly [what: string, object: JsonObject])[] = [
  ["a plain result", { ...DONE, result: "x".repeat(90_000) }],
  ["a result of control characters", { ...DONE, result: "\u0001".repeat(90_000) }],
  ["a result of halves of pairs", { ...DONE, result: "\ud800".repeat(90_000) }],
  ["a result of characters of three bytes", { ...DONE, result: "語".repeat(90_000) }],
  ["a result of quotes", { ...DONE, result: '"'.repeat(90_000) }],
  ["a result of many numbers", { ...DONE, result: steps(30_000, 7) }],
  ["a long question", { ...DONE, status: "suspended", result: null, ask: "x".repeat(90_000) }],
  ["a long warning", { ...DONE, warnings: ["x".repeat(90_000)] }],
  ["a long halt", { ...DONE, status: "halt", result: null, error: "x".repeat(90_000) }],
  ["steps with long gates", { ...DONE, trace: steps(50, { gate: "x".repeat(5000) }) }],
  ["steps with many numbers", { ...DONE, trace: steps(20, { usage: steps(3000, 7) }) }],
  ["a long result and a long question", {
    ...DONE,
    result: "x".repeat(90_000),
    ask: "y".repeat(90_000),
  }],
];
for (const [what, object] of large) {
  Deno.test(`fit() gets ${what} below what a client takes, and says so`, () => {
    const cut = fit({ ...object, run: "0123456789abcdef0123456789abcdef" }, MAX);
    const size = new TextEncoder().encode(JSON.stringify(cut)).length;
    assert(size <= MAX, `${size} bytes`);
    assert(String(cut["truncated"]).startsWith("the whole has "), String(cut["truncated"]));
    assertEquals(cut["run"], "0123456789abcdef0123456789abcdef");
    assertEquals(cut["status"], object["status"]);
    if (object["result"] === null) assertEquals(cut["result"], null);
  });
}

Deno.test("fit() counts exactly, pieces of texts and pairs at their borders included", () => {
  const result = "a".repeat(65_535) + "\u{1F600}".repeat(10) + '"\u0001\ud800';
  const object = { ...DONE, result, trace: [{ state: "s", n: [1.5, true, null], ö: {} }] };
  const size = new TextEncoder().encode(JSON.stringify(object)).length;
  assert(fit(object, size) === object);
  assert(String(fit(object, size - 1)["truncated"]).startsWith(`the whole has ${size} bytes`));
});

Deno.test("fit() cuts an object that no text could hold as JSON", () => {
  const output = "\u0001".repeat(1_048_576);
  const result = Array.from({ length: 90 }, () => output);
  const cut = fit({ ...DONE, result }, MAX);
  assert(JSON.stringify(cut).length <= MAX);
  assert(String(cut["truncated"]).startsWith("the whole has 5662"));
});

Deno.test("fit() gives an object that fits as it is", () => {
  assert(fit(DONE, MAX) === DONE);
});

Deno.test("fit() keeps the whole result where leaving out texts of the trace is enough", () => {
  const cut = fit({ ...DONE, trace: steps(30, { state: "s", output: "x".repeat(5000) }) }, MAX);
  assertEquals(cut["result"], "r");
  assertEquals(cut["trace"], steps(20, { state: "s" }));
});
