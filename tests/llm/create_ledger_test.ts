import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { createLedger, isLedgerWithin } from "../../src/llm/create_ledger.ts";
import { AbortedError, BudgetExhaustedError, ConfigError } from "../../src/llm/errors.ts";
import { createPriceTable } from "../../src/llm/prices.ts";
import { ManualClock } from "../../src/testing/mod.ts";

const request = { inputTokens: 10, outputTokens: 50 };

Deno.test("reserve() is synchronous: it gives a reservation, not a promise", () => {
  assertEquals(createLedger().reserve(request).outputTokens, 50);
});

Deno.test("reserve() holds what it grants until it is settled", () => {
  const ledger = createLedger({
    maxCalls: 2,
    maxInputTokens: 100,
    maxOutputTokens: 60,
    maxTokens: 200,
  });
  const reservation = ledger.reserve(request);
  assertEquals(ledger.outstanding, {
    inputTokens: 10,
    outputTokens: 50,
    llmCalls: 1,
    uncertainTokens: 0,
  });
  assertEquals(ledger.remaining(), {
    maxCalls: 1,
    maxInputTokens: 90,
    maxOutputTokens: 10,
    maxTokens: 140,
  });
  reservation.settle({ inputTokens: 9, outputTokens: 4 });
  assertEquals(ledger.spent, { inputTokens: 9, outputTokens: 4, llmCalls: 1, uncertainTokens: 0 });
  assertEquals(ledger.outstanding.llmCalls, 0);
});

type End = (reservation: ReturnType<ReturnType<typeof createLedger>["reserve"]>) => void;
const ends: [what: string, end: End, calls: number, tokens: number, uncertain: number][] = [
  [
    "settle() charges what was spent",
    (held) => held.settle({ inputTokens: 9, outputTokens: 4 }),
    1,
    13,
    0,
  ],
  ["settle() without counts charges the estimate", (held) => held.settle(), 1, 60, 60],
  ["refuse() charges the call alone", (held) => held.refuse(), 1, 0, 0],
  ["abandon() charges the estimate as uncertain", (held) => held.abandon(), 1, 60, 60],
  ["release() charges nothing", (held) => held.release(), 0, 0, 0],
];
for (const [what, end, calls, tokens, uncertain] of ends) {
  Deno.test(`${what}, once`, () => {
    const ledger = createLedger();
    const reservation = ledger.reserve(request);
    end(reservation);
    reservation.settle({ inputTokens: 1000, outputTokens: 1000 });
    const { inputTokens, outputTokens, llmCalls, uncertainTokens } = ledger.spent;
    assertEquals([llmCalls, inputTokens + outputTokens, uncertainTokens], [
      calls,
      tokens,
      uncertain,
    ]);
    assertEquals(ledger.outstanding.llmCalls, 0);
  });
}

Deno.test("settle() without counts is told by usageMissing, in every ledger above", () => {
  const ledger = createLedger();
  ledger.child().reserve(request).settle();
  assert(ledger.usageMissing);
});

const caps: [field: string, budget: Parameters<typeof createLedger>[0]][] = [
  ["maxCalls", { maxCalls: 0 }],
  ["maxInputTokens", { maxInputTokens: 9 }],
  ["maxOutputTokens", { maxOutputTokens: 15 }],
  ["maxTokens", { maxTokens: 25 }],
];
for (const [field, budget] of caps) {
  Deno.test(`reserve() refuses with the field ${field}`, () => {
    const error = assertThrows(() => createLedger(budget).reserve(request), BudgetExhaustedError);
    assertEquals([error.field, error.code, error.retryable], [field, "budget", false]);
  });
}

Deno.test("reserve() grants fewer completion tokens where the cap leaves at least 16", () => {
  assertEquals(createLedger({ maxOutputTokens: 16 }).reserve(request).outputTokens, 16);
  assertEquals(createLedger({ maxTokens: 30 }).reserve(request).outputTokens, 20);
  const small = { inputTokens: 10, outputTokens: 5 };
  assertEquals(createLedger({ maxOutputTokens: 5 }).reserve(small).outputTokens, 5);
});

Deno.test("reserve() must fit every ledger above, and charges them all", () => {
  const root = createLedger({ maxCalls: 2 });
  const left = root.child({ maxCalls: 5 });
  const right = root.child();
  left.reserve(request).settle({ inputTokens: 1, outputTokens: 1 });
  right.child().reserve(request);
  assertThrows(() => left.reserve(request), BudgetExhaustedError);
  assertEquals([root.spent.llmCalls, left.spent.llmCalls, right.spent.llmCalls], [1, 1, 0]);
  assertEquals(left.remaining(), { maxCalls: 0 });
});

Deno.test("reserve() leaves nothing held anywhere if one ledger refuses", () => {
  const root = createLedger({ maxOutputTokens: 100 });
  const child = root.child({ maxCalls: 0 });
  assertThrows(() => child.reserve(request), BudgetExhaustedError);
  assertEquals([root.outstanding.llmCalls, child.outstanding.llmCalls], [0, 0]);
});

Deno.test("an endpoint that ignores its limit makes the ledger overBudget, and closes it", () => {
  const ledger = createLedger({ maxOutputTokens: 100 });
  const reservation = ledger.reserve(request);
  assertFalse(ledger.overBudget);
  reservation.settle({ inputTokens: 10, outputTokens: 400 });
  assert(ledger.overBudget);
  const error = assertThrows(() => ledger.reserve(request), BudgetExhaustedError);
  assertEquals(error.field, "maxOutputTokens");
  assertEquals(error.usage.outputTokens, 400);
});

Deno.test("reserve() refuses once the deadline has come, on the monotonic clock", async () => {
  const clock = new ManualClock();
  const ledger = createLedger({ deadline: 1000 }, { clock });
  clock.setNow(0);
  ledger.reserve(request).release();
  await clock.advance(1000);
  assertEquals(assertThrows(() => ledger.reserve(request), BudgetExhaustedError).field, "deadline");
});

Deno.test("maxCostUsd caps what prices make of the tokens", () => {
  const prices = createPriceTable({ m: { inputRate: 0.001, outputRate: 0.002 } });
  const ledger = createLedger({ maxCostUsd: 0.05 }, { prices });
  const reservation = ledger.reserve({ ...request, model: "m" });
  assertEquals(reservation.outputTokens, 20);
  reservation.settle({ inputTokens: 10, outputTokens: 20 });
  const error = assertThrows(
    () => ledger.reserve({ ...request, model: "m" }),
    BudgetExhaustedError,
  );
  assertEquals(error.field, "maxCostUsd");
});

Deno.test("maxCostUsd refuses a model whose price is unknown instead of taking it for free", () => {
  const prices = createPriceTable({ m: { inputRate: 0, outputRate: 0 } });
  const ledger = createLedger({ maxCostUsd: 1 }, { prices });
  assertThrows(() => ledger.reserve({ ...request, model: "other" }), ConfigError, "unknown");
  assertThrows(() => ledger.child().reserve(request), ConfigError, "unknown");
  ledger.reserve({ ...request, model: "m" });
});

Deno.test("spentUsd is unknown from the first unpriced token on, here and above", () => {
  const prices = createPriceTable({ m: { inputRate: 0.5, outputRate: 2 } });
  const ledger = createLedger({}, { prices });
  const child = ledger.child();
  assertEquals(child.spentUsd, 0);
  child.reserve({ ...request, model: "m" }).settle({ inputTokens: 2, outputTokens: 3 });
  assertEquals([child.spentUsd, ledger.spentUsd], [7, 7]);
  child.reserve({ ...request, model: "other" }).refuse();
  assertEquals(child.spentUsd, 7);
  child.reserve({ ...request, model: "other" }).settle({ inputTokens: 1, outputTokens: 0 });
  assertEquals([child.spentUsd, ledger.spentUsd], [undefined, undefined]);
});

Deno.test("isLedgerWithin() follows the chain upwards, not downwards", () => {
  const root = createLedger();
  const child = root.child().child();
  assert(isLedgerWithin(child, root) && isLedgerWithin(root, root));
  assertFalse(isLedgerWithin(root, child) || isLedgerWithin(child, createLedger()));
});

// deno-lint-ignore no-explicit-any -- what JavaScript lets a caller hand in
const bad: [what: string, budget: any][] = [
  ["a negative cap", { maxCalls: -1 }],
  ["a cap that is NaN", { maxTokens: NaN }],
  ["a cap that is a text", { maxCalls: "two" }],
  ["a cap that is a text of digits", { maxOutputTokens: "100" }],
  ["a cap that is null", { maxCostUsd: null }],
  ["a deadline that is a date", { deadline: new Date(0) }],
];
for (const [what, budget] of bad) {
  Deno.test(`createLedger() refuses ${what}`, () => {
    assertEquals(assertThrows(() => createLedger(budget), ConfigError).code, "argument");
  });
}

Deno.test("acquire() waits where a settlement could free enough, in the order of asking", async () => {
  const ledger = createLedger({ maxOutputTokens: 100 });
  const first = await ledger.acquire({ inputTokens: 0, outputTokens: 100 });
  const order: number[] = [];
  const second = ledger.acquire({ inputTokens: 0, outputTokens: 60 }).then((held) => {
    order.push(2);
    return held;
  });
  const third = ledger.acquire({ inputTokens: 0, outputTokens: 40 }).then((held) => {
    order.push(3);
    return held;
  });
  assertEquals(ledger.outstanding.llmCalls, 1);
  first.settle({ inputTokens: 0, outputTokens: 0 });
  assertEquals([(await second).outputTokens, (await third).outputTokens], [60, 40]);
  assertEquals(order, [2, 3]);
});

Deno.test("acquire() refuses at once what no settlement could free", async () => {
  const ledger = createLedger({ maxOutputTokens: 100 });
  ledger.reserve({ inputTokens: 0, outputTokens: 100 });
  await assertRejects(
    () => ledger.acquire({ inputTokens: 0, outputTokens: 200, minOutputTokens: 150 }),
    BudgetExhaustedError,
  );
});

Deno.test("acquire() refuses a waiter once what it waited for was spent", async () => {
  const ledger = createLedger({ maxCalls: 1 });
  const first = await ledger.acquire(request);
  const second = ledger.acquire(request);
  first.settle({ inputTokens: 1, outputTokens: 1 });
  await assertRejects(() => second, BudgetExhaustedError);
});

Deno.test("acquire() goes on with a waiter when the reservation before it is released", async () => {
  const ledger = createLedger({ maxCalls: 1 });
  const first = await ledger.acquire(request);
  const second = ledger.acquire(request);
  first.release();
  (await second).settle({ inputTokens: 1, outputTokens: 1 });
  assertEquals(ledger.spent.llmCalls, 1);
});

Deno.test("a waiter at its own cap does not hold up another ledger of the tree", async () => {
  const root = createLedger({ maxCalls: 10 });
  const narrow = root.child({ maxOutputTokens: 50 });
  const held = await narrow.acquire(request);
  const waiting = narrow.acquire(request);
  (await root.child().acquire(request)).release();
  held.settle({ inputTokens: 0, outputTokens: 0 });
  (await waiting).release();
});

Deno.test("acquire() ends with the signal, and lets the next waiter go on", async () => {
  const ledger = createLedger({ maxOutputTokens: 50 });
  const held = await ledger.acquire(request);
  const controller = new AbortController();
  const second = ledger.acquire(request, { signal: controller.signal });
  const third = ledger.acquire({ inputTokens: 0, outputTokens: 20 });
  controller.abort("enough");
  const error = await assertRejects(() => second, AbortedError);
  assertEquals(error.cause, "enough");
  held.settle({ inputTokens: 0, outputTokens: 30 });
  assertEquals((await third).outputTokens, 20);
});

Deno.test("acquire() with a signal that has fired reserves nothing", async () => {
  const ledger = createLedger();
  await assertRejects(
    () => ledger.acquire(request, { signal: AbortSignal.abort() }),
    AbortedError,
  );
  assertEquals(ledger.outstanding.llmCalls, 0);
});

Deno.test("reserve() grants whole tokens only, whatever the caps are", () => {
  const ledger = createLedger({ maxOutputTokens: 100.9, maxTokens: 333.3 });
  assertEquals(ledger.reserve({ inputTokens: 10, outputTokens: 4096 }).outputTokens, 100);
});
