import { assertEquals, assertRejects } from "@std/assert";
import { forEachIndex } from "../../src/patterns/pool.ts";
import { ManualClock } from "../../src/testing/mod.ts";

Deno.test("forEachIndex() starts in order, keeps to its limit and does every index once", async () => {
  const clock = new ManualClock();
  const started: number[] = [];
  let running = 0;
  let peak = 0;
  await clock.run(forEachIndex(10, 3, async (index) => {
    started.push(index);
    peak = Math.max(peak, running += 1);
    await clock.sleep(10 - index);
    running -= 1;
  }));
  assertEquals([started, peak], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3]);
});

Deno.test("forEachIndex() starts nothing after a failure and waits for what runs", async () => {
  const clock = new ManualClock();
  const ended: number[] = [];
  const work = forEachIndex(10, 2, async (index) => {
    await clock.sleep(index === 0 ? 5 : 20);
    if (index === 0) throw new RangeError("first");
    ended.push(index);
  });
  await assertRejects(() => clock.run(work), RangeError, "first");
  assertEquals([ended, clock.monotonic()], [[1], 20]);
});

Deno.test("forEachIndex() of nothing does nothing", async () => {
  await forEachIndex(0, 5, () => Promise.reject(new Error("called")));
});
