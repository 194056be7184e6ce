/**
 * The ports that patterns and machines ask for, without real time or chance.
 *
 * @module
 */
import { ManualClock, type ManualClockOptions } from "./manual_clock.ts";
import { SeededRandom } from "./seeded_random.ts";

/** Time and chance in the hands of a test. */
export interface ManualPorts {
  /** Moves when told. */
  readonly clock: ManualClock;
  /** Repeats itself. */
  readonly random: SeededRandom;
}

/**
 * Makes ports for a test.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const { clock, random } = manualPorts({ seed: 3 });
 * assertEquals(clock.monotonic(), 0);
 * assertEquals(random.bytes(2).length, 2);
 * ```
 *
 * @param options Where the clock starts; `seed` of the chance, default 1.
 * @returns The ports.
 */
export function manualPorts(
  options: ManualClockOptions & { readonly seed?: number } = {},
): ManualPorts {
  return { clock: new ManualClock(options), random: new SeededRandom(options.seed) };
}
