/** How long reading takes at worst. An input is too slow only if it is so each of several times: a machine may be
 * busy now and then. */
import { assert } from "@std/assert";
import {
  evaluateArithmetic,
  extractJson,
  parseScore,
  redact,
  splitReasoning,
  toolCallsInText,
} from "../../../src/llm/mod.ts";
import { castVote } from "../../../src/patterns/mod.ts";
import { SeededRandom } from "../../../src/testing/mod.ts";

const TRIES = 20;
const ARITHMETIC_MS = 5;

function timeOf(work: () => unknown, limitMs: number): number {
  let least = Infinity;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
    if (least < limitMs) break;
  }
  return least;
}

Deno.test("W48 evaluateArithmetic() takes less than 5 ms for any of 10,000 texts, and for the worst", () => {
  const random = new SeededRandom(7);
  const alphabet = "0123456789.+-*/%()e *";
  const texts = Array.from({ length: 10_000 }, () => {
    const length = 1 + random.below(512);
    return Array.from({ length }, () => alphabet.charAt(random.below(alphabet.length))).join("");
  });
  const worst = [
    "9**9**9",
    "15**1024",
    "7**1023*".repeat(60) + "1",
    "1+".repeat(127) + "1",
    `${"(".repeat(64)}9**1000${")".repeat(64)}`,
    "9".repeat(32) + ("*" + "9".repeat(32)).repeat(14),
    "1+1".repeat(1_000_000),
  ];
  evaluateArithmetic("1+1");
  for (const text of [...worst, ...texts]) {
    const took = timeOf(() => evaluateArithmetic(text), ARITHMETIC_MS);
    assert(took < ARITHMETIC_MS, `${took.toFixed(1)} ms for ${text.slice(0, 80)}`);
  }
});

const SIZE = 200_000;

/** Texts of a model that means harm: what makes a reader that goes back take quadratic time. */
const hostile: [what: string, text: string][] = [
  ["opening braces", "{".repeat(SIZE)],
  ["opening brackets", "[".repeat(SIZE)],
  ["opened objects", '{"a":'.repeat(SIZE / 5)],
  ["opened arrays", '["a",'.repeat(SIZE / 5)],
  ["broken objects", '{"a" "b"} '.repeat(SIZE / 10)],
  ["objects with a trailing comma", '{"a":1,} '.repeat(SIZE / 9)],
  ["apostrophes after brackets", "['".repeat(SIZE / 2)],
  ["objects in single quotes", "{'a': ".repeat(SIZE / 6)],
  ["fences", "```json\n".repeat(SIZE / 8)],
  ["fences with objects", '```json\n{"a":1}\n```\n'.repeat(SIZE / 20)],
  ["backticks", "`".repeat(SIZE)],
  ["quotes", '"'.repeat(SIZE)],
  ["escaped quotes", '{"' + '\\"'.repeat(SIZE / 2)],
  ["backslashes", '{"' + "\\".repeat(SIZE)],
  ["think tags", "<think>".repeat(SIZE / 7)],
  ["closing think tags", "</think>".repeat(SIZE / 8)],
  ["closing think tags in code", "`</think>`".repeat(SIZE / 10)],
  ["tool call tags", "<tool_call>".repeat(SIZE / 11)],
  ["digits", "1".repeat(SIZE)],
  ["digits and commas", "1,".repeat(SIZE / 2)],
  ["points", ".".repeat(SIZE)],
  ["exclamation marks", "!".repeat(SIZE)],
  ["emphasis", "*".repeat(SIZE)],
  ["white space", " ".repeat(SIZE) + "x"],
  ["line feeds", "\n".repeat(SIZE) + "x"],
  ["comments", '{"a": /*' + "*".repeat(SIZE)],
  ["key words", "secret: ".repeat(SIZE / 8)],
  ["bearer words", "bearer ".repeat(SIZE / 7)],
  ["private keys that never end", "-----BEGIN PRIVATE KEY-----".repeat(SIZE / 27)],
  ["addresses", "http://".repeat(SIZE / 7)],
];
const readers: [what: string, read: (text: string) => unknown][] = [
  ["extractJson()", (text) => extractJson(text)],
  ["extractJson() of a text cut off", (text) => extractJson(text, { truncated: true })],
  ["splitReasoning()", splitReasoning],
  ["parseScore()", (text) => parseScore(text, { min: 0, max: 10 })],
  ["redact()", redact],
  ["toolCallsInText()", (text) => toolCallsInText(text, ["a"])],
  ["castVote()", (text) => castVote(text)],
  ["castVote() of numbers", (text) => castVote(text, "number")],
  ["castVote() of JSON", (text) => castVote(text, "json")],
  ["castVote() of a choice", (text) => castVote(text, { choice: ["yes", "no"] })],
];
const LIMIT_MS = 500;

for (const [name, read] of readers) {
  Deno.test(`${name} takes less than half a second for any hostile text of 200,000 characters`, () => {
    for (const [what, text] of hostile) {
      const took = timeOf(() => read(text), LIMIT_MS);
      assert(took < LIMIT_MS, `${took.toFixed(0)} ms for ${what}`);
    }
  });
}
