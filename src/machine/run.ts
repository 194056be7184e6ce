/**
 * Running a machine, from its start or from where it waits.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import { ambientPorts, type LocalTime, type Random } from "../ports/mod.ts";
import { createBreath } from "./breathing.ts";
import type { Machine } from "./document.ts";
import { runLevel } from "./drive.ts";
import { injectInputs, takeFrames } from "./frames.ts";
import { Level, type LevelStart, type Shared } from "./level.ts";
import type { RunOptions, WatchedRunOptions } from "./options.ts";
import { checkOptions, requireFrames, requireJson } from "./run_arguments.ts";
import { MAX_CALLED_STEPS, MAX_WORKERS, RunTree } from "./run_tree.ts";
import type { Frame, RunResult } from "./trace.ts";
import { copyObject, copyValue, setPath, shallowCopy } from "./values.ts";

/**
 * Runs a machine.
 *
 * The machine is taken as it is: `checkMachine` finds beforehand what would halt it.
 *
 * @param machine The machine.
 * @param options The oracle, what the host lends, and limits.
 * @returns How it ended. Halts are results, not errors.
 * @throws {ConfigError} If an option is out of its range, or a value is no JSON; code `argument`.
 */
export async function runMachine(machine: Machine, options: WatchedRunOptions): Promise<RunResult> {
  checkOptions(options);
  return await runRoot(rootStart(machine, options));
}

/**
 * Goes on with a run that waits. Its trace and its tokens include everything from before.
 *
 * @param machine The root machine.
 * @param frames Where it waits, outermost call first, at least one.
 * @param options As for {@linkcode runMachine}; `inputs` go into the innermost frame, `costBudget` is a total.
 * @returns How it ended; `resume-mismatch` if the frames do not belong to the machine.
 * @throws {ConfigError} If an option is out of its range, a value is no JSON, or the frames are none; code `argument`.
 */
export async function resumeMachine(
  machine: Machine,
  frames: readonly Frame[],
  options: WatchedRunOptions,
): Promise<RunResult> {
  checkOptions(options);
  requireFrames(frames);
  return await runRoot({
    ...rootStart(machine, { ...options, inputs: {}, context: {} }),
    flowTainted: true,
    frames: injected(frames, options),
  });
}

/**
 * The frames of a run that has not begun: to resume from them gives what {@linkcode runMachine} gives with the same
 * options. For hosts that keep a run before its first state is done.
 *
 * @param machine The machine.
 * @param options As for {@linkcode runMachine}; what decides the start is taken into the frame.
 * @returns One frame, at the entry.
 */
export function startFrames(machine: Machine, options: RunOptions): Frame[] {
  checkOptions(options);
  return takeFrames(new Level(rootStart(machine, options)));
}

/**
 * The context that a run starts with: the author's values, then values by key, then by path, then the clock.
 *
 * @param machine The machine; its own values are never changed.
 * @param options `context`, `inputs` and `localTime`.
 * @returns The context.
 */
export function startContext(
  machine: Machine,
  options: Pick<RunOptions, "context" | "inputs" | "localTime">,
): JsonObject {
  let context: JsonObject = shallowCopy(machine.context);
  if (options.context !== undefined) {
    context = Object.assign(
      shallowCopy(context),
      copyObject(requireJson(options.context, "context")),
    );
  }
  for (const [path, value] of Object.entries(requireJson(options.inputs ?? {}, "inputs"))) {
    context = setPath(context, path, copyValue(value));
  }
  return options.localTime === undefined ? context : fillClock(context, options.localTime);
}

async function runRoot(start: LevelStart): Promise<RunResult> {
  return await start.shared.tree.during(() => runLevel(start));
}

function rootStart(machine: Machine, options: WatchedRunOptions): LevelStart {
  return {
    shared: share(machine, options),
    machine,
    context: startContext(machine, options),
    depth: 0,
    path: "",
    cap: options.costBudget,
    suspend: rights(options),
    trustedKeys: options.trustedKeys ?? [],
    flowTainted: options.flowTainted ?? false,
  };
}

/** Frames of a caller that has put its values in already are left alone. */
function injected(frames: readonly Frame[], options: RunOptions): readonly Frame[] {
  if (options.inputs === undefined) return frames;
  const via = options.replyVia === undefined ? {} : { via: options.replyVia };
  return injectInputs(frames, requireJson(options.inputs, "inputs"), via);
}

function fillClock(context: JsonObject, time: LocalTime): JsonObject {
  const filled = shallowCopy(context);
  if (isBlank(filled, "today")) filled.today = time.date;
  if (isBlank(filled, "now")) filled.now = time.dateTime;
  return filled;
}

function isBlank(context: JsonObject, key: string): boolean {
  return Object.hasOwn(context, key) && (context[key] === null || context[key] === "");
}

function rights(options: RunOptions): { readonly budget: boolean; readonly person: boolean } {
  return { budget: options.suspendable ?? false, person: options.escalateSuspend ?? false };
}

function share(machine: Machine, options: WatchedRunOptions): Shared {
  const { registry, ports } = options;
  return {
    options,
    oracle: options.oracle,
    findMachine: (name) => registry?.get(name) ?? (name === machine.name ? machine : undefined),
    random: ports?.random ?? lazyRandom(),
    signal: options.signal ?? new AbortController().signal,
    touchesTools: new Map(),
    tree: new RunTree({
      workers: options.maxWorkers ?? MAX_WORKERS,
      calledSteps: options.maxCalledSteps ?? MAX_CALLED_STEPS,
      heldChars: options.maxHeldChars,
    }),
    traceLimit: traceLimit(options.trace),
    breathe: createBreath(ports?.clock),
    runLevel,
  };
}

/** The ambient ports are only needed by runs that fence something. */
function lazyRandom(): Pick<Random, "bytes"> {
  return { bytes: (length) => ambientPorts().random.bytes(length) };
}

function traceLimit(trace: RunOptions["trace"]): number {
  return trace === undefined || trace === "all" ? Infinity : Number(trace.slice("last:".length));
}
