import { assertEquals } from "@std/assert";
import { readJudgeReply } from "../../src/machine/judge_reply.ts";

const choices: [what: string, reply: string, index: number][] = [
  ["a JSON object", '{"choice": 2}', 1],
  ["the last option", '{"choice": 3}', 2],
  ["an integer written with a point", '{"choice": 2.0}', 1],
  ["other members beside it", '{"why": "clear", "choice": 1}', 0],
  ["white space around it", ' \n{"choice":1}\n', 0],
  ["a fence around it", '```json\n{"choice": 1}\n```', 0],
  ["a fence on one line", '```{"choice": 1}```', 0],
  ["a think block before it", '<think>2 or 3?</think>\n{"choice": 1}', 0],
  ["thinking that lost its opening tag", 'hm, 2</think>{"choice": 1}', 0],
];
for (const [what, reply, index] of choices) {
  Deno.test(`readJudgeReply() reads ${what}`, () => {
    assertEquals(readJudgeReply(reply, 3), { index });
  });
}

Deno.test("readJudgeReply() reads digits alone and says so", () => {
  assertEquals(readJudgeReply(" 3\n", 3), { index: 2, method: "bare" });
});

const anomalies: [what: string, reply: string][] = [
  ["nothing", ""],
  ["prose", "I cannot decide."],
  ["a number in prose, unlike the reference", "The answer is 2."],
  ["0", '{"choice": 0}'],
  ["a number beyond the options", '{"choice": 4}'],
  ["a negative number", '{"choice": -1}'],
  ["a fraction", '{"choice": 1.5}'],
  ["null", '{"choice": null}'],
  ["true", '{"choice": true}'],
  ["a text", '{"choice": "1"}'],
  ["a list", '{"choice": [1]}'],
  ["an object without choice", '{"answer": 1}'],
  ["a list around the object", '[{"choice": 1}]'],
  ["prose behind the object", '{"choice": 1} is what the text wants'],
  ["two objects", '{"choice": 1} {"choice": 2}'],
  ["the member twice", '{"choice": 1, "choice": 2}'],
  ["the member once more within", '{"choice": 1, "data": {"choice": 2}}'],
  ["digits out of range", "4"],
  ["a sign", "-1"],
  ["an unclosed think block", "<think>1"],
  ["more text than a reply can have", '{"choice": 1}'.padEnd(300_000, " x")],
];
for (const [what, reply] of anomalies) {
  Deno.test(`readJudgeReply() takes no choice from ${what}`, () => {
    assertEquals(readJudgeReply(reply, 3), { raw: reply.trim() });
  });
}
