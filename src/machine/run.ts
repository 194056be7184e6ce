/**
 * Running a machine, from its start or from where it waits.
 *
 * @module
 */
import { ConfigError } from "../llm/mod.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { ambientPorts, type Clock, type LocalTime, type Random } from "../ports/mod.ts";
import type { Machine } from "./document.ts";
import { runLevel } from "./drive.ts";
import { injectInputs, takeFrames } from "./frames.ts";
import { Level, type LevelStart, type Shared } from "./level.ts";
import type { RunOptions } from "./options.ts";
import type { Frame, RunResult } from "./trace.ts";
import { checkExtent, copyObject, copyValue, setPath, shallowCopy } from "./values.ts";

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 64;
/** How long a run may keep the event loop to itself, in milliseconds. */
const TURN_MS = 8;

/**
 * Runs a machine.
 *
 * The machine is taken as it is: `checkMachine` finds beforehand what would halt it.
 *
 * @param machine The machine.
 * @param options The oracle, what the host lends, and limits.
 * @returns How it ended. Halts are results, not errors.
 * @throws {ConfigError} If an option is out of its range; code `argument`.
 */
export async function runMachine(machine: Machine, options: RunOptions): Promise<RunResult> {
  checkOptions(options);
  return await runLevel(rootStart(machine, options));
}

/**
 * Goes on with a run that waits. Its trace and its tokens include everything from before.
 *
 * @param machine The root machine.
 * @param frames Where it waits, outermost call first, at least one.
 * @param options As for {@linkcode runMachine}; `inputs` go into the innermost frame, `costBudget` is a total.
 * @returns How it ended; `resume-mismatch` if the frames do not belong to the machine.
 * @throws {ConfigError} If an option is out of its range or there are no frames; code `argument`.
 */
export async function resumeMachine(
  machine: Machine,
  frames: readonly Frame[],
  options: RunOptions,
): Promise<RunResult> {
  checkOptions(options);
  if (frames.length === 0) {
    throw new ConfigError("Cannot resume: there are no frames", { code: "argument" });
  }
  return await runLevel({
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
    context = Object.assign(shallowCopy(context), copyObject(checked(options.context)));
  }
  for (const [path, value] of Object.entries(checked(options.inputs ?? {}))) {
    context = setPath(context, path, copyValue(value));
  }
  return options.localTime === undefined ? context : fillClock(context, options.localTime);
}

function rootStart(machine: Machine, options: RunOptions): LevelStart {
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
  return injectInputs(frames, checked(options.inputs), via);
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

function checked(values: Readonly<Record<string, JsonValue>>): JsonObject {
  checkExtent(values, "the context");
  return values;
}

function rights(options: RunOptions): { readonly budget: boolean; readonly person: boolean } {
  return { budget: options.suspendable ?? false, person: options.escalateSuspend ?? false };
}

function share(machine: Machine, options: RunOptions): Shared {
  const { registry, ports } = options;
  return {
    options,
    oracle: options.oracle,
    findMachine: (name) => registry?.get(name) ?? (name === machine.name ? machine : undefined),
    random: ports?.random ?? lazyRandom(),
    signal: options.signal ?? new AbortController().signal,
    touchesTools: new Map(),
    traceLimit: traceLimit(options.trace),
    breathe: breather(ports?.clock),
    runLevel,
  };
}

/** The ambient ports are only needed by runs that fence something. */
function lazyRandom(): Pick<Random, "bytes"> {
  return { bytes: (length) => ambientPorts().random.bytes(length) };
}

/** Long runs without a model to wait for would keep everything else in the process waiting. */
function breather(given: Clock | undefined): () => Promise<void> | undefined {
  const clock = given ?? ambientClock();
  if (clock === undefined) return () => undefined;
  let steps = 0;
  let since: number | undefined;
  async function turn(clock: Clock): Promise<void> {
    await clock.sleep(0);
    since = clock.monotonic();
  }
  return () => {
    if (++steps % STEPS_PER_LOOK !== 0) return undefined;
    const now = clock.monotonic();
    since ??= now;
    return now - since < TURN_MS ? undefined : turn(clock);
  };
}

function ambientClock(): Clock | undefined {
  try {
    return ambientPorts().clock;
  } catch {
    return undefined;
  }
}

function traceLimit(trace: RunOptions["trace"]): number {
  return trace === undefined || trace === "all" ? Infinity : Number(trace.slice("last:".length));
}

function checkOptions(options: RunOptions): void {
  const { onTruncate, onUntrustedFlow, maxWorkers, costBudget, trace } = options;
  requireWord("onTruncate", onTruncate);
  requireWord("onUntrustedFlow", onUntrustedFlow);
  if (maxWorkers !== undefined && !(Number.isInteger(maxWorkers) && maxWorkers >= 1)) {
    throw refuse("maxWorkers", maxWorkers, "an integer of at least 1");
  }
  if (costBudget !== undefined && !(costBudget >= 0)) {
    throw refuse("costBudget", costBudget, "a number of at least 0");
  }
  if (trace !== undefined && trace !== "all" && !/^last:\d+$/.test(trace)) {
    throw refuse("trace", trace, '"all" or "last:N"');
  }
}

function requireWord(name: string, value: unknown): void {
  if (value === undefined || value === "report" || value === "halt") return;
  throw refuse(name, value, '"report" or "halt"');
}

function refuse(name: string, value: unknown, wanted: string): ConfigError {
  const message = `Cannot run with the option ${name}: found ${
    JSON.stringify(value)
  }, wanted ${wanted}`;
  return new ConfigError(message, { code: "argument" });
}
