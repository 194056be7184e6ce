import { assertEquals, assertThrows } from "@std/assert";
import { chooseError } from "../../src/llm/choose_error.ts";
import { AbortedError, BudgetExhaustedError, LlmError } from "../../src/llm/errors.ts";

const passing = new LlmError("server", "x", { retryable: true });
const rate = new LlmError("rate_limit", "x", { retryable: true });
const permanent = new LlmError("auth", "x");
const budget = new BudgetExhaustedError("maxCalls", "x");
const aborted = new AbortedError();

const chosen: [what: string, errors: readonly unknown[], code: string][] = [
  ["an abort before all else", [passing, rate, permanent, budget, aborted], "aborted"],
  ["a budget before what is permanent", [rate, permanent, budget], "budget"],
  ["what is permanent before a rate limit", [rate, permanent, passing], "auth"],
  ["a rate limit before other passing failures", [passing, rate], "rate_limit"],
  ["what the runtime threw as what it means", [new TypeError("fetch failed")], "network"],
];
for (const [what, errors, code] of chosen) {
  Deno.test(`W1 chooseError() chooses ${what}`, () => {
    const error = chooseError(errors);
    assertEquals([error.code, error.others.length], [code, errors.length - 1]);
  });
}

Deno.test("chooseError() chooses the first of equals", () => {
  const error = chooseError([new LlmError("auth", "first"), new LlmError("auth", "second")]);
  assertEquals(error.message, "first");
});

Deno.test("chooseError() has nothing to choose from an empty list", () => {
  assertThrows(() => chooseError([]), RangeError);
});
