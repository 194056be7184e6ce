/**
 * Linking of abort signals without leaving listeners behind.
 *
 * @module
 */

/** A signal that follows others, until it is let go. */
export interface LinkedSignal extends Disposable {
  /** Fires when one of the followed signals fires, with its reason, or by `abort`. */
  readonly signal: AbortSignal;
  /** Fires the signal. */
  abort(reason?: unknown): void;
}

/**
 * Follows signals. Unlike `AbortSignal.any`, nothing stays attached to a long-lived signal afterwards.
 *
 * @param sources The signals to follow; absent ones are skipped.
 * @returns The linked signal; its owner lets go of it with `using`.
 */
export function linkSignals(sources: Iterable<AbortSignal | undefined>): LinkedSignal {
  return new Link(sources);
}

/** Listens itself, for all sources: every request has several of these at once. */
class Link implements LinkedSignal, EventListenerObject {
  readonly #controller = new AbortController();
  readonly #followed: AbortSignal[] = [];

  constructor(sources: Iterable<AbortSignal | undefined>) {
    for (const source of sources) {
      if (source === undefined) continue;
      if (source.aborted) {
        this.#controller.abort(source.reason);
        this[Symbol.dispose]();
        return;
      }
      source.addEventListener("abort", this, ONCE);
      this.#followed.push(source);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  handleEvent(): void {
    this.#controller.abort(this.#followed.find((source) => source.aborted)?.reason);
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const source of this.#followed.splice(0)) source.removeEventListener("abort", this);
  }
}

const ONCE = { once: true } as const;

/**
 * Waits for work, but no longer than until a signal fires: then it rejects with the signal's reason, and what becomes of
 * the work is ignored.
 *
 * @param work What to wait for.
 * @param signal What ends the wait.
 * @returns What the work gives.
 */
export function raceSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const listener = (): void => reject(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, ONCE);
    const letGo = (): void => signal.removeEventListener("abort", listener);
    work.then((value) => {
      letGo();
      resolve(value);
    }, (error) => {
      letGo();
      reject(error);
    });
  });
}
