import { assertEquals } from "@std/assert";
import { splitReasoning } from "../../src/llm/reasoning.ts";

const splits: [what: string, text: string, content: string, reasoning: string][] = [
  ["a block in front", "<think>2 and 2</think>\n\n4", "4", "2 and 2"],
  ["blocks by other names", "<thinking>a</thinking>[THINK]b[/THINK] c", "c", "a\n\nb"],
  ["a block whose letters are large", "<THINK>a</Think>b", "b", "a"],
  ["everything before a bare closing tag", "Let me add.\n</think>\n4", "4", "Let me add."],
  ["a block that is never closed", "<think>on and on", "", "on and on"],
  [
    "another kind's closing tag as thinking",
    "<think>[/THINK] is a tag</think>x",
    "x",
    "[/THINK] is a tag",
  ],
  ["an empty block", "<think></think>x", "x", ""],
];
for (const [what, text, content, reasoning] of splits) {
  Deno.test(`splitReasoning() splits off ${what}`, () => {
    assertEquals(splitReasoning(text), { content, reasoning });
  });
}

const whole: [what: string, text: string][] = [
  ["text without tags, spaces and all", "  4\n"],
  ["tags in inline code", "Use `<think>draft</think>` as the tag."],
  ["a closing tag in a fence", "So:\n```xml\n</think>\n```\n"],
  ["a block in the middle", "First <think>x</think> then."],
  ["nothing", ""],
];
for (const [what, text] of whole) {
  Deno.test(`splitReasoning() leaves ${what}`, () => {
    assertEquals(splitReasoning(text), { content: text, reasoning: "" });
  });
}
