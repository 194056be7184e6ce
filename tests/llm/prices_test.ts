import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../../src/llm/errors.ts";
import { createPriceTable, estimateCost } from "../../src/llm/prices.ts";

const tokens = { inputTokens: 1000, outputTokens: 10 };

Deno.test("estimateCost() is unknown, not 0, where the price is", () => {
  const prices = createPriceTable({ m: { inputRate: 0.001, outputRate: 0.1 } });
  assertEquals(estimateCost(tokens, prices.ratesOf("m")), 2);
  assertEquals(estimateCost(tokens, prices.ratesOf("other")), undefined);
  assertEquals(estimateCost(tokens, prices.ratesOf("toString")), undefined);
});

for (const rate of [-1, NaN, Infinity]) {
  Deno.test(`createPriceTable() refuses the rate ${rate}`, () => {
    assertThrows(() => createPriceTable({ m: { inputRate: rate, outputRate: 0 } }), ConfigError);
  });
}
