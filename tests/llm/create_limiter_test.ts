import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createLimiter } from "../../src/llm/create_limiter.ts";
import { AbortedError, ConfigError } from "../../src/llm/errors.ts";
import type { Limiter } from "../../src/llm/limiter.ts";
import { ManualClock } from "../../src/testing/mod.ts";

/** Asks for turns and writes down when each was given; turns are over at once. */
async function starts(
  limiter: Limiter,
  clock: ManualClock,
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  const turns = Array.from({ length: count }, async () => {
    using _turn = await limiter.acquire();
    times.push(Math.round(clock.monotonic()));
  });
  await clock.run(Promise.all(turns));
  return times;
}

Deno.test("a limiter without bounds lets everyone go at once", async () => {
  const clock = new ManualClock();
  assertEquals(await starts(createLimiter({ clock }), clock, 4), [0, 0, 0, 0]);
  assertEquals(clock.pending, 0);
});

Deno.test("ratePerSecond spaces requests, the capacity at once first", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, ratePerSecond: 5, capacity: 2 });
  assertEquals(await starts(limiter, clock, 5), [0, 0, 200, 400, 600]);
});

Deno.test("W18 after a penalty nobody goes before its end, then one by one", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, ratePerSecond: 5, capacity: 4 });
  limiter.penalize(300);
  assertEquals(await starts(limiter, clock, 4), [500, 700, 900, 1100]);
});

Deno.test("after a penalty without a rate ten a second go, until nobody waits", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  limiter.penalize(1000);
  assertEquals(await starts(limiter, clock, 3), [1100, 1200, 1300]);
  assertEquals(await starts(limiter, clock, 3), [1300, 1300, 1300]);
});

Deno.test("a shorter penalty does not end a longer one", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, ratePerSecond: 10 });
  limiter.penalize(1000);
  limiter.penalize(10);
  assertEquals(await starts(limiter, clock, 1), [1100]);
});

Deno.test("concurrency bounds how many turns are open, first come first served", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 2 });
  let open = 0;
  let most = 0;
  const order: number[] = [];
  const turns = Array.from({ length: 5 }, async (_, index) => {
    using _turn = await limiter.acquire();
    order.push(index);
    open += 1;
    most = Math.max(most, open);
    await clock.sleep(10);
    open -= 1;
  });
  await clock.run(Promise.all(turns));
  assertEquals([most, order, clock.monotonic()], [2, [0, 1, 2, 3, 4], 30]);
});

Deno.test("who leaves the queue by signal takes nobody's turn", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1 });
  const first = await limiter.acquire();
  const controller = new AbortController();
  const second = limiter.acquire({ signal: controller.signal });
  const third = limiter.acquire();
  controller.abort("enough");
  assertEquals((await assertRejects(() => second, AbortedError)).cause, "enough");
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  await assertRejects(() => limiter.acquire({ signal: AbortSignal.abort() }), AbortedError);
});

Deno.test("penalize() ignores what is no time", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  limiter.penalize(NaN);
  limiter.penalize(Infinity);
  assertEquals(await starts(limiter, clock, 1), [0]);
});

const bad: [what: string, options: Parameters<typeof createLimiter>[0]][] = [
  ["no concurrency", { concurrency: 0 }],
  ["a rate of 0", { ratePerSecond: 0 }],
  ["a rate that is no number", { ratePerSecond: NaN }],
  ["a capacity below 1", { capacity: 0.5 }],
  ["a capacity without end", { capacity: Infinity }],
];
for (const [what, options] of bad) {
  Deno.test(`createLimiter() refuses ${what}`, () => {
    assertThrows(() => createLimiter(options), ConfigError);
  });
}
