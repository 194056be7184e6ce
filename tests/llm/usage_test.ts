import { assertEquals } from "@std/assert";
import { NO_USAGE, subtractUsage, sumUsage, totalTokens } from "../../src/llm/usage.ts";

const one = { inputTokens: 1, outputTokens: 2, llmCalls: 3, uncertainTokens: 4 };

Deno.test("sumUsage() adds field by field, and nothing gives nothing", () => {
  assertEquals(sumUsage([one, one]), {
    inputTokens: 2,
    outputTokens: 4,
    llmCalls: 6,
    uncertainTokens: 8,
  });
  assertEquals(sumUsage([]), NO_USAGE);
});

Deno.test("subtractUsage() does not clamp", () => {
  assertEquals(subtractUsage(NO_USAGE, one).inputTokens, -1);
  assertEquals(subtractUsage(one, one), NO_USAGE);
});

Deno.test("totalTokens() counts both kinds", () => assertEquals(totalTokens(one), 3));
