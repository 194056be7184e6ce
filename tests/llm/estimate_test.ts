import { assertEquals } from "@std/assert";
import { estimateInputTokens } from "../../src/llm/estimate.ts";

Deno.test("estimateInputTokens() counts bytes of JSON by three, rounded up", () => {
  assertEquals(estimateInputTokens([{ role: "user", content: "hi" }]), 11);
  assertEquals(estimateInputTokens([{ role: "user", content: "é😀" }]), 12);
});

Deno.test("estimateInputTokens() counts tools and the response format too", () => {
  const messages = [{ role: "user", content: "hi" }] as const;
  const tools = [{ name: "t", description: "d", parameters: {} }];
  assertEquals(estimateInputTokens(messages, { tools }), 27);
  assertEquals(estimateInputTokens(messages, { responseFormat: { type: "json_object" } }), 18);
});
