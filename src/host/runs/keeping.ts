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
    if (cause instanceof LostHoldError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeepingError(`Cannot keep a run: ${why}`, { cause });
  }
}

/** Why a run ends here whose hold was lost. */
export const TAKEN_OVER = "the run was taken over by another process";

/** Another process holds the run: nothing of it may be written, or done, here any more. */
export class LostHoldError extends Error {
  /** The class. */
  override readonly name = "LostHoldError";
  /** Makes an error. */
  constructor() {
    super(TAKEN_OVER);
  }
}

/** What a result says that has a handle, but not the file beside it. */
export const FILE_FAILED = "the checkpoint file could not be written: go on with the handle";
