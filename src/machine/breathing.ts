/**
 * Giving way: a run that never waits would keep everything else in the process waiting.
 *
 * @module
 */
import { ambientPorts, type Clock } from "../ports/mod.ts";

/** Steps between two looks at the clock: a step can take a tenth of a second, a look takes 0.15 microseconds. */
const STEPS_PER_LOOK = 8;
/** How long a run may keep the event loop to itself, in milliseconds. */
const TURN_MS = 8;

/**
 * Makes the breath of one run. All its chains share it: once one of them gives way the others do at their next step,
 * else they would keep the event loop from turning.
 *
 * @param given The clock; default the ambient one, and without any there is no giving way.
 * @returns To be called before every state and every branch; a promise is to be waited for.
 */
export function createBreath(given: Clock | undefined): () => Promise<void> | undefined {
  const clock = given ?? ambientClock();
  if (clock === undefined) return () => undefined;
  let steps = 0;
  let since: number | undefined;
  let turning: Promise<void> | undefined;
  async function turn(clock: Clock): Promise<void> {
    // Never done before it is under way: what a clock throws at once would else be the turn for good.
    await null;
    try {
      await clock.sleep(0);
    } finally {
      since = clock.monotonic();
      turning = undefined;
    }
  }
  return () => {
    if (turning !== undefined) return turning;
    if (++steps % STEPS_PER_LOOK !== 0) return undefined;
    const now = clock.monotonic();
    since ??= now;
    if (now - since < TURN_MS) return undefined;
    return turning = turn(clock);
  };
}

function ambientClock(): Clock | undefined {
  try {
    return ambientPorts().clock;
  } catch {
    return undefined;
  }
}
