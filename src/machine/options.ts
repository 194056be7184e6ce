/**
 * How a machine is run, and what a host lends it.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { LocalTime, Ports } from "../ports/mod.ts";
import type { Registry } from "./document.ts";
import type { ToolEffect } from "./effects.ts";
import type { Oracle } from "./oracle.ts";
import type { Frame, MachineEvent, TraceStep } from "./trace.ts";

/** What a tool is given beside its arguments. */
export interface ToolCallOptions {
  /** Ends the work at once. */
  readonly signal: AbortSignal;
  /** The machine that calls. */
  readonly machine: string;
  /** The state that calls. */
  readonly state: string;
  /** The call states and branches that lead there, and the state. */
  readonly path: string;
}

/** What a hook is given beside its subject. */
export interface HookCallOptions {
  /** The machine. */
  readonly machine: string;
  /** The state whose gate asks. */
  readonly state: string;
  /** The call states and branches that lead there, and the state. */
  readonly path: string;
}

/** A tool that tool states may call. */
export interface HostTool {
  /** What it may do; absent: the table of the language decides, and names it does not list are effectful. */
  readonly effect?: ToolEffect;
  /**
   * Does the work. The text is the observation; anything that is not a text is turned into JSON text.
   *
   * @param input The arguments, resolved. Not to be changed.
   * @param options Who calls, and the signal.
   * @throws Anything: the run halts with `state-error`. Failures that the machine can act on are texts.
   */
  run(input: JsonObject, options: ToolCallOptions): Promise<string> | string;
}

/**
 * A predicate that decides a gate. Pure; both arguments are not to be changed.
 *
 * @param context The context after the deposit.
 * @param output What the state gave, raw; of a fan-out the list.
 * @param options Who asks.
 * @returns `true` fires the gate, `false` does not; anything else halts with `state-error`.
 */
export type Hook = (
  context: JsonObject,
  output: JsonValue,
  options: HookCallOptions,
) => boolean | Promise<boolean>;

/** Tools by name; a `Map` is one. */
export interface ToolSource {
  /** The tool, or `undefined`. */
  get(name: string): HostTool | undefined;
}

/** Hooks by name; a `Map` is one. Built-in and parametric hooks need not be in it. */
export interface HookSource {
  /** The hook, or `undefined`. */
  get(name: string): Hook | undefined;
}

/** A point between two states, where everything up to it is done and nothing after it has begun. */
export interface SettledPoint {
  /** The state that comes next, in the innermost machine. */
  readonly at: string;
  /** Steps of the root, as charged so far. */
  readonly steps: number;
  /** Takes the frames now; costs a copy of what changed, so take them only to keep them. */
  frames(): readonly Frame[];
}

/** An effectful tool that is about to run. */
export interface EffectIntent {
  /** The machine. */
  readonly machine: string;
  /** The state. */
  readonly state: string;
  /** The tool. */
  readonly tool: string;
  /** Its arguments. */
  readonly input: JsonObject;
  /** The branch of a fan-out, from 0. */
  readonly branch?: number;
}

/** How a machine is run. Defaults in brackets. */
export interface RunOptions {
  /** Answers the questions of the run. */
  readonly oracle: Oracle;
  /** Machines that `call:` may name [only the machine itself]. */
  readonly registry?: Registry;
  /** Tools [none]. */
  readonly tools?: ToolSource;
  /** Hooks beside the built-in ones [none]. */
  readonly hooks?: HookSource;
  /** Effect classes that override the tools' own and the table. */
  readonly toolEffects?: Readonly<Record<string, ToolEffect>>;
  /** Values by dotted path: overlaid on the author's context, or written into the innermost frame of a resume [the frames as they are]. */
  readonly inputs?: Readonly<Record<string, JsonValue>>;
  /** Values by top-level key, overlaid before `inputs`; not used by a resume. */
  readonly context?: JsonObject;
  /** Fills empty `today` and `now` of the root's context, as `clock.local` of the ports gives it [not filled]. */
  readonly localTime?: LocalTime;
  /** Most tokens of both kinds, of the run and the runs within it; on a resume a total [none]. */
  readonly costBudget?: number;
  /** Whether an exhausted budget suspends instead of halting [false]. */
  readonly suspendable?: boolean;
  /** Whether an escalate gate suspends, for a person to reply [false]. */
  readonly escalateSuspend?: boolean;
  /** What a cut-off answer does [`report`]. */
  readonly onTruncate?: "report" | "halt";
  /** What a swayed decision before an effectful tool does [`report`]. */
  readonly onUntrustedFlow?: "report" | "halt";
  /** Top-level keys that the caller vouches for [none]. */
  readonly trustedKeys?: readonly string[];
  /** The way on which the `inputs` of a resume came, noted in the trace: `cli`, `elicitation` or `argument` [not noted]. */
  readonly replyVia?: string;
  /** Whether the run starts with control-flow taint [false]. */
  readonly flowTainted?: boolean;
  /** Whether values that are not the author's are fenced in prompts [true]; the judge's fences stay. */
  readonly delimit?: boolean;
  /** Most characters of one value in a prompt; 0: no limit but that of a whole prompt, 16,777,216 [20000]. */
  readonly promptValueChars?: number;
  /** Branches that run at once in the whole run, those of fan-outs within branches included [5]. */
  readonly maxWorkers?: number;
  /** Most states and branches that called machines execute, all calls together; then `work-exhausted` [1,000,000]. */
  readonly maxCalledSteps?: number;
  /**
   * Most characters that trace and contexts hold at once; then `memory-exhausted` [268,435,456]. Steps that `trace` lets
   * go of do not count.
   */
  readonly maxHeldChars?: number;
  /** How much of the trace is kept at every level: all of it, or the last N steps [`all`]. */
  readonly trace?: "all" | `last:${number}`;
  /** Told of every step of the root as it is recorded; what it throws is ignored. */
  readonly onStep?: (step: TraceStep) => void;
  /** Told of everything; what it throws is ignored. */
  readonly onEvent?: (event: MachineEvent) => void;
  /** Told of every settled point, before the next state; waited for. What it throws ends the run. */
  readonly onSettled?: (point: SettledPoint) => void | Promise<void>;
  /** Told before an effectful tool runs; waited for. What it throws ends the run, and the tool does not run. */
  readonly beforeEffect?: (intent: EffectIntent) => void | Promise<void>;
  /** Cancels: calls in flight are aborted, and the run halts with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Asked between states whether to cancel; what it throws counts as no. */
  readonly cancelRequested?: () => boolean;
  /** Chance for nonces, and the clock for turns of the event loop [the ambient ones]. */
  readonly ports?: Pick<Ports, "clock" | "random">;
}

/**
 * What the token cap did to the fan-outs of a run. Which branch the cap stops depends on which answers came first, so a
 * run is only repeated if that is repeated too. Fan-outs of runs without a cap are not mentioned.
 */
export interface FanOutWatch {
  /**
   * Asked once for each fan-out, before its first branch.
   *
   * @param path The call states and branches that lead there, and the state.
   * @returns How many branches start, from the first on; `undefined`: as many as the cap allows.
   */
  limit?(path: string): number | undefined;
  /** Told after each fan-out, under its path, how many branches were started. */
  started?(path: string, count: number): void;
}

/** How a machine is run that is recorded or repeated. */
export interface WatchedRunOptions extends RunOptions {
  /** Told of, and asked for, what the token cap did to fan-outs [the cap decides]. */
  readonly fanOuts?: FanOutWatch;
}
