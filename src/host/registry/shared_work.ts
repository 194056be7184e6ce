/**
 * Work that several callers share without any of them getting what is older than its question.
 *
 * @module
 */

/** Work under way under one key, and the one that begins after it. */
interface Slot<T> {
  readonly running: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Does work by key, once for all who ask before it begins.
 *
 * Who asks while it is under way shares the next one, which begins when this one is over: what the work sees has to be
 * as new as the question. So of many who ask at once, at most two rounds are done.
 */
export class SharedWork<T> {
  readonly #work: (key: string) => Promise<T>;
  /** Only what is under way, so never more than there are callers. */
  readonly #slots = new Map<string, Slot<T>>();

  /** Makes it. `work`: what is shared. */
  constructor(work: (key: string) => Promise<T>) {
    this.#work = work;
  }

  /**
   * Gives what the work gives that begins now or later, never earlier.
   *
   * @param key What the work is of.
   * @returns What it gave; rejects as it does.
   */
  ask(key: string): Promise<T> {
    const slot = this.#slots.get(key);
    if (slot === undefined) return this.#begin(key);
    const begin = (): Promise<T> => this.#begin(key);
    return slot.next ??= slot.running.then(begin, begin);
  }

  #begin(key: string): Promise<T> {
    const slot: Slot<T> = { running: this.#work(key), next: undefined };
    this.#slots.set(key, slot);
    const over = (): void => {
      if (slot.next === undefined) this.#slots.delete(key);
    };
    slot.running.then(over, over);
    return slot.running;
  }
}
