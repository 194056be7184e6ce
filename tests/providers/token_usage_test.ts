import { assertEquals, assertMatch } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import { promptCutWarning, readTokenUsage } from "../../src/providers/token_usage.ts";

const usages: [what: string, usage: JsonValue | undefined, read: [number, number, boolean]][] = [
  ["one dialect", { prompt_tokens: 3, completion_tokens: 4 }, [3, 4, true]],
  ["the other first", {
    prompt_tokens: 3,
    completion_tokens: 4,
    input_tokens: 5,
    output_tokens: 6,
  }, [5, 6, true]],
  ["a missing count from the total", {
    prompt_tokens: null,
    completion_tokens: 4,
    total_tokens: 20,
  }, [
    16,
    4,
    true,
  ]],
  ["a missing answer from the total", { prompt_tokens: 4, total_tokens: 20 }, [4, 16, true]],
  ["a whole number that was a fraction", { prompt_tokens: 10.0, completion_tokens: 1 }, [
    10,
    1,
    true,
  ]],
  ["nothing", undefined, [0, 0, false]],
  ["null", null, [0, 0, false]],
  ["a null count", { prompt_tokens: 12, completion_tokens: null }, [12, 0, false]],
  ["all zeros", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, [0, 0, false]],
  ["a negative count", { prompt_tokens: -1, completion_tokens: 4 }, [0, 4, false]],
  ["a fraction", { prompt_tokens: 1.5, completion_tokens: 4 }, [0, 4, false]],
  ["a boolean", { prompt_tokens: true, completion_tokens: 4 }, [0, 4, false]],
  ["a count beyond belief", { prompt_tokens: 2_000_000_000, completion_tokens: 4 }, [0, 4, false]],
  ["a total below its part", { completion_tokens: 40, total_tokens: 20 }, [0, 40, false]],
];
for (const [what, usage, [inputTokens, outputTokens, known]] of usages) {
  Deno.test(`W8 readTokenUsage() reads ${what}`, () => {
    assertEquals(readTokenUsage(usage), { inputTokens, outputTokens, known });
  });
}

Deno.test("promptCutWarning() warns of far fewer tokens than the bytes that were sent", () => {
  const usage = { inputTokens: 2051, outputTokens: 9, known: true };
  assertMatch(promptCutWarning(60_000, usage) ?? "", /truncated: 60000 bytes were sent, 2051/);
  assertEquals(promptCutWarning(20_000, usage), undefined);
  assertEquals(promptCutWarning(7000, { ...usage, inputTokens: 1 }), undefined);
  assertEquals(promptCutWarning(60_000, { ...usage, known: false }), undefined);
});
