/**
 * The call `run`: judge, prepare, begin, wait.
 *
 * @module
 */
import { KitError } from "../../llm/mod.ts";
import { FileError } from "../../ports/mod.ts";
import { type Frame, startFrames } from "../../machine/mod.ts";
import { kitDirectories, kitVariable } from "../config/directories.ts";
import type { HostCore } from "../core.ts";
import type { CallOptions, RunRequest } from "../host.ts";
import { policy, runProblems } from "../inputs.ts";
import { joinPath, nameOf } from "../paths.ts";
import { prepare, type Prepared } from "../prepare.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { createRunOracle } from "../run_oracle.ts";
import { type CheckpointKeeper, keepCheckpoint } from "./checkpoint_keeper.ts";
import { type CheckpointPlace, confinedPlace, holdPlaces, occupied } from "./checkpoint_place.ts";
import type { FileLock } from "./file_lock.ts";
import { hex } from "./handles.ts";
import { KeepingError } from "./keeping.ts";
import { refuseStore } from "./refuse_store.ts";
import type { RunReport } from "./report.ts";
import type { RunSupervisor, StartRun } from "./run_supervisor.ts";
import { reachableSources, type SavedRun } from "./saved_run.ts";

/** What came of a call. */
export type RunAnswer =
  | {
    /** A run, however it stands. */
    readonly kind: "report";
    /** What is known of it. */
    readonly report: RunReport;
    /** Whether no model answers. */
    readonly scripted: boolean;
  }
  | Refusal;

/** What every call needs. */
export interface RunParts {
  /** The host. */
  readonly core: HostCore;
  /** Its runs. */
  readonly supervisor: RunSupervisor;
}

/**
 * Runs a machine.
 *
 * @param request What is asked for.
 * @param call What the call brings.
 * @param parts The host and its runs.
 * @returns The run, or why there is none; then nothing was done.
 */
export function commission(
  request: RunRequest,
  call: CallOptions,
  parts: RunParts,
): Promise<RunAnswer> {
  return refusingArguments(parts, () => commissionRun(request, call, parts));
}

/**
 * Turns what the engine says of arguments that it cannot take, and what a store or a checkpoint file says that fails,
 * into a refusal.
 *
 * @param parts The host.
 * @param work The work; it undoes what it did before it throws.
 * @returns What the work gave, or `invalid-request`; `bad-checkpoint` for a record that cannot be read, `busy` for a store
 * that another program holds, and `prepare-failed` for a store or a checkpoint file that cannot be used.
 */
export async function refusingArguments(
  { core }: RunParts,
  work: () => Promise<RunAnswer>,
): Promise<RunAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeepingError) return refuseStore(error.cause);
    if (error instanceof FileError) return fileRefusal(error, core);
    const argument = error instanceof KitError && error.code === "argument";
    if (!argument && !(error instanceof RangeError)) throw error;
    return refuse("invalid-request", [error.message]);
  }
}

/** Machines and config files are judged before; over MCP no path is told that the call did not name. */
function fileRefusal(error: FileError, { options }: HostCore): Refusal {
  const why = options.door === "mcp" ? error.failure : error.message;
  return refuse("prepare-failed", [`the checkpoint file cannot be used: ${why}`], {
    failure: "checkpoint",
  });
}

async function commissionRun(
  request: RunRequest,
  call: CallOptions,
  parts: RunParts,
): Promise<RunAnswer> {
  const { core, supervisor } = parts;
  const problems = runProblems(request, call.problems);
  if (problems.length > 0) return refuse("invalid-request", problems);
  const prepared = await prepare(request, core);
  if (prepared.kind === "refused") return prepared;
  const closed = await supervisor.openable();
  if (closed !== undefined) return closed;
  const place = await checkpointPlace(request, prepared, parts);
  if (place !== undefined && "kind" in place) return place;
  const reserved = supervisor.reserve();
  if ("kind" in reserved) return reserved;
  using slot = reserved;
  const lock = place && await holdPlaces([place], parts);
  if (lock !== undefined && "kind" in lock) return lock;
  const start = await newStart(request, prepared, { call, parts, place, lock, slot })
    .catch(async (error: unknown) => {
      await lock?.release();
      throw error;
    });
  if ("kind" in start) {
    await lock?.release();
    return start;
  }
  const run = await supervisor.start(start);
  const report = await supervisor.wait(run, {
    seconds: waitSeconds(request, core),
    call,
    onCancel: "cancel",
  });
  return { kind: "report", report, scripted: prepared.models.scripted };
}

/** Makes everything that can fail, then writes down what the run begins with. */
async function newStart(
  request: RunRequest,
  prepared: Prepared,
  { call, parts, place, lock, slot }: {
    readonly call: CallOptions;
    readonly parts: RunParts;
    readonly place: CheckpointPlace | undefined;
    readonly lock: FileLock | undefined;
    readonly slot: Disposable;
  },
): Promise<StartRun | Refusal> {
  const { core, supervisor } = parts;
  const { clock } = core.options.ports;
  // Again, now that it is held: another run may have been written there since the first look.
  const taken = place && await occupied(place, undefined, parts);
  if (taken !== undefined) return taken;
  const warnings = [...prepared.warnings];
  const oracle = await createRunOracle(prepared, core, call);
  const fresh = { inputs: request.inputs ?? {}, localTime: clock.local(clock.now()) };
  const frames = startFrames(prepared.machine, { oracle: oracle.oracle, ...fresh });
  const saved = await newSavedRun(request, prepared, { ...parts, place, warnings, frames });
  const keeper = place && lock && await newKeeper(place, { prepared, saved, parts, lock });
  const refused = await supervisor.begin(saved);
  if (refused !== undefined) return refused;
  const common = { place: slot, prepared, saved, oracle, fresh, keeper, warnings };
  return { ...common, claimed: undefined, replyVia: undefined };
}

/**
 * How long a call waits before it answers `running`.
 *
 * @param request What is asked for.
 * @param core The host.
 * @returns Seconds; 0 is no limit. At the command line nothing else could look, so it waits.
 */
export function waitSeconds(
  request: { readonly waitSeconds?: number },
  core: HostCore,
): number {
  if (core.options.door !== "mcp") return request.waitSeconds ?? 0;
  return request.waitSeconds ?? core.limits.maxWaitSeconds;
}

/**
 * Bounds a token budget by what the operator allows.
 *
 * @param wanted What was asked for.
 * @param core The host.
 * @param warnings Takes a sentence if the operator's bound is lower.
 * @returns The budget, or `null` for none.
 */
export function boundBudget(
  wanted: number | undefined,
  core: HostCore,
  warnings: string[],
): number | null {
  const most = core.limits.maxRunTokens;
  if (most === undefined) return wanted ?? null;
  if (wanted !== undefined && wanted <= most) return wanted;
  if (wanted !== undefined) {
    warnings.push(
      `cost_budget ${wanted} is above the ${most} tokens that this server allows a run`,
    );
  }
  return most;
}

async function newSavedRun(
  request: RunRequest,
  prepared: Prepared,
  { core, supervisor, place, warnings, frames }: RunParts & {
    readonly place: CheckpointPlace | undefined;
    readonly frames: readonly Frame[];
    readonly warnings: string[];
  },
): Promise<SavedRun> {
  const { machine, origin, models, registry } = prepared;
  const { bundled } = await core.registries();
  return {
    v: 1,
    run_id: supervisor.newRunId(),
    machine: machine.name,
    machine_path: origin.path,
    machine_source: origin.source,
    machines: reachableSources(machine, registry, bundled),
    provider: models.name,
    cost_budget: boundBudget(request.costBudget, core, warnings),
    hitl: request.hitl ?? false,
    suspendable: request.suspendable ?? (place !== undefined || keepsHandles(core)),
    on_truncate: policy(request.onTruncate, "report"),
    on_untrusted_flow: policy(request.onUntrustedFlow, "report"),
    reason: "interrupted",
    frames,
    checkpoint_file: place?.shown ?? null,
    checkpoint_path: place?.path ?? null,
    effects: [],
  };
}

/** Whether a handle outlives the call: over MCP, and wherever a store is configured. */
function keepsHandles(core: HostCore): boolean {
  return core.options.door !== "cli" || core.options.openStore !== undefined;
}

/** Where a suspension is written, if anywhere. At the command line a pause for a person always has a file. */
async function checkpointPlace(
  request: RunRequest,
  prepared: Prepared,
  parts: RunParts,
): Promise<CheckpointPlace | undefined | Refusal> {
  const { core } = parts;
  const { ports } = core.options;
  const named = request.checkpointPath;
  if (named !== undefined) {
    const place = await confinedPlace(named, core);
    return "kind" in place ? place : await occupied(place, undefined, parts) ?? place;
  }
  if (keepsHandles(core) || request.hitl !== true) return undefined;
  const state = kitDirectories(ports).state;
  if (state === undefined) {
    return refuse("invalid-request", ["Name a file with --checkpoint: this system tells no home"]);
  }
  const directory = joinPath(state, "checkpoints");
  await ports.files.makeDirectory(directory, { mode: 0o700 });
  const stem = nameOf(prepared.origin.file ?? prepared.machine.name).replace(/\.mkl?$/, "");
  const stamp = ports.clock.local(ports.clock.now()).dateTime.slice(0, 19)
    .replaceAll(/[-:]/g, "").replace("T", "-");
  const name = `${stem.replaceAll(/[^\w-]/g, "_")}-${stamp}-${hex(ports.random.bytes(3))}.json`;
  const path = joinPath(directory, name);
  return { path, shown: path };
}

async function newKeeper(
  place: CheckpointPlace,
  { prepared, saved, parts, lock }: {
    readonly lock: FileLock;
    readonly prepared: Prepared;
    readonly saved: SavedRun;
    readonly parts: RunParts;
  },
): Promise<CheckpointKeeper> {
  const { ports, door, version } = parts.core.options;
  return await keepCheckpoint({
    runId: saved.run_id,
    ...place,
    from: undefined,
    lock,
    isOccupied: async () => await occupied(place, saved.run_id, parts) !== undefined,
    acknowledged: false,
    prepared,
    isHandle: door === "cli",
    key: kitVariable(ports.env, "STATE_KEY"),
    version: version ?? "0",
    ports,
  });
}
