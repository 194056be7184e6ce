/**
 * Holds a file for one process: a file beside it, made exclusively, that says until when. A holder that died is
 * succeeded when its time is over, by exactly one of those who wait.
 *
 * @module
 */
import { FileError, type Ports } from "../../ports/mod.ts";

/** How long a hold lasts that is not renewed, in milliseconds. */
export const FILE_LEASE_MS = 30_000;

/** A file that is held. */
export interface FileLock {
  /** Says that the holder lives. */
  renew(): Promise<void>;
  /** Ends the hold; later calls do nothing. */
  release(): Promise<void>;
}

/**
 * Takes hold of a file.
 *
 * @param path The file.
 * @param holder The process.
 * @param ports Files and wall time.
 * @returns The hold, or `undefined` if somebody else has it.
 */
export async function lockFile(
  path: string,
  holder: string,
  ports: Pick<Ports, "files" | "clock">,
): Promise<FileLock | undefined> {
  const { files, clock } = ports;
  const lock = `${path}.lock`;
  const text = (): string => JSON.stringify({ holder, until: clock.now() + FILE_LEASE_MS });
  if (!await create(files, lock, text())) {
    const dead = await deadHold(lock, ports);
    if (dead === undefined) return undefined;
    // Only one of several successors can make this file; it is named after the hold that is over.
    const turn = `${lock}.${dead}`;
    if (!await create(files, turn, holder)) return undefined;
    await files.writeAtomic(lock, text());
    await files.remove(turn);
  }
  let held = true;
  return {
    async renew(): Promise<void> {
      if (held) await files.writeAtomic(lock, text());
    },
    async release(): Promise<void> {
      if (!held) return;
      held = false;
      await files.remove(lock);
    },
  };
}

async function create(files: Ports["files"], path: string, text: string): Promise<boolean> {
  try {
    await files.writeAtomic(path, text, { exclusive: true });
    return true;
  } catch (error) {
    if (error instanceof FileError && error.failure === "exists") return false;
    throw error;
  }
}

/** When the hold of a dead holder ended, as a name; `undefined` if it still lasts. */
async function deadHold(
  lock: string,
  { files, clock }: Pick<Ports, "files" | "clock">,
): Promise<string | undefined> {
  let until = NaN;
  try {
    const value: unknown = JSON.parse(await files.readText(lock));
    const found: unknown = typeof value === "object" && value !== null
      ? Reflect.get(value, "until")
      : undefined;
    if (typeof found === "number") until = found;
  } catch (error) {
    if (error instanceof FileError && error.failure === "not-found") return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (Number.isFinite(until)) return until <= clock.now() ? String(until) : undefined;
  const status = await files.stat(lock);
  const since = status?.modifiedMs;
  return since !== undefined && since + FILE_LEASE_MS <= clock.now() ? String(since) : undefined;
}
