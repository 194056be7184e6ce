/**
 * Time that stands still until it is told to move.
 *
 * @module
 */
import type { Clock, Deadline, LocalTime } from "../ports/mod.ts";

/** Longest delay that a timer can have, in milliseconds; longer ones are clamped as everywhere. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** Turns of the microtask queue given to running code before time is moved. */
const SETTLE_TURNS = 64;

/** Where a {@linkcode ManualClock} starts. */
export interface ManualClockOptions {
  /** Wall time in milliseconds since the epoch; default 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Monotonic time in milliseconds; default 0. */
  readonly monotonic?: number;
  /** Minutes east of UTC of the local calendar; default 0. */
  readonly offsetMinutes?: number;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly fire: () => void;
}

/**
 * A clock for tests. Nothing waits in real time: `advance` moves it, `run` moves it as far as some work needs.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const clock = new ManualClock();
 * await clock.run(clock.sleep(60_000));
 * assertEquals(clock.monotonic(), 60_000);
 * assertEquals(clock.pending, 0);
 * ```
 */
export class ManualClock implements Clock {
  #now: number;
  #monotonic: number;
  readonly #offsetMinutes: number;
  readonly #timers = new Set<Timer>();
  #order = 0;
  #added = Promise.withResolvers<void>();

  /** Makes a clock. */
  constructor(options: ManualClockOptions = {}) {
    this.#now = options.now ?? Date.UTC(2026, 0, 1);
    this.#monotonic = options.monotonic ?? 0;
    this.#offsetMinutes = options.offsetMinutes ?? 0;
  }

  /** How many timers are waiting; 0 if nothing was left behind. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Wall time in milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  /** Milliseconds on a clock that never goes back. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** Waits until the clock was moved by `ms` milliseconds; `signal` ends the wait with its reason. */
  sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { signal } = options;
    if (signal?.aborted === true) {
      reject(signal.reason);
      return promise;
    }
    const timer = this.#start(ms, () => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    });
    const cancel = (): void => {
      this.#timers.delete(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    return promise;
  }

  /** Starts a time-out that fires when the clock was moved by `ms` milliseconds. */
  deadline(ms: number): Deadline {
    const controller = new AbortController();
    const timer = this.#start(ms, () => {
      controller.abort(new DOMException("The time is over", "TimeoutError"));
    });
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        this.#timers.delete(timer);
      },
    };
  }

  /** The local calendar at an instant. */
  local(instant: number): LocalTime {
    const minutes = Math.abs(this.#offsetMinutes);
    const hours = String(Math.floor(minutes / 60)).padStart(2, "0");
    const zone = `${this.#offsetMinutes < 0 ? "-" : "+"}${hours}:${
      String(minutes % 60).padStart(2, "0")
    }`;
    const text = new Date(instant + this.#offsetMinutes * 60_000).toISOString();
    return { date: text.slice(0, 10), dateTime: `${text.slice(0, 19)}${zone}` };
  }

  /** Moves wall time alone, as when somebody sets the clock. Timers do not notice. */
  setNow(now: number): void {
    this.#now = now;
  }

  /**
   * Moves time on. Timers fire in the order in which they are due, and what they wake runs before the next one.
   *
   * @param ms By how many milliseconds.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms;
    await settle();
    for (let timer = this.#next(); timer && timer.due <= target; timer = this.#next()) {
      this.#fire(timer);
      await settle();
    }
    this.#moveTo(target);
  }

  /**
   * Moves time on as far as some work needs.
   *
   * @param work What to wait for.
   * @returns What the work gives.
   */
  async run<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const done = work.then(() => {}, () => {}).then(() => {
      settled = true;
    });
    for (;;) {
      await settle();
      if (settled) return await work;
      const timer = this.#next();
      if (timer === undefined) await Promise.race([done, this.#added.promise]);
      else this.#fire(timer);
    }
  }

  #start(ms: number, fire: () => void): Timer {
    const delay = Math.min(Math.max(ms, 0), MAX_DELAY_MS);
    const timer = { due: this.#monotonic + delay, order: this.#order, fire };
    this.#order += 1;
    this.#timers.add(timer);
    this.#added.resolve();
    this.#added = Promise.withResolvers<void>();
    return timer;
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.due < next.due) next = timer;
    }
    return next;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#moveTo(timer.due);
    timer.fire();
  }

  #moveTo(target: number): void {
    const step = Math.max(0, target - this.#monotonic);
    this.#monotonic += step;
    this.#now += step;
  }
}

/** Lets running code go as far as it can without time passing: microtasks, and one turn of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await Promise.resolve();
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<void>();
  port1.onmessage = () => resolve();
  port2.postMessage(undefined);
  await promise;
  port1.close();
  port2.close();
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await Promise.resolve();
}
