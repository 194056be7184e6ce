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
  #waiting: (() => Promise<void>)[] = [];
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
   * @returns Whether there was room.
   */
  add(run: () => Promise<void>): boolean {
    const mustWait = this.#running >= MAX_RUNNING_CALLS || this.#waiting.length > 0 ||
      this.#options.isCongested();
    if (!mustWait) {
      this.#begin(run);
      return true;
    }
    if (this.#waiting.length >= MAX_WAITING_CALLS) return false;
    this.#waiting.push(run);
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
    while (this.#waiting.length > 0 && this.#running < MAX_RUNNING_CALLS) {
      if (this.#options.isCongested()) await this.#options.relieved();
      const next = this.#waiting.shift();
      if (next !== undefined) this.#begin(next);
    }
    this.#isRefilling = false;
  }
}
