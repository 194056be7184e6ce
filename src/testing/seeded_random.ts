/**
 * Chance that repeats itself.
 *
 * @module
 */
import type { Random } from "../ports/mod.ts";

const MODULUS = 2 ** 31 - 1;
const MULTIPLIER = 48_271;

/**
 * The same numbers for the same seed: the minimal standard generator of Park and Miller. For tests, not for secrets.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new SeededRandom(7).float(), new SeededRandom(7).float());
 * ```
 */
export class SeededRandom implements Random {
  #state: number;

  /**
   * Makes a generator.
   *
   * @param seed Any integer; default 1.
   */
  constructor(seed = 1) {
    this.#state = (Math.abs(Math.trunc(seed)) % (MODULUS - 1)) + 1;
  }

  /** A number in [0, 1). */
  float(): number {
    this.#state = (this.#state * MULTIPLIER) % MODULUS;
    return (this.#state - 1) / (MODULUS - 1);
  }

  /** Bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => Math.floor(this.float() * 256));
  }

  /**
   * An integer.
   *
   * @param limit One more than the largest, at least 1.
   * @returns 0 or more, below `limit`.
   */
  below(limit: number): number {
    return Math.floor(this.float() * limit);
  }
}
