import { assert, assertEquals, assertRejects } from "@std/assert";
import { ManualClock, manualPorts, pairedStreams, SeededRandom } from "../../src/testing/mod.ts";

Deno.test("ManualClock fires timers in the order in which they are due, those of one instant as started", async () => {
  const clock = new ManualClock();
  const order: string[] = [];
  void clock.sleep(20).then(() => order.push(`b at ${clock.monotonic()}`));
  void clock.sleep(10).then(() => order.push(`a at ${clock.monotonic()}`));
  void clock.sleep(20).then(() => order.push(`c at ${clock.monotonic()}`));
  await clock.advance(15);
  assertEquals(order, ["a at 10"]);
  await clock.advance(5);
  assertEquals(order, ["a at 10", "b at 20", "c at 20"]);
  assertEquals([clock.monotonic(), clock.pending], [20, 0]);
});

Deno.test("ManualClock lets what a timer wakes start timers that are still due", async () => {
  const clock = new ManualClock();
  const ends: number[] = [];
  void (async () => {
    for (let step = 0; step < 3; step += 1) {
      await clock.sleep(10);
      ends.push(clock.monotonic());
    }
  })();
  await clock.advance(30);
  assertEquals(ends, [10, 20, 30]);
});

Deno.test("ManualClock.run() moves time as far as the work needs, and no further", async () => {
  const clock = new ManualClock();
  using _later = clock.deadline(5000);
  assertEquals(await clock.run(clock.sleep(70).then(() => "done")), "done");
  assertEquals(clock.monotonic(), 70);
});

Deno.test("ManualClock.run() passes a failure on", async () => {
  const clock = new ManualClock();
  await assertRejects(() => clock.run(Promise.reject(new RangeError("no"))), RangeError, "no");
});

Deno.test("ManualClock.run() waits for work that no timer holds up", async () => {
  const clock = new ManualClock();
  const digest = crypto.subtle.digest("SHA-256", new Uint8Array(1)).then(() => clock.sleep(5));
  await clock.run(digest);
  assertEquals(clock.monotonic(), 5);
});

Deno.test("ManualClock ends a sleep with its signal and leaves no timer", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(1000, { signal: controller.signal });
  controller.abort(new RangeError("enough"));
  await assertRejects(() => sleeping, RangeError, "enough");
  assertEquals(clock.pending, 0);
  await assertRejects(() => clock.sleep(1, { signal: controller.signal }), RangeError);
});

Deno.test("ManualClock fires a deadline as a TimeoutError, unless it was let go", async () => {
  const clock = new ManualClock();
  const kept = clock.deadline(10);
  const letGo = clock.deadline(10);
  letGo[Symbol.dispose]();
  await clock.advance(10);
  assert(kept.signal.aborted && !letGo.signal.aborted);
  assertEquals(kept.signal.reason.name, "TimeoutError");
});

Deno.test("ManualClock keeps its timers when somebody sets the wall clock back an hour", async () => {
  const clock = new ManualClock();
  const deadline = clock.deadline(10_000);
  clock.setNow(clock.now() - 3_600_000);
  await clock.advance(9999);
  assert(!deadline.signal.aborted);
  await clock.advance(1);
  assert(deadline.signal.aborted);
});

Deno.test("ManualClock tells the calendar of its offset", () => {
  const instant = Date.UTC(2026, 0, 1, 0, 30);
  assertEquals(new ManualClock().local(instant).date, "2026-01-01");
  assertEquals(new ManualClock({ offsetMinutes: -300 }).local(instant), {
    date: "2025-12-31",
    dateTime: "2025-12-31T19:30:00-05:00",
  });
  assertEquals(
    new ManualClock({ offsetMinutes: 345 }).local(instant).dateTime,
    "2026-01-01T06:15:00+05:45",
  );
});

Deno.test("ManualClock starts where it is told", () => {
  const { clock } = manualPorts({ now: 5, monotonic: 7 });
  assertEquals([clock.now(), clock.monotonic()], [5, 7]);
});

Deno.test("SeededRandom repeats itself for one seed, stays in range, and differs for another", () => {
  const [left, right, other] = [new SeededRandom(5), new SeededRandom(5), new SeededRandom(6)];
  const numbers = Array.from({ length: 1000 }, () => left.float());
  assertEquals(numbers, Array.from({ length: 1000 }, () => right.float()));
  assert(numbers.every((number) => number >= 0 && number < 1));
  assert(numbers[0] !== other.float());
  assert(Math.abs(numbers.reduce((sum, number) => sum + number) / 1000 - 0.5) < 0.05);
  assertEquals(left.bytes(16).length, 16);
  assert(
    Array.from({ length: 100 }, () => left.below(3)).every((number) => [0, 1, 2].includes(number)),
  );
});

Deno.test("pairedStreams() carries bytes both ways and holds a writer back", async () => {
  const { left, right } = pairedStreams({ highWaterMark: 1 });
  const writer = left.writable.getWriter();
  const back = right.writable.getWriter();
  void back.write(new Uint8Array([9]));
  const first = writer.write(new Uint8Array([1]));
  await first;
  let second = "waits";
  void writer.write(new Uint8Array([2])).then(() => second = "through");
  void writer.write(new Uint8Array([3])).then(() => second = "all through");
  await new ManualClock().advance(0);
  assert(second !== "all through");
  const reader = right.readable.getReader();
  assertEquals((await reader.read()).value, new Uint8Array([1]));
  assertEquals((await reader.read()).value, new Uint8Array([2]));
  assertEquals((await reader.read()).value, new Uint8Array([3]));
  assertEquals((await left.readable.getReader().read()).value, new Uint8Array([9]));
});
