/**
 * Bounds on how many requests leave, and how fast.
 *
 * @module
 */

/** Lets requests through one by one. */
export interface Limiter {
  /**
   * Waits for a turn, first come first served.
   *
   * @returns What ends the turn, with `using`.
   */
  acquire(options?: { readonly signal?: AbortSignal }): Promise<Disposable>;
  /** The endpoint said to slow down: nobody goes before `ms` milliseconds are over, then at the sustained rate. */
  penalize(ms: number): void;
}
