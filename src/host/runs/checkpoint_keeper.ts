/**
 * Keeps one run in one checkpoint file: writes it at suspensions and around effects, and marks it spent when it was
 * resumed, so that nothing is resumed twice.
 *
 * @module
 */
import type { JsonObject } from "../../json/mod.ts";
import { type Checkpoint, fingerprintMachine } from "../../machine/mod.ts";
import { FileError, type Ports } from "../../ports/mod.ts";
import type { Prepared } from "../prepare.ts";
import { INLINE_PATH } from "../target.ts";
import { isCheckpointText, sealCheckpoint, spentText } from "./checkpoint_file.ts";
import type { FileLock } from "./file_lock.ts";
import { LostHoldError } from "./keeping.ts";
import { sha256 } from "./handles.ts";
import type { SavedRun } from "./saved_run.ts";

/** Most bytes of a checkpoint file that is read. */
export const MAX_CHECKPOINT_BYTES = 67_108_864;

/** Keeps one run in one file. */
export interface CheckpointKeeper {
  /** The file. */
  readonly path: string;
  /** Whether the file is all there is: no handle outlives the process. */
  readonly isHandle: boolean;
  /**
   * Writes the run; the old or the new text is there at any moment. Gives the path as the call wrote it. Throws
   * {@linkcode LostHoldError} if the file is another's by now, {@linkcode FileError} if it cannot be written or holds
   * what somebody else put there.
   */
  write(saved: SavedRun, suspension?: string): Promise<string>;
  /** Says that the holder lives; `false` if the file is another's by now. */
  renew(): Promise<boolean>;
  /** The run is over: what was resumed is marked as spent, what was only kept is removed. */
  spend(status: string): Promise<void>;
  /** The run waits again; others may take it. */
  handOver(): Promise<void>;
  /** Ends the hold on the file, if it is still the run's, and leaves the file as it is; later calls do nothing. */
  release(): Promise<void>;
}

/** What a keeper is made from. */
export interface KeeperOptions {
  /** Names the run. */
  readonly runId: string;
  /** Where the run is written from now on. */
  readonly path: string;
  /** The same as the call wrote it, for results. */
  readonly shown: string;
  /** The file that it was resumed from, where that is another one. */
  readonly from: string | undefined;
  /** The hold on the file, and on {@linkcode KeeperOptions.from}. */
  readonly lock: FileLock;
  /** Whether something is in the way at a place that is not the run's own yet; asked before the first write. */
  readonly isOccupied: (() => Promise<boolean>) | undefined;
  /** Whether the file was given to somebody as a suspension, so that it must say when it is spent. */
  readonly acknowledged: boolean;
  /** What was prepared. */
  readonly prepared: Prepared;
  /** Whether the file is all there is. */
  readonly isHandle: boolean;
  /** The secret of `KIT_STATE_KEY`. */
  readonly key: string | undefined;
  /** The version that is named. */
  readonly version: string;
  /** Files and wall time. */
  readonly ports: Pick<Ports, "files" | "clock">;
}

/**
 * Makes a keeper. Writes nothing yet.
 *
 * @param options Where and what.
 * @returns The keeper.
 */
export async function keepCheckpoint(options: KeeperOptions): Promise<CheckpointKeeper> {
  const { path, from, lock, ports, isHandle, acknowledged } = options;
  const { machine, origin } = options.prepared;
  const told = { runId: options.runId, machine: machine.name };
  const fingerprint = await fingerprintMachine(machine);
  const digest = origin.file === undefined ? null : await sha256(origin.source);
  let written = false;
  return {
    path,
    isHandle,
    async write(saved, suspension): Promise<string> {
      const content = checkpointOf(saved, { options, fingerprint, digest, suspension });
      if (!await lock.renew()) throw new LostHoldError();
      if (!written && await options.isOccupied?.() === true) throw new FileError("exists", path);
      if (await isForeign(path, ports)) throw new FileError("exists", path);
      await ports.files.writeAtomic(path, await sealCheckpoint(content, options.key), {
        mode: 0o600,
      });
      written = true;
      return options.shown;
    },
    renew: () => lock.renew(),
    async spend(status): Promise<void> {
      if (!await lock.renew()) return;
      const spent = acknowledged ? from ?? path : undefined;
      if (spent !== undefined) await writeSpent(spent, { ...told, status }, ports);
      if (written && path !== spent && !await isForeign(path, ports)) {
        await ports.files.remove(path);
      }
      await lock.release();
    },
    async handOver(): Promise<void> {
      const moved = acknowledged && from !== undefined && from !== path && written;
      if (moved && await lock.renew()) {
        await writeSpent(from, { ...told, status: "suspended" }, ports);
      }
      await lock.release();
    },
    release: () => lock.release(),
  };
}

function checkpointOf(
  saved: SavedRun,
  { options, fingerprint, digest, suspension }: {
    readonly options: KeeperOptions;
    readonly fingerprint: string;
    readonly digest: string | null;
    readonly suspension: string | undefined;
  },
): Checkpoint {
  const { origin } = options.prepared;
  const metadata: JsonObject = {
    provider: saved.provider,
    ...(origin.file === undefined ? {} : { machine_file: origin.file }),
    ...(suspension === undefined ? {} : { suspension }),
    ...(saved.estimated_tokens === undefined ? {} : { estimated_tokens: saved.estimated_tokens }),
    ...(saved.effects.length === 0
      ? {}
      : { effects: saved.effects.map(({ tool, state }) => ({ tool, state })) }),
  };
  return {
    format: 1,
    mklang_version: `kit ${options.version}`,
    created: isoSeconds(options.ports.clock.now()),
    machine: saved.machine,
    machine_path: saved.machine_path,
    machine_sha256: digest,
    reason: saved.reason,
    cost_budget: saved.cost_budget,
    hitl: saved.hitl,
    frames: saved.frames,
    ...(saved.machine_path === INLINE_PATH ? { machine_source: saved.machine_source } : {}),
    metadata,
    run_id: saved.run_id,
    fingerprint,
    on_truncate: saved.on_truncate,
    on_untrusted_flow: saved.on_untrusted_flow,
  };
}

/** What a spent file says. */
export interface SpentRun {
  /** Names the run. */
  readonly runId: string;
  /** The machine's name. */
  readonly machine: string;
  /** How it ended. */
  readonly status: string;
}

/**
 * Marks a file as spent, so that nobody resumes it. What is no checkpoint any more is left alone.
 *
 * @param path The file.
 * @param spent What it says from now on.
 * @param ports Files and wall time.
 */
export async function writeSpent(
  path: string,
  spent: SpentRun,
  ports: Pick<Ports, "files" | "clock">,
): Promise<void> {
  if (await isForeign(path, ports)) return;
  const text = spentText({ ...spent, at: isoSeconds(ports.clock.now()) });
  await ports.files.writeAtomic(path, text, { mode: 0o600 });
}

/** Whether something that is no checkpoint was put there; what is gone may be written again. */
async function isForeign(path: string, { files }: Pick<Ports, "files">): Promise<boolean> {
  const there = await files.lstat(path);
  if (there === undefined) return false;
  if (there.kind !== "file" || there.size > MAX_CHECKPOINT_BYTES) return true;
  return !isCheckpointText(await files.readText(path));
}

/** UTC to the second, with the offset spelled as the reference spells it. */
function isoSeconds(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}+00:00`;
}
