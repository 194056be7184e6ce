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
  const controller = new AbortController();
  const followed: [AbortSignal, () => void][] = [];
  const letGo = (): void => {
    for (const [source, listener] of followed.splice(0)) {
      source.removeEventListener("abort", listener);
    }
  };
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) {
      controller.abort(source.reason);
      break;
    }
    const listener = (): void => {
      controller.abort(source.reason);
      letGo();
    };
    source.addEventListener("abort", listener, { once: true });
    followed.push([source, listener]);
  }
  if (controller.signal.aborted) letGo();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: letGo,
  };
}

/**
 * Waits for work, but no longer than until a signal fires: then it rejects with the signal's reason, and what becomes of
 * the work is ignored.
 *
 * @param work What to wait for.
 * @param signal What ends the wait.
 * @returns What the work gives.
 */
export async function raceSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const listener = (): void => reject(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  work.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
