/**
 * How many calls run at once.
 *
 * @module
 */

/** How many calls run at once. */
export const MAX_RUNNING_CALLS = 64;
/** How many more wait for their turn. */
export const MAX_WAITING_CALLS = 1_024;

/** What a queue needs. */
export interface CallQueueOptions {
  /** Whether the results of calls do not get away fast enough, so that no further one should begin. */
  readonly isCongested: () => boolean;
  /** Settles when that is over. */
  readonly relieved: () => Promise<void>;
}

/** Lets calls begin in the order in which they came. */
export class CallQueue {
  readonly #options: CallQueueOptions;
  #running = 0;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => Promise<void>>();
  #isRefilling = false;

  /**
   * Starts empty.
   *
   * @param options When to hold back.
   */
  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /**
   * Takes a call, which begins at once or when others have ended.
   *
   * @param run Does the call; never rejects.
   * @param signal Takes the call back while it waits.
   * @returns Whether there was room.
   */
  add(run: () => Promise<void>, signal: AbortSignal): boolean {
    const mustWait = this.#running >= MAX_RUNNING_CALLS || this.#waiting.size > 0 ||
      this.#options.isCongested();
    if (!mustWait) {
      this.#begin(run);
      return true;
    }
    if (this.#waiting.size >= MAX_WAITING_CALLS) return false;
    this.#waiting.add(run);
    signal.addEventListener("abort", () => this.#waiting.delete(run), { once: true });
    if (this.#running < MAX_RUNNING_CALLS) this.#refill();
    return true;
  }

  #begin(run: () => Promise<void>): void {
    this.#running += 1;
    run().finally(() => {
      this.#running -= 1;
      this.#refill();
    });
  }

  async #refill(): Promise<void> {
    if (this.#isRefilling) return;
    this.#isRefilling = true;
    while (this.#running < MAX_RUNNING_CALLS) {
      if (this.#options.isCongested()) await this.#options.relieved();
      const [next] = this.#waiting;
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#begin(next);
    }
    this.#isRefilling = false;
  }
}
