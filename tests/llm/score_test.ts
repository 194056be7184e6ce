import { assertEquals } from "@std/assert";
import { parseScore } from "../../src/llm/score.ts";

const TEN = { min: 0, max: 10 };

const scores: [text: string, score: number | undefined][] = [
  ["7", 7],
  [" 7.5\n", 7.5],
  ["**7**", 7],
  ["7/10", 7],
  ["7 / 10.", 7],
  ["Score: 8", 8],
  ["Rating = 8/10", 8],
  ['{"score": 9}', 9],
  ['```json\n{"score": 9, "why": "of 10"}\n```', 9],
  ["<think>maybe 3</think>8", 8],
  ["0", 0],
  ["10", 10],
  ["On a scale of 0-10 I would say 7", undefined],
  ["7,5", undefined],
  ["rating -5", undefined],
  ["-5", undefined],
  ["15", undefined],
  ["8/5", undefined],
  ["eleven", undefined],
  ["", undefined],
  ['{"score": "9"}', undefined],
  ['{"score": 1} {"score": 2}', undefined],
  ["7 8", undefined],
];
for (const [text, score] of scores) {
  Deno.test(`W26 parseScore() reads ${JSON.stringify(text)} as ${score}`, () => {
    assertEquals(parseScore(text, TEN), score);
  });
}

Deno.test("parseScore() keeps to the scale it is given", () => {
  assertEquals(parseScore("0.4", { min: 0, max: 1 }), 0.4);
  assertEquals(parseScore("4", { min: 0, max: 1 }), undefined);
});
