import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { copyError } from "../../src/llm/copy_error.ts";
import { BudgetExhaustedError, LlmError } from "../../src/llm/errors.ts";

const usage = { inputTokens: 1, outputTokens: 2, llmCalls: 3, uncertainTokens: 0 };

Deno.test("copyError() keeps class, code, text, cause and stack", () => {
  const cause = new Error("why");
  const error = new LlmError("rate_limit", "slow down", {
    retryAfterMs: 5,
    cause,
    retryable: true,
  });
  const copy = copyError(error, { usage });
  assertInstanceOf(copy, LlmError);
  assertEquals(
    [copy.code, copy.message, copy.cause, copy.retryAfterMs, copy.retryable, copy.stack],
    ["rate_limit", "slow down", cause, 5, true, error.stack],
  );
  assertEquals(copy.usage, usage);
});

Deno.test("copyError() leaves the original as it was", () => {
  const error = new BudgetExhaustedError("maxCalls", "x", { details: { a: 1 } });
  const copy = copyError(error, { details: { b: 2 }, partial: "p" });
  assertEquals(error.details, { a: 1 });
  assertEquals([copy.details, copy.partial, copy.field], [{ a: 1, b: 2 }, "p", "maxCalls"]);
  assert(error.partial === undefined);
});
