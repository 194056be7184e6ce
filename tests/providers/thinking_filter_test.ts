import { assertEquals } from "@std/assert";
import { ThinkingFilter } from "../../src/providers/thinking_filter.ts";

function filter(...pieces: readonly string[]): readonly [thinking: string, text: string] {
  const thinking = new ThinkingFilter();
  const events = [...pieces.flatMap((piece) => [...thinking.push(piece)]), ...thinking.end()];
  const of = (type: string) =>
    events.map((event) => event.type === type && event.type !== "done" ? event.text : "").join("");
  return [of("reasoning"), of("text")];
}

const texts: [what: string, pieces: string[], split: [string, string]][] = [
  ["text as it is", ["a", "b"], ["", "ab"]],
  ["a block in one piece", ["<think>hm</think>4"], ["hm", "4"]],
  ["a block in many pieces", ["<th", "ink>h", "m</thi", "nk>", "4"], ["hm", "4"]],
  ["white space before the tag", ["\n <think>hm</think>\n4"], ["hm", "4"]],
  ["two blocks", ["<think>a</think><thinking>b</thinking>c"], ["ab", "c"]],
  ["another kind of tag", ["[THINK]hm[/THINK]4"], ["hm", "4"]],
  ["a block that is never closed", ["<think>hm"], ["hm", ""]],
  ["something like a tag", ["<thesis>"], ["", "<thesis>"]],
  ["the beginning of a tag at the end", ["<thi"], ["", "<thi"]],
  ["a block within the text", ["a <think>b</think>"], ["", "a <think>b</think>"]],
];
for (const [what, pieces, split] of texts) {
  Deno.test(`ThinkingFilter tells apart ${what}`, () => assertEquals(filter(...pieces), split));
}
