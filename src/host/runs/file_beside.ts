/**
 * The checkpoint file beside a handle: held while the run goes on, so that nobody resumes the same run from it.
 *
 * @module
 */
import { kitVariable } from "../config/directories.ts";
import type { HostCore } from "../core.ts";
import { joinPath } from "../paths.ts";
import type { Prepared } from "../prepare.ts";
import { type Refusal, refuse } from "../refusal.ts";
import type { RunRecord } from "../store.ts";
import type { CheckpointRead } from "./checkpoint_file.ts";
import {
  type CheckpointKeeper,
  keepCheckpoint,
  type SpentRun,
  writeSpent,
} from "./checkpoint_keeper.ts";
import {
  type CheckpointPlace,
  confinedPlace,
  holdPlaces,
  occupied,
  type PlaceParts,
  readPlace,
} from "./checkpoint_place.ts";
import { ageOfFile, suspensionOf } from "./file_age.ts";
import type { FileLock } from "./file_lock.ts";
import type { SavedRun } from "./saved_run.ts";

/** A file that is held for a run. */
export interface HeldFile {
  /** Tells it from a refusal. */
  readonly kind: "held";
  /** Where the run is written from now on. */
  readonly place: CheckpointPlace;
  /** Which suspension the file was written for, if any: SHA-256 of its handle, in hex. */
  readonly suspension: string | undefined;
  /** Sentences. */
  readonly warnings: readonly string[];
  /** Ends the hold, if the run never starts. */
  release(): Promise<void>;
  /** Marks the file as spent, if it is there. */
  spend(run: SpentRun): Promise<void>;
  /** Makes the keeper of the run. */
  keeper(prepared: Prepared): Promise<CheckpointKeeper>;
}

/** A file that is left as it is: the run goes on by its handle alone. */
export interface LeftFile {
  /** Tells it from a refusal. */
  readonly kind: "left";
  /** Sentences that say why. */
  readonly warnings: readonly string[];
}

/** What a file is held for. */
export interface HoldRequest {
  /** The run as it was kept; it names the file that was written when the run was suspended. */
  readonly saved: SavedRun;
  /** Its record as it was while suspended, with its handle. */
  readonly record: RunRecord;
  /** The file that the call asks for. */
  readonly wanted: string | undefined;
}

/** Places of one run. */
interface Places {
  /** Where it was written when it was suspended; `undefined` for nowhere that matters. */
  readonly from: CheckpointPlace | undefined;
  /** Where it is written from now on. */
  readonly place: CheckpointPlace;
  readonly warnings: readonly string[];
}

/**
 * Takes hold of the file beside a handle.
 *
 * @param request Which file.
 * @param parts The host and its runs.
 * @returns The file; `undefined` where there is none; `left` where the door may not name it, or where something else was
 * written over it; a refusal if it is in use, was resumed elsewhere, or the wanted one is taken.
 */
export async function holdFile(
  request: HoldRequest,
  parts: PlaceParts,
): Promise<HeldFile | LeftFile | undefined | Refusal> {
  const { saved, wanted } = request;
  const before = await placeBefore(saved, parts.core);
  const isClosed = before !== undefined && "kind" in before;
  const from = isClosed ? undefined : before;
  const warnings = isClosed ? [leftAlone(saved.checkpoint_file ?? "", "cannot be used here")] : [];
  if (wanted === undefined) {
    if (from !== undefined) return await holdAt({ from, place: from, warnings }, request, parts);
    return isClosed ? { kind: "left", warnings } : undefined;
  }
  const place = await confinedPlace(wanted, parts.core);
  return "kind" in place ? place : await holdAt({ from, place, warnings }, request, parts);
}

async function holdAt(
  places: Places,
  request: HoldRequest,
  parts: PlaceParts,
): Promise<HeldFile | LeftFile | Refusal> {
  const { from, place } = places;
  const taken = await inTheWay(places, request, parts);
  if (taken !== undefined) return taken;
  const lock = await holdPlaces(from === undefined ? [place] : [from, place], parts);
  if ("kind" in lock) return lock;
  let judged: HeldFile | LeftFile | Refusal | undefined;
  try {
    judged = await judge({ ...places, lock }, request, parts);
  } finally {
    if (judged?.kind !== "held") await lock.release();
  }
  if (judged.kind !== "left" || request.wanted === undefined) return judged;
  return await holdAt({ from: undefined, place, warnings: judged.warnings }, request, parts);
}

/** What is at the place, now that it is held: another run may have been written there since the first look. */
async function judge(
  held: Places & { readonly lock: FileLock },
  request: HoldRequest,
  parts: PlaceParts,
): Promise<HeldFile | LeftFile | Refusal> {
  const { from, place, lock, warnings } = held;
  const { saved, record } = request;
  const { core, supervisor } = parts;
  const found = from && await readPlace(from.path, core);
  if (from !== undefined && found !== undefined && isOfAnother(found, saved.run_id)) {
    const what = found.kind === "foreign" ? "is no checkpoint" : "is of another run";
    return { kind: "left", warnings: [...warnings, leftAlone(from.shown, `${what} by now`)] };
  }
  const durable = (await supervisor.store()).durable;
  const goneOn = found?.kind === "spent" ||
    (found?.kind === "checkpoint" &&
      await ageOfFile(found.checkpoint, { saved, record, durable }) === "later");
  if (goneOn) {
    return refuse("already-resumed", [`The run was resumed from its file "${from?.shown}"`]);
  }
  const late = await inTheWay(held, request, parts);
  if (late !== undefined) return late;
  return {
    kind: "held",
    place,
    suspension: found?.kind === "checkpoint" ? suspensionOf(found.checkpoint) : undefined,
    warnings,
    release: () => lock.release(),
    async spend(run): Promise<void> {
      if (from === undefined || found?.kind !== "checkpoint") return;
      await writeSpent(from.path, run, core.options.ports);
    },
    keeper: (prepared) => makeKeeper(held, { prepared, runId: saved.run_id, parts }),
  };
}

/** What keeps the run from a place that is not its own yet. */
async function inTheWay(
  { from, place }: Places,
  { saved }: HoldRequest,
  parts: PlaceParts,
): Promise<Refusal | undefined> {
  return from?.path === place.path ? undefined : await occupied(place, saved.run_id, parts);
}

function makeKeeper(
  { from, place, lock }: Places & { readonly lock: FileLock },
  { prepared, runId, parts }: {
    readonly prepared: Prepared;
    readonly runId: string;
    readonly parts: PlaceParts;
  },
): Promise<CheckpointKeeper> {
  const { ports, version } = parts.core.options;
  const isOwn = from?.path === place.path;
  return keepCheckpoint({
    runId,
    ...place,
    from: isOwn ? undefined : from?.path,
    lock,
    isOccupied: isOwn ? undefined : async () => await occupied(place, runId, parts) !== undefined,
    acknowledged: from !== undefined,
    prepared,
    isHandle: false,
    key: kitVariable(ports.env, "STATE_KEY"),
    version: version ?? "0",
    ports,
  });
}

/** The file of the suspension, wherever the process is that resumes it; a refusal where the door may not name it. */
async function placeBefore(
  { checkpoint_file: shown, checkpoint_path: path }: SavedRun,
  core: HostCore,
): Promise<CheckpointPlace | undefined | Refusal> {
  if (shown === null) return undefined;
  const place = await confinedPlace(path ?? shown, core);
  if ("kind" in place) return place;
  const again = await confinedPlace(shown, core);
  const isSame = !("kind" in again) && again.path === place.path;
  return isSame ? again : { path: place.path, shown: await nameHere(place.path, core) };
}

/** A path as a call to this process would write it; over MCP nothing above the directory of checkpoints is told. */
async function nameHere(path: string, { options }: HostCore): Promise<string> {
  const { door, ports, checkpointDirectory } = options;
  if (door !== "mcp" || checkpointDirectory === undefined) return path;
  const root = await ports.files.realPath(checkpointDirectory);
  return path.slice(joinPath(root, "x").length - 1);
}

function leftAlone(shown: string, why: string): string {
  return `"${shown}" ${why}: it is left alone, and the run goes on by its handle`;
}

/** What names no run, or is damaged, is taken for the run's own. */
function isOfAnother(read: CheckpointRead | { readonly kind: "foreign" }, runId: string): boolean {
  if (read.kind === "foreign") return true;
  if (read.kind === "bad") return false;
  const owner = read.kind === "spent" ? read.runId : read.checkpoint.run_id;
  return owner !== undefined && owner !== runId;
}
