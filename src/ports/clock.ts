/**
 * Time, as the core asks for it.
 *
 * @module
 */

/** A time-out that someone owns: ends with `using`, or by `Symbol.dispose`. */
export interface Deadline extends Disposable {
  /** Aborts when the time is over, with a `TimeoutError` `DOMException` as its reason. */
  readonly signal: AbortSignal;
}

/** Wall time, monotonic time and waiting. Delays are clamped to what timers can do, 2^31-1 ms. */
export interface Clock {
  /** Wall time in milliseconds since the epoch. For dates and expiries only. */
  now(): number;
  /** Milliseconds on a clock that never goes back. For durations, deadlines and rates. */
  monotonic(): number;
  /**
   * Waits.
   *
   * @param ms How long, in milliseconds; 0 or less ends in the next turn.
   * @param options `signal` ends the wait early: the promise rejects with its reason and the timer is gone.
   */
  sleep(ms: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Starts a time-out.
   *
   * @param ms How long, in milliseconds.
   */
  deadline(ms: number): Deadline;
  /** The local calendar at an instant, for `today` and `now` of machines. */
  local(instant: number): LocalTime;
}

/** An instant in local time. */
export interface LocalTime {
  /** The date, `YYYY-MM-DD`. */
  readonly date: string;
  /** The time to the second with its offset, `2026-03-04T09:05:06+01:00`. */
  readonly dateTime: string;
}
