/**
 * A limiter: so many requests at once, so many a second, first come first served.
 *
 * @module
 */
import { ambientPorts, type Clock } from "../ports/mod.ts";
import { AbortedError, ConfigError } from "./errors.ts";
import type { Limiter } from "./limiter.ts";

/** What a limiter is made with. */
export interface LimiterOptions {
  /** Most requests at once, an integer of at least 1; default no bound. */
  readonly concurrency?: number;
  /** Requests a second in the long run, above 0; default no bound, but ten a second for those a penalty held up. */
  readonly ratePerSecond?: number;
  /** Requests that may leave at once after a quiet time, at least 1; default 1. */
  readonly capacity?: number;
  /** Time; default the ambient clock. */
  readonly clock?: Clock;
}

const SECOND_MS = 1000;

/** Requests a second for those whom a penalty held up, where no rate is set. */
const PENALTY_RATE = 10;

/**
 * Makes a limiter.
 *
 * After a penalty it starts from nothing: those who wait leave one by one at the sustained rate, not all at once.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createLimiter({ concurrency: 1 });
 * let running = 0;
 * let most = 0;
 * await Promise.all([1, 2, 3].map(async () => {
 *   using _turn = await limiter.acquire();
 *   most = Math.max(most, ++running);
 *   await Promise.resolve();
 *   running -= 1;
 * }));
 * assertEquals(most, 1);
 * ```
 *
 * @param options Its bounds.
 * @returns The limiter; all who share an endpoint share it.
 * @throws {ConfigError} If a bound is out of its range; code `argument`.
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  return new Bucket(options);
}

interface Waiter {
  readonly grant: () => void;
}

class Bucket implements Limiter {
  readonly #concurrency: number;
  readonly #rate: number;
  readonly #capacity: number;
  readonly #clock: Clock | undefined;
  readonly #waiters: Set<Waiter> = new Set();
  #running = 0;
  #tokens: number;
  #refilledAt: number | undefined;
  #penaltyUntil = 0;
  #pacedUntilEmpty = false;
  #alarm: AbortController | undefined;

  constructor(options: LimiterOptions) {
    this.#concurrency = options.concurrency ?? Infinity;
    this.#rate = options.ratePerSecond ?? Infinity;
    this.#capacity = options.capacity ?? 1;
    this.#clock = options.clock;
    this.#tokens = this.#capacity;
    if (!(this.#concurrency >= 1)) throw outOfRange("concurrency", this.#concurrency);
    if (!(this.#rate > 0)) throw outOfRange("ratePerSecond", this.#rate);
    if (!(this.#capacity >= 1 && Number.isFinite(this.#capacity))) {
      throw outOfRange("capacity", this.#capacity);
    }
  }

  acquire(options: { readonly signal?: AbortSignal } = {}): Promise<Disposable> {
    const { signal } = options;
    if (signal?.aborted) {
      return Promise.reject(new AbortedError(undefined, { cause: signal.reason }));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const leave = (): void => {
      this.#waiters.delete(waiter);
      reject(new AbortedError(undefined, { cause: signal?.reason }));
      this.#serve();
    };
    const waiter: Waiter = {
      grant: () => {
        signal?.removeEventListener("abort", leave);
        resolve(this.#turn());
      },
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiters.add(waiter);
    this.#serve();
    return promise;
  }

  penalize(ms: number): void {
    if (!Number.isFinite(ms)) return;
    const now = this.#now();
    this.#penaltyUntil = Math.max(this.#penaltyUntil, now + Math.max(0, ms));
    this.#tokens = 0;
    this.#refilledAt = this.#penaltyUntil;
    this.#pacedUntilEmpty = true;
    this.#alarm?.abort();
    this.#alarm = undefined;
    this.#serve();
  }

  #turn(): Disposable {
    this.#running += 1;
    let over = false;
    return {
      [Symbol.dispose]: () => {
        if (over) return;
        over = true;
        this.#running -= 1;
        this.#serve();
      },
    };
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      if (this.#running >= this.#concurrency) return;
      const waitMs = this.#waitMs();
      if (waitMs > 0) return this.#wakeIn(waitMs);
      this.#waiters.delete(waiter);
      if (this.#isPaced()) this.#tokens -= 1;
      waiter.grant();
    }
    if (this.#pacedUntilEmpty && this.#now() >= this.#penaltyUntil) this.#pacedUntilEmpty = false;
  }

  /** Whether tokens count: always with a rate, else only while a queue drains after a penalty. */
  #isPaced(): boolean {
    return this.#rate !== Infinity || this.#pacedUntilEmpty;
  }

  #waitMs(): number {
    if (!this.#isPaced()) return 0;
    const now = this.#now();
    if (now < this.#penaltyUntil) return this.#penaltyUntil - now;
    const rate = this.#rate === Infinity ? PENALTY_RATE : this.#rate;
    const since = Math.max(0, now - (this.#refilledAt ?? now));
    this.#tokens = Math.min(this.#capacity, this.#tokens + since * rate / SECOND_MS);
    this.#refilledAt = now;
    return this.#tokens >= 1 - ROUNDING ? 0 : Math.ceil((1 - this.#tokens) / rate * SECOND_MS);
  }

  #wakeIn(ms: number): void {
    if (this.#alarm !== undefined) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#ports().sleep(ms, { signal: alarm.signal }).then(() => {
      if (this.#alarm === alarm) this.#alarm = undefined;
      this.#serve();
    }, () => {});
  }

  #now(): number {
    return this.#ports().monotonic();
  }

  #ports(): Clock {
    return this.#clock ?? ambientPorts().clock;
  }
}

/** Tokens are sums of fractions: one is whole within this. */
const ROUNDING = 1e-9;

function outOfRange(field: string, found: number): ConfigError {
  return new ConfigError(`Cannot make a limiter: ${field} is ${found}, which is out of range`, {
    code: "argument",
  });
}
