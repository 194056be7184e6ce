/**
 * The checkpoint file beside a handle: held while the run goes on, so that nobody resumes the same run from it.
 *
 * @module
 */
import { kitVariable } from "../config/directories.ts";
import type { HostCore } from "../core.ts";
import type { Prepared } from "../prepare.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { FileError } from "../../ports/mod.ts";
import { type CheckpointRead, openCheckpoint } from "./checkpoint_file.ts";
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
} from "./checkpoint_place.ts";

/** A file that is held for a run. */
export interface HeldFile {
  /** Tells it from a refusal. */
  readonly kind: "held";
  /** Where the run is written from now on. */
  readonly place: CheckpointPlace;
  /** Ends the hold, if the run never starts. */
  release(): Promise<void>;
  /** Marks the file as spent, if it is there. */
  spend(run: SpentRun): Promise<void>;
  /** Makes the keeper of the run. */
  keeper(prepared: Prepared): Promise<CheckpointKeeper>;
}

/** What a file is held for. */
export interface HoldRequest {
  /** Names the run. */
  readonly runId: string;
  /** The file that was written when the run was suspended. */
  readonly before: string | undefined;
  /** The file that the call asks for. */
  readonly wanted: string | undefined;
}

/**
 * Takes hold of the file beside a handle.
 *
 * @param request Which file.
 * @param parts The host and its runs.
 * @returns The file; `undefined` where there is none, or where another run was written over it; a refusal if it is in
 * use, was resumed elsewhere, or holds another run that waits.
 */
export async function holdFile(
  request: HoldRequest,
  parts: PlaceParts,
): Promise<HeldFile | undefined | Refusal> {
  const { core } = parts;
  const { before, wanted, runId } = request;
  const named = wanted ?? before;
  if (named === undefined) return undefined;
  const place = await confinedPlace(named, core);
  if ("kind" in place) return place;
  const older = before === undefined || before === named
    ? place
    : await confinedPlace(before, core);
  const from = "kind" in older ? place : older;
  const isOwn = before !== undefined && from.path === place.path;
  const taken = isOwn ? undefined : await occupied(place, runId, parts);
  if (taken !== undefined) return taken;
  const { ports, version } = core.options;
  const lock = await holdPlaces([from, place], parts);
  if ("kind" in lock) return lock;
  const found = before === undefined ? undefined : await readFile(from.path, core);
  if (found !== undefined && isOfAnother(found, runId)) {
    await lock.release();
    ports.log.write("warning", `"${from.path}" is of another run by now; it is left alone`);
    return wanted === undefined
      ? undefined
      : await holdFile({ ...request, before: undefined }, parts);
  }
  if (found?.kind === "spent") {
    await lock.release();
    return refuse("already-resumed", [`The run was resumed from its file "${from.shown}"`]);
  }
  // Again, now that it is held: another run may have been written there since the first look.
  const late = isOwn ? undefined : await occupied(place, runId, parts);
  if (late !== undefined) {
    await lock.release();
    return late;
  }
  const keeper = (prepared: Prepared): Promise<CheckpointKeeper> =>
    keepCheckpoint({
      runId,
      ...place,
      from: from.path === place.path ? undefined : from.path,
      lock,
      isOccupied: isOwn ? undefined : async () => await occupied(place, runId, parts) !== undefined,
      acknowledged: before !== undefined,
      prepared,
      isHandle: false,
      key: kitVariable(ports.env, "STATE_KEY"),
      version: version ?? "0",
      ports,
    });
  const spend = async (run: SpentRun): Promise<void> => {
    if (found?.kind === "checkpoint") await writeSpent(from.path, run, ports);
  };
  return { kind: "held", place, release: () => lock.release(), spend, keeper };
}

/** What names no run, or is damaged, is taken for the run's own. */
function isOfAnother(read: CheckpointRead, runId: string): boolean {
  if (read.kind === "bad") return false;
  const owner = read.kind === "spent" ? read.runId : read.checkpoint.run_id;
  return owner !== undefined && owner !== runId;
}

async function readFile(path: string, core: HostCore): Promise<CheckpointRead | undefined> {
  const { ports } = core.options;
  try {
    const text = await ports.files.readText(path);
    return await openCheckpoint(text, kitVariable(ports.env, "STATE_KEY"));
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
