/**
 * Tells a store that failed from everything else that can go wrong.
 *
 * @module
 */

/** A run could not be written down. */
export class KeepingError extends Error {
  /** The class. */
  override readonly name = "KeepingError";
}

/**
 * Waits for a write; a failure becomes a {@linkcode KeepingError}.
 *
 * @param write The write.
 * @returns What it gave.
 * @throws {KeepingError} If the storage failed.
 */
export async function keeping<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeepingError(`Cannot keep a run: ${why}`, { cause });
  }
}
