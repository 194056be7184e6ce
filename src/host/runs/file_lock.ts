/**
 * Holds a file for one process: a file beside it, made exclusively, that says until when. A holder that died is
 * succeeded when its time is over, by exactly one of those who wait.
 *
 * @module
 */
import { FileError, type Ports } from "../../ports/mod.ts";

/** How long a hold lasts that is not renewed, in milliseconds. */
export const FILE_LEASE_MS = 30_000;

/** A hold on a file. */
export interface FileLock {
  /** Says that the holder lives. `false` if the hold is another's by now: who slept longer than the lease has lost it. */
  renew(): Promise<boolean>;
  /** Ends the hold, if it is still this one; later calls do nothing. */
  release(): Promise<void>;
}

/** Most successors of dead successors that are looked through for one hold. */
const MAX_TURNS = 4;

/**
 * Takes hold of a file.
 *
 * @param path The file; the hold is beside it, under the same name and `.lock`.
 * @param holder Who takes it.
 * @param ports Files and wall time.
 * @returns The hold, or `undefined` while another one lives.
 */
export async function lockFile(
  path: string,
  holder: string,
  ports: Pick<Ports, "files" | "clock">,
): Promise<FileLock | undefined> {
  const { files, clock } = ports;
  const lock = `${path}.lock`;
  const text = (): string => JSON.stringify({ holder, until: clock.now() + FILE_LEASE_MS });
  let written = text();
  const taken = acquire(lock, { text: written, ports, turns: MAX_TURNS });
  if (!await taken.catch((error: unknown) => blame(path, error))) return undefined;
  let held = true;
  const isOwn = async (): Promise<boolean> => held &&= await textOf(lock, files) === written;
  const renew = async (): Promise<boolean> => {
    if (!await isOwn()) return false;
    const next = text();
    await files.writeAtomic(lock, next);
    written = next;
    return true;
  };
  const release = async (): Promise<void> => {
    if (await isOwn()) await files.remove(lock);
    held = false;
  };
  // One after the other, since each compares the file with what the one before it wrote.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
  return { renew: () => inTurn(renew), release: () => inTurn(release) };
}

/**
 * Makes one hold of several.
 *
 * @param locks The holds.
 * @returns A hold that is lost with any of them.
 */
export function joinLocks(locks: readonly FileLock[]): FileLock {
  return {
    async renew(): Promise<boolean> {
      const renewed = await Promise.all(locks.map((lock) => lock.renew()));
      return renewed.every((still) => still);
    },
    async release(): Promise<void> {
      const released = await Promise.allSettled(locks.map((lock) => lock.release()));
      for (const one of released) if (one.status === "rejected") throw one.reason;
    },
  };
}

/** Names the file that was asked for instead of the hold beside it, which nobody knows of. */
function blame(path: string, error: unknown): never {
  if (error instanceof FileError) throw new FileError(error.failure, path, { cause: error });
  throw error;
}

/** Makes the file of a hold, or takes it over from one who died. */
async function acquire(
  lock: string,
  { text, ports, turns }: {
    readonly text: string;
    readonly ports: Pick<Ports, "files" | "clock">;
    readonly turns: number;
  },
): Promise<boolean> {
  const { files } = ports;
  if (await create(files, lock, text)) return true;
  const dead = await deadHold(lock, ports);
  if (dead === undefined || turns === 0) return false;
  // Only one of several successors can make this file, named after the hold that is over; it may die in the middle too.
  const turn = `${lock}.${dead}`;
  if (!await acquire(turn, { text, ports, turns: turns - 1 })) return false;
  // Another successor may have been through since the hold was read.
  const still = await deadHold(lock, ports) === dead;
  if (still) await files.writeAtomic(lock, text);
  await files.remove(turn);
  return still;
}

async function textOf(path: string, files: Ports["files"]): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (error instanceof FileError && error.failure === "not-found") return undefined;
    throw error;
  }
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
