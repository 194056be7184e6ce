import { assert, assertEquals, assertFalse, assertMatch, assertRejects } from "@std/assert";
import { createClock } from "../../../src/platform/mod.ts";

const clock = createClock();

Deno.test("sleep() of an aborted signal rejects with its reason and starts no timer", async () => {
  const signal = AbortSignal.abort(new RangeError("why"));
  await assertRejects(() => clock.sleep(1_000_000, { signal }), RangeError, "why");
});

Deno.test("sleep() rejects with the reason when its signal fires, and leaves no timer", async () => {
  const stop = new AbortController();
  const sleeping = clock.sleep(1_000_000, { signal: stop.signal });
  stop.abort(new RangeError("why"));
  await assertRejects(() => sleeping, RangeError, "why");
});

for (const ms of [0, -5, NaN]) {
  Deno.test(`sleep(${ms}) ends in the next turn`, async () => {
    await clock.sleep(ms);
  });
}

for (const ms of [2 ** 31, Infinity]) {
  Deno.test(`deadline(${ms}) does not fire at once`, async () => {
    using deadline = clock.deadline(ms);
    await clock.sleep(0);
    assertFalse(deadline.signal.aborted);
  });
}

Deno.test("deadline() fires with a TimeoutError", async () => {
  using deadline = clock.deadline(0);
  await clock.sleep(1);
  assertEquals(deadline.signal.reason.name, "TimeoutError");
});

Deno.test("monotonic() never goes back", () => {
  const first = clock.monotonic();
  assert(clock.monotonic() >= first);
});

Deno.test("local() gives date, time and offset", () => {
  const { date, dateTime } = clock.local(Date.UTC(2026, 2, 4, 12));
  assertMatch(date, /^2026-03-0[345]$/);
  assertMatch(dateTime, /^2026-03-0[345]T\d\d:\d\d:00[+-]\d\d:\d\d$/);
  assertEquals(new Date(dateTime).getTime(), Date.UTC(2026, 2, 4, 12));
});
