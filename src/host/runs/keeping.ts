/**
 * Tells a store that failed from everything else that can go wrong.
 *
 * @module
 */

/** A run could not be written down, or not be read. */
export class KeepingError extends Error {
  /** The class. */
  override readonly name = "KeepingError";
}

/**
 * Waits for the store; a failure becomes a {@linkcode KeepingError}.
 *
 * @param work What the store does.
 * @returns What it gave.
 * @throws {KeepingError} If the storage failed.
 */
export async function keeping<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeepingError(`Cannot keep a run: ${why}`, { cause });
  }
}
