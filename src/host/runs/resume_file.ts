/**
 * Resumes from a checkpoint file: one of Kit's, or one that the reference program wrote.
 *
 * @module
 */
import { isJsonObject, type JsonValue, member } from "../../json/mod.ts";
import { type Checkpoint, fingerprintMachine, type Frame } from "../../machine/mod.ts";
import { FileError } from "../../ports/mod.ts";
import { confirmation } from "../config/confirmation.ts";
import { kitVariable } from "../config/directories.ts";
import { confineCheckpoint } from "../confine.ts";
import { isAbsolutePath } from "../paths.ts";
import { prepare, type Prepared } from "../prepare.ts";
import { type Refusal, refuse, refuseModels } from "../refusal.ts";
import { createRunOracle } from "../run_oracle.ts";
import { INLINE_PATH } from "../target.ts";
import { type CheckpointRead, openCheckpoint } from "./checkpoint_file.ts";
import {
  type CheckpointKeeper,
  keepCheckpoint,
  MAX_CHECKPOINT_BYTES,
} from "./checkpoint_keeper.ts";
import {
  type CheckpointPlace,
  confinedPlace,
  holdPlaces,
  NO_DIRECTORY,
  occupied,
} from "./checkpoint_place.ts";
import type { RunAnswer, RunParts } from "./commission.ts";
import { ageOfFile, suspensionOf } from "./file_age.ts";
import type { FileLock } from "./file_lock.ts";
import { goOn } from "./go_on.ts";
import { isHandle, sha256 } from "./handles.ts";
import { keeping } from "./keeping.ts";
import { readEffectWord, stillWaits, withKnownEffects } from "./known_effect.ts";
import { LEASE_MS } from "./renewal.ts";
import { standing } from "./standing.ts";
import { savedReport } from "./report.ts";
import { injected, modelsAgain } from "./restore.ts";
import { nextSaved, replyVia, type Resuming } from "./resuming.ts";
import type { StartRun } from "./run_supervisor.ts";
import { reachableSources, readSavedRun, type SavedRun, type StartedEffect } from "./saved_run.ts";

/** Resumes by the handle of a suspension. */
export type ByHandle = (handle: string, resuming: Resuming) => Promise<RunAnswer>;

/**
 * Resumes from a file.
 *
 * @param given The file as the call names it.
 * @param resuming What is asked for.
 * @param byHandle Goes on with the record of the run, where that has gone on since the file was written.
 * @returns The run, or why it cannot go on; then the file is as it was.
 */
export async function resumeFile(
  given: string,
  resuming: Resuming,
  byHandle: ByHandle,
): Promise<RunAnswer> {
  const { request, parts } = resuming;
  const path = await existingFile(given, resuming);
  if (typeof path === "object") return path;
  const first = await readFile(path, resuming);
  if (first.kind !== "checkpoint") return readRefusal(first, given);
  const newer = await newerHandle(first.checkpoint, resuming);
  if (newer !== undefined) return await byHandle(newer, resuming);
  if (stillWaits(first.checkpoint.reason ?? "", request.inputs)) {
    const saved = savedFrom(first.checkpoint, first.frames, { path, shown: given });
    return { kind: "report", report: savedReport(saved, { checkpoint: given }), scripted: false };
  }
  const reserved = parts.supervisor.reserve();
  if ("kind" in reserved) return reserved;
  using slot = reserved;
  const place = await nextPlace({ path, shown: given }, first.checkpoint, resuming);
  if ("kind" in place) return place;
  const lock = await holdPlaces([{ path, shown: given }, place], parts);
  if ("kind" in lock) return lock;
  return await resumeLocked({ given, path, place, lock, slot }, resuming);
}

interface LockedFile {
  readonly given: string;
  readonly path: string;
  /** Where the run is written from now on: the same file, or another one. */
  readonly place: CheckpointPlace;
  readonly lock: FileLock;
  readonly slot: Disposable;
}

/** From here on the file is held; it is read again, since another process may have been first. */
async function resumeLocked(file: LockedFile, resuming: Resuming): Promise<RunAnswer> {
  const start = await startFromFile(file, resuming).catch(async (error: unknown) => {
    await file.lock.release();
    throw error;
  });
  if ("kind" in start) {
    await file.lock.release();
    return start;
  }
  return await goOn(start, resuming);
}

/** Prepares everything; the handle of the same suspension is claimed only when nothing can fail any more. */
async function startFromFile(file: LockedFile, resuming: Resuming): Promise<StartRun | Refusal> {
  const { given, path, place, slot } = file;
  const { request, call, parts } = resuming;
  const read = await readFile(path, resuming);
  if (read.kind !== "checkpoint") return readRefusal(read, given);
  const taken = await takenByStore(read.checkpoint, resuming);
  if (taken !== undefined) return taken;
  const prepared = await prepareAgain(read.checkpoint, resuming);
  if (prepared.kind === "refused") return prepared;
  const held = place.path === path
    ? undefined
    : await occupied(place, read.checkpoint.run_id, parts);
  if (held !== undefined) return held;
  // What was said when the run was prepared is not said again: a resume warns of what it does itself.
  const warnings = [...confirmation(parts.core.options.ports.env).warnings];
  const plain = await namedRun(
    savedFrom(read.checkpoint, read.frames, place),
    prepared,
    parts,
  );
  const saved = nextSaved(injected(plain, { request, core: parts.core }), resuming, warnings);
  const word = readEffectWord(request.inputs);
  const oracle = await createRunOracle(prepared, parts.core, call);
  const keeper = await fileKeeper(file, { prepared, runId: saved.run_id, parts });
  const refused = await claimOrBegin(saved, parts);
  if (refused !== undefined) return refused;
  return {
    place: slot,
    prepared: { ...prepared, tools: withKnownEffects(prepared.tools, plain.effects, word) },
    saved,
    oracle,
    fresh: undefined,
    keeper,
    claimed: given,
    warnings,
    replyVia: replyVia(resuming),
  };
}

async function namedRun(
  plain: SavedRun,
  prepared: Prepared,
  { core, supervisor }: RunParts,
): Promise<SavedRun> {
  const { bundled } = await core.registries();
  return {
    ...plain,
    run_id: plain.run_id === "" ? supervisor.newRunId() : plain.run_id,
    machine: prepared.machine.name,
    machine_source: prepared.origin.source,
    machines: reachableSources(prepared.machine, prepared.registry, bundled),
    provider: prepared.models.name,
  };
}

function fileKeeper(
  { path, place, lock }: LockedFile,
  { prepared, runId, parts }: {
    readonly prepared: Prepared;
    readonly runId: string;
    readonly parts: RunParts;
  },
): Promise<CheckpointKeeper> {
  const { ports, version, door } = parts.core.options;
  return keepCheckpoint({
    runId,
    ...place,
    from: path,
    lock,
    isOccupied: place.path === path
      ? undefined
      : async () => await occupied(place, runId, parts) !== undefined,
    acknowledged: true,
    prepared,
    isHandle: door === "cli",
    key: kitVariable(ports.env, "STATE_KEY"),
    version: version ?? "0",
    ports,
  });
}

async function existingFile(given: string, { parts }: Resuming): Promise<string | Refusal> {
  const { core } = parts;
  const shown = given.slice(0, 200);
  const place = await confineCheckpoint(given, core.options);
  if (place.kind === "file") {
    const status = await core.options.ports.files.stat(place.path);
    if (status?.kind === "file") return place.path;
  }
  const why = place.kind === "absent" ? [NO_DIRECTORY] : [];
  return refuse("unknown-checkpoint", [`no suspension and no checkpoint file: "${shown}"`, ...why]);
}

async function readFile(path: string, { parts }: Resuming): Promise<CheckpointRead> {
  const { ports } = parts.core.options;
  try {
    const bytes = await ports.files.read(path, { maxBytes: MAX_CHECKPOINT_BYTES + 1 });
    if (bytes.length > MAX_CHECKPOINT_BYTES) {
      return { kind: "bad", message: `the file is over ${MAX_CHECKPOINT_BYTES} bytes` };
    }
    const text = new TextDecoder().decode(bytes);
    return await openCheckpoint(text, kitVariable(ports.env, "STATE_KEY"));
  } catch (error) {
    if (error instanceof FileError) {
      return { kind: "bad", message: `cannot read it: ${error.failure}` };
    }
    throw error;
  }
}

function readRefusal(
  read: Exclude<CheckpointRead, { kind: "checkpoint" }>,
  given: string,
): Refusal {
  const shown = given.slice(0, 200);
  if (read.kind === "bad") return refuse("bad-checkpoint", [`"${shown}": ${read.message}`]);
  return refuse("already-resumed", [
    `"${shown}" was resumed before; the run ended as ${read.status}`,
  ]);
}

/**
 * A file that was written while its run went on is behind the store once more states have settled; its holder died then.
 * A file that was written for a suspension is refused instead, since another one was made from it.
 */
async function newerHandle(
  checkpoint: Checkpoint,
  { parts }: Resuming,
): Promise<string | undefined> {
  const run = checkpoint.run_id;
  if (run === undefined || !isHandle(run) || suspensionOf(checkpoint) !== undefined) {
    return undefined;
  }
  const store = await parts.supervisor.store();
  const record = await keeping(store.look(run));
  const shown = record?.phase === "suspended" ? readSavedRun(record.payload) : undefined;
  if (record === undefined || shown === undefined) return undefined;
  const kept = { saved: standing(shown, record), record, durable: store.durable };
  return await ageOfFile(checkpoint, kept) === "older" ? record.handle : undefined;
}

/** A run that this process or its store knows too: only the store says who may go on. */
async function takenByStore(
  checkpoint: Checkpoint,
  { parts }: Resuming,
): Promise<Refusal | undefined> {
  const run = checkpoint.run_id;
  if (run === undefined || !isHandle(run)) return undefined;
  const { supervisor } = parts;
  const record = await keeping((await supervisor.store()).look(run));
  const look = `look at it with {"run": "${run}"}`;
  if (supervisor.active(run) !== undefined || record?.phase === "running") {
    return refuse("busy", [`The run is under way; ${look}`], { run });
  }
  if (record?.phase === "finished") {
    return refuse("already-resumed", [`The run has ended; ${look}`], { run });
  }
  const written = suspensionOf(checkpoint);
  const stands = record?.handle === undefined ? undefined : await sha256(record.handle);
  if (stands === undefined || written === undefined || stands === written) return undefined;
  return refuse("already-resumed", [`The run has gone on since this file was written; ${look}`], {
    run,
  });
}

/** The handle of the same suspension is claimed with the file: one of the two goes on, never both. */
async function claimOrBegin(
  saved: SavedRun,
  { supervisor }: RunParts,
): Promise<Refusal | undefined> {
  const store = await supervisor.store();
  const run = saved.run_id;
  const record = await keeping(store.look(run));
  if (record === undefined) return await supervisor.begin(saved);
  const by = { holder: supervisor.holder, leaseForMs: LEASE_MS };
  const claim = record.handle === undefined
    ? undefined
    : await keeping(store.claim(record.handle, by));
  if (claim?.kind === "claimed") return undefined;
  return refuse("busy", [`The run is under way; look at it with {"run": "${run}"}`], { run });
}

async function prepareAgain(
  checkpoint: Checkpoint,
  { request, parts }: Resuming,
): Promise<Prepared | Refusal> {
  const { core } = parts;
  const models = await modelsAgain(metadataText(checkpoint, "provider") ?? "", { request, core });
  if (models.kind === "problem") {
    return refuseModels(models.problem);
  }
  const { machine_source, machine_path } = checkpoint;
  if (request.machine === undefined && machine_path === INLINE_PATH) {
    if (machine_source === undefined) {
      return refuse("bad-checkpoint", ["the machine was inline and its text is not in the file"]);
    }
    return await prepare({ source: machine_source, models }, core);
  }
  const path = await machinePath(checkpoint, { request, parts });
  const prepared = await prepare({ path, models }, core);
  if (prepared.kind === "refused") {
    const gone = prepared.failure === "load" && request.force !== true &&
      checkpoint.machine_sha256 !== null;
    return gone && prepared.errors.some((error) => error.startsWith("no such file"))
      ? refuse("machine-changed", [`"${path}" is gone`, ...prepared.errors])
      : prepared;
  }
  return await sameMachine(checkpoint, prepared) || request.force === true
    ? prepared
    : refuse("machine-changed", [
      `machine "${checkpoint.machine}" was changed after the run was suspended; resume with force to go on all the same`,
    ]);
}

async function machinePath(
  checkpoint: Checkpoint,
  { request, parts }: Pick<Resuming, "request" | "parts">,
): Promise<string> {
  if (request.machine !== undefined) return request.machine;
  const { files } = parts.core.options.ports;
  const recorded = checkpoint.machine_path;
  const absolute = metadataText(checkpoint, "machine_file");
  if (isAbsolutePath(recorded) || absolute === undefined) return recorded;
  return (await files.stat(recorded)) === undefined ? absolute : recorded;
}

/** The fingerprint where there is one, so that a comment may change; else the bytes of the file. */
async function sameMachine(checkpoint: Checkpoint, prepared: Prepared): Promise<boolean> {
  if (checkpoint.machine !== prepared.machine.name) return false;
  if (checkpoint.fingerprint !== undefined) {
    return checkpoint.fingerprint === await fingerprintMachine(prepared.machine);
  }
  if (checkpoint.machine_sha256 === null) return true;
  return checkpoint.machine_sha256 === await sha256(prepared.origin.source);
}

async function nextPlace(
  same: CheckpointPlace,
  checkpoint: Checkpoint,
  { request, parts }: Resuming,
): Promise<CheckpointPlace | Refusal> {
  if (request.checkpointPath === undefined) return same;
  const place = await confinedPlace(request.checkpointPath, parts.core);
  if ("kind" in place || place.path === same.path) return place;
  return await occupied(place, checkpoint.run_id, parts) ?? place;
}

function savedFrom(
  checkpoint: Checkpoint,
  frames: readonly Frame[],
  place: CheckpointPlace,
): SavedRun {
  const estimated = member(checkpoint.metadata ?? {}, "estimated_tokens");
  return {
    v: 1,
    run_id: checkpoint.run_id ?? "",
    machine: checkpoint.machine,
    machine_path: checkpoint.machine_path,
    machine_source: checkpoint.machine_source ?? "",
    machines: {},
    provider: metadataText(checkpoint, "provider") ?? "",
    cost_budget: checkpoint.cost_budget ?? null,
    hitl: checkpoint.hitl ?? false,
    suspendable: true,
    on_truncate: checkpoint.on_truncate ?? "report",
    on_untrusted_flow: checkpoint.on_untrusted_flow ?? "report",
    reason: checkpoint.reason ?? "",
    frames,
    checkpoint_file: place.shown,
    checkpoint_path: place.path,
    file_suspension: suspensionOf(checkpoint) ?? null,
    ...(typeof estimated === "number" && estimated > 0 ? { estimated_tokens: estimated } : {}),
    effects: startedEffects(member(checkpoint.metadata ?? {}, "effects")),
  };
}

function startedEffects(value: JsonValue | undefined): readonly StartedEffect[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((entry) => ({
    tool: String(member(entry, "tool")),
    state: String(member(entry, "state")),
  }));
}

function metadataText({ metadata }: Checkpoint, key: string): string | undefined {
  const value = member(metadata ?? {}, key);
  return typeof value === "string" ? value : undefined;
}
