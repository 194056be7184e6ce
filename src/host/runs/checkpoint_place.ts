/**
 * Where a checkpoint is written, and whether it may be: never over a file that is none, and never over the suspension of
 * another run that still waits.
 *
 * @module
 */
import { FileError } from "../../ports/mod.ts";
import { kitVariable } from "../config/directories.ts";
import { confineCheckpoint } from "../confine.ts";
import type { HostCore } from "../core.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { type CheckpointRead, isCheckpointText, openCheckpoint } from "./checkpoint_file.ts";
import { MAX_CHECKPOINT_BYTES } from "./checkpoint_keeper.ts";
import { type FileLock, joinLocks, lockFile } from "./file_lock.ts";
import { isHandle } from "./handles.ts";
import { keeping } from "./keeping.ts";
import type { RunSupervisor } from "./run_supervisor.ts";

/** Most characters of a path that a sentence quotes. */
const MAX_SHOWN_PATH = 200;

/** Said where the operator's directory is missing; over MCP no path is told that the call did not name. */
export const NO_DIRECTORY =
  "the directory of --checkpoint-dir does not exist: make it, or start Kit with another one";

/** Where a checkpoint is written. */
export interface CheckpointPlace {
  /** Absolute, links resolved. */
  readonly path: string;
  /** As the call wrote it. */
  readonly shown: string;
}

/** What a place is judged by. */
export interface PlaceParts {
  /** The host. */
  readonly core: HostCore;
  /** Its runs. */
  readonly supervisor: RunSupervisor;
}

/**
 * Finds where a checkpoint is to be written, without a look at what is there.
 *
 * @param path As a call names it.
 * @param core The host.
 * @returns The place, or a refusal where the door may not name it.
 */
export async function confinedPlace(
  path: string,
  core: HostCore,
): Promise<CheckpointPlace | Refusal> {
  const place = await confineCheckpoint(path, core.options);
  if (place.kind === "file") return { path: place.path, shown: path };
  if (place.kind === "absent") return refuse("invalid-request", [NO_DIRECTORY]);
  return refuse("invalid-request", [
    core.options.checkpointDirectory === undefined && core.options.door === "mcp"
      ? "checkpoint files are not open to calls: start Kit with --checkpoint-dir DIR, or use the handle"
      : `${quoted(path)} is not in the checkpoint directory`,
  ]);
}

/**
 * Tells what keeps a run from writing to a place.
 *
 * What is not there, is spent, or is the run's own may be written, and so may the file of a run that has ended since.
 *
 * @param place Where.
 * @param runId The run; `undefined` for one that has no name yet.
 * @param parts The host and its runs.
 * @returns `invalid-request` with what to do, or `undefined` where nothing is in the way.
 */
export async function occupied(
  place: CheckpointPlace,
  runId: string | undefined,
  parts: PlaceParts,
): Promise<Refusal | undefined> {
  const found = await readPlace(place.path, parts.core);
  const name = quoted(place.shown);
  if (found === undefined || found.kind === "spent") return undefined;
  if (found.kind === "foreign") {
    return refuse("invalid-request", [
      `${name} exists and is no checkpoint; it is not written over`,
    ]);
  }
  if (found.kind === "bad") {
    const next = "it is not written over: remove it, or name another file";
    return refuse("invalid-request", [
      `${name} exists and is a checkpoint that cannot be read (${found.message}); ${next}`,
    ]);
  }
  const { run_id: owner, machine } = found.checkpoint;
  if (owner !== undefined && (owner === runId || await hasEnded(owner, parts))) return undefined;
  const whose = owner === undefined ? "a run" : `run ${owner}`;
  return refuse("invalid-request", [
    `${name} holds ${whose} of machine "${machine}", which still waits: resume it, remove the file, ` +
    "or name another one",
  ]);
}

/**
 * Takes hold of places, all or none.
 *
 * @param places Where; equal paths count once.
 * @param parts The host and its runs.
 * @returns The hold on all of them, or `busy` with the one that is another's.
 */
export async function holdPlaces(
  places: readonly CheckpointPlace[],
  { core, supervisor }: PlaceParts,
): Promise<FileLock | Refusal> {
  const held = new Map<string, FileLock>();
  let complete = false;
  const all = (): FileLock => joinLocks([...held.values()]);
  try {
    for (const { path, shown } of places) {
      if (held.has(path)) continue;
      const lock = await lockFile(path, supervisor.holder, core.options.ports);
      if (lock === undefined) return refuse("busy", [`${quoted(shown)} is in use by another run`]);
      held.set(path, lock);
    }
    complete = true;
    return all();
  } finally {
    if (!complete) await all().release();
  }
}

/**
 * Reads what is at a place.
 *
 * @param path Absolute.
 * @param core The host.
 * @returns The checkpoint, `foreign` for what is none or cannot be read, `undefined` if nothing is there.
 */
export async function readPlace(
  path: string,
  { options }: HostCore,
): Promise<CheckpointRead | { readonly kind: "foreign" } | undefined> {
  const { ports } = options;
  const there = await ports.files.lstat(path);
  if (there === undefined) return undefined;
  if (there.kind !== "file" || there.size > MAX_CHECKPOINT_BYTES) return { kind: "foreign" };
  try {
    const text = await ports.files.readText(path);
    if (!isCheckpointText(text)) return { kind: "foreign" };
    return await openCheckpoint(text, kitVariable(ports.env, "STATE_KEY"));
  } catch (error) {
    if (error instanceof FileError) return { kind: "foreign" };
    throw error;
  }
}

/** Whether the store says that nobody waits for the run any more, though its file was not marked. */
async function hasEnded(runId: string, { supervisor }: PlaceParts): Promise<boolean> {
  if (!isHandle(runId)) return false;
  const record = await keeping((await supervisor.store()).look(runId));
  return record?.phase === "finished";
}

function quoted(path: string): string {
  return `"${path.slice(0, MAX_SHOWN_PATH)}"`;
}
