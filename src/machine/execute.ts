/**
 * Carrying out one state once: asking a model, running a tool, calling a machine.
 *
 * @module
 */
import { raceSignal } from "../llm/mod.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { CallState, GenerativeState, Machine, State, Tier, ToolState } from "./document.ts";
import { isEffectful } from "./effects.ts";
import { type Failure, produceFailure, stateFailure, UnknownStateError } from "./failure.ts";
import { PROMPT_VALUE_CHARS } from "./format.ts";
import {
  type Placeholder,
  readTemplate,
  refersTo,
  renderPrompt,
  resolveInput,
  type Scope,
} from "./interpolate.ts";
import type { Level, SuspendRights } from "./level.ts";
import type { HostTool } from "./options.ts";
import { type Produced, requireProduced, type Tokens } from "./oracle.ts";
import { parseOutput } from "./parse_output.ts";
import { stateMessages } from "./prompts.ts";
import { describeValue } from "./run_arguments.ts";
import { traceSize } from "./run_tree.ts";
import type { Frame, TraceStep } from "./trace.ts";
import { emptyObject } from "./values.ts";

/** What an execution made. */
export interface Made {
  /** The kind. */
  readonly kind: "made";
  /** The raw output. */
  readonly value: JsonValue;
  /** What the model thought. */
  readonly reasoning?: string;
  /** What it cost. */
  readonly tokens: Tokens;
  /** The steps of a called machine. */
  readonly subTrace?: readonly TraceStep[];
  /** Whether the model was cut off. */
  readonly truncated?: boolean;
  /** The endpoint's word for that. */
  readonly finishReason?: string;
}

/** A called machine that did not finish. */
export interface CallFailure {
  /** The kind. */
  readonly kind: "call-failed";
  /** The reason of the called machine. */
  readonly error: string;
  /** Its steps. */
  readonly subTrace: readonly TraceStep[];
  /** What it cost. */
  readonly tokens: Tokens;
  /** The error behind it. */
  readonly cause: unknown;
}

/** A called machine that waits, and the whole run with it. */
export interface CallSuspension {
  /** The kind. */
  readonly kind: "suspended";
  /** Why. */
  readonly error: string;
  /** The frames from the called machine on. */
  readonly frames: readonly Frame[];
}

/** How an execution ends. */
export type Outcome = Made | Failure | CallFailure | CallSuspension;

/** What an execution needs beside the level and the state. */
export interface Unit {
  /** The context, for a branch with its own variables. */
  readonly scope: Scope;
  /** Keys that are not the author's. */
  readonly tainted: ReadonlySet<string>;
  /** What a repair says. */
  readonly feedback: string;
  /** Most tokens of a called machine. */
  readonly cap: number | undefined;
  /** Whether a called machine may suspend. */
  readonly suspend: SuspendRights;
  /** Frames for a called machine to go on from. */
  readonly frames?: readonly Frame[] | undefined;
  /** The branch, in a fan-out. */
  readonly branch?: number;
}

const NO_TOKENS: Tokens = { input: 0, output: 0 };
const BRANCH_TEMPERATURE = 0.8;
const TEMPERATURE = 0.4;

/**
 * Carries out a state once.
 *
 * @param level Where.
 * @param state What.
 * @param unit With what.
 * @returns What came of it. Failures are values; only what hosts throw from `beforeEffect` and `onSettled` is thrown.
 */
export function execute(level: Level, state: State, unit: Unit): Promise<Outcome> {
  switch (state.kind) {
    case "generative":
      return produce(level, state, unit);
    case "tool":
      return runTool(level, state, unit);
    case "call":
      return callMachine(level, state, unit);
  }
}

/**
 * Tells whether the tool of a state may change something outside the run.
 *
 * @param level Where.
 * @param state The tool state.
 * @returns The caller's word for it, else the tool's own, else that of the language's table.
 */
export function hasEffect(level: Level, state: ToolState): boolean {
  const { toolEffects, tools } = level.shared.options;
  const override = toolEffects !== undefined && Object.hasOwn(toolEffects, state.tool)
    ? toolEffects[state.tool]
    : undefined;
  const effect = override ?? tools?.get(state.tool)?.effect;
  return effect === undefined ? isEffectful(state.tool) : effect === "effect";
}

/**
 * The tier of a state.
 *
 * @param machine The machine.
 * @param state The state.
 * @returns Its own, or the machine's default.
 */
export function tierOf(machine: Machine, state: State): Tier {
  return state.tier ?? machine.defaultTier;
}

/**
 * The halt reason for a tier without a model.
 *
 * @param level Where.
 * @param tier The tier.
 * @returns The error to describe.
 */
export function missingTier(level: Level, tier: Tier): Error {
  const available = level.shared.oracle.tiers.join(", ");
  return new Error(`tier '${tier}' not configured (available: ${available || "none"})`);
}

/**
 * The placeholder of `over`.
 *
 * @param state The state.
 * @returns The first placeholder, or `undefined`.
 */
export function overPlaceholder(state: State): Placeholder | undefined {
  const pieces = readTemplate(state.over ?? "").pieces;
  return pieces.find((piece): piece is Placeholder => typeof piece !== "string");
}

/**
 * Waits for an answer, but not beyond the end of the run's signal.
 *
 * @param level Where.
 * @param answer The answer, or the promise of one.
 * @returns The answer.
 */
export function awaitAnswer<T>(level: Level, answer: T | PromiseLike<T>): T | Promise<T> {
  if (!isPromiseLike(answer)) return answer;
  const promise = Promise.resolve(answer);
  return level.shared.options.signal === undefined
    ? promise
    : raceSignal(promise, level.shared.signal);
}

async function produce(level: Level, state: GenerativeState, unit: Unit): Promise<Outcome> {
  const { oracle, options } = level.shared;
  let produced: Produced;
  try {
    const tier = tierOf(level.machine, state);
    if (!oracle.tiers.includes(tier)) return stateFailure(missingTier(level, tier));
    const prompt = renderPrompt(readTemplate(state.prompt ?? ""), unit.scope, {
      maxChars: options.promptValueChars ?? PROMPT_VALUE_CHARS,
      random: level.shared.random,
      ...(options.delimit === false ? {} : { isTainted: (root) => unit.tainted.has(root) }),
    });
    const { system, user } = stateMessages(state, prompt, unit.feedback);
    const answer = oracle.produce({
      machine: level.machine.name,
      state: state.id,
      depth: level.depth,
      path: placeOf(level, state, unit),
      ...(unit.branch === undefined ? {} : { branch: unit.branch }),
      system,
      user,
      tier,
      temperature: state.sample === undefined ? TEMPERATURE : BRANCH_TEMPERATURE,
      reason: state.reason,
      signal: level.shared.signal,
    });
    produced = requireProduced(await awaitAnswer(level, answer));
  } catch (cause) {
    return produceFailure(cause);
  }
  return readProduced(level, state, produced);
}

function placeOf(level: Level, state: State, unit: Unit): string {
  const place = level.path + state.id;
  return unit.branch === undefined ? place : `${place}#${unit.branch}`;
}

function readProduced(level: Level, state: GenerativeState, produced: Produced): Outcome {
  const { text, reasoning, tokens, truncated, finishReason } = produced;
  if (truncated) {
    const halt = level.shared.options.onTruncate === "halt";
    const word = halt ? "output-truncated" : state.parse && `parse-${state.parse}-truncated`;
    if (word) return stateFailure(new Error(word), tokens);
  }
  let value: JsonValue = text;
  if (state.parse !== undefined) {
    try {
      value = parseOutput(text, state.parse);
    } catch (cause) {
      return stateFailure(cause, tokens);
    }
  }
  return {
    kind: "made",
    value,
    tokens,
    ...(reasoning ? { reasoning } : {}),
    ...(truncated ? { truncated } : {}),
    ...(truncated && finishReason ? { finishReason } : {}),
  };
}

async function runTool(level: Level, state: ToolState, unit: Unit): Promise<Outcome> {
  const { options, signal } = level.shared;
  const tool = options.tools?.get(state.tool);
  if (tool === undefined) {
    return stateFailure(
      new Error(`tool: unknown tool '${state.tool}' (this host has none of that name)`),
    );
  }
  const input = resolveInputs(level, state.input, unit.scope);
  if (input instanceof RangeError) return stateFailure(input);
  if (options.beforeEffect !== undefined && hasEffect(level, state)) {
    await options.beforeEffect({
      machine: level.machine.name,
      state: state.id,
      tool: state.tool,
      input,
      ...(unit.branch === undefined ? {} : { branch: unit.branch }),
    });
  }
  if (signal.aborted) return stateFailure(signal.reason);
  return await observe(level, state, { tool, input, path: placeOf(level, state, unit) });
}

async function observe(
  level: Level,
  state: ToolState,
  call: { readonly tool: HostTool; readonly input: JsonObject; readonly path: string },
): Promise<Outcome> {
  try {
    const answer = call.tool.run(call.input, {
      signal: level.shared.signal,
      machine: level.machine.name,
      state: state.id,
      path: call.path,
    });
    const value = toolText(state.tool, await awaitAnswer(level, answer));
    return { kind: "made", value, tokens: NO_TOKENS };
  } catch (cause) {
    return stateFailure(cause, NO_TOKENS);
  }
}

/**
 * The text of what a tool gave. Tools written in JavaScript may give anything; what is deposited is always a text.
 *
 * @param name The tool.
 * @param value What it gave.
 * @returns The text itself, or the JSON text of anything else.
 * @throws {TypeError} If there is no JSON text.
 */
export function toolText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  let text: string | undefined;
  let why = "";
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    // Only the first line: for an object that holds itself the rest is a drawing.
    if (cause instanceof Error) why = `: ${cause.message.split("\n")[0]}`;
  }
  if (text !== undefined) return text;
  throw new TypeError(
    `tool: '${name}' gave ${
      describeValue(value)
    }, which has no JSON text${why} (a tool gives a text)`,
  );
}

async function callMachine(level: Level, state: CallState, unit: Unit): Promise<Outcome> {
  const { shared } = level;
  const machine = shared.findMachine(state.call);
  if (machine === undefined) {
    return stateFailure(new Error(`call: unknown machine '${state.call}' (not in the registry)`));
  }
  const inputs = resolveInputs(level, state.input, unit.scope);
  if (inputs instanceof RangeError) return stateFailure(inputs);
  const trustedKeys = Object.keys(inputs)
    .filter((key) => !refersTo(state.input[key], unit.tainted));
  const result = await shared.runLevel({
    shared,
    machine,
    context: Object.assign(emptyObject(), machine.context, inputs),
    depth: level.depth + 1,
    path: `${placeOf(level, state, unit)}/`,
    cap: unit.cap,
    suspend: unit.suspend,
    trustedKeys,
    flowTainted: level.flowTainted,
    ...(unit.frames === undefined ? {} : { frames: unit.frames }),
    ...(unit.branch === undefined ? { caller: level } : {}),
  });
  if (result.cause instanceof UnknownStateError) {
    shared.tree.hold(-traceSize(result.trace));
    return stateFailure(result.cause);
  }
  if (result.status === "suspended") {
    return { kind: "suspended", error: result.error ?? "", frames: result.frames ?? [] };
  }
  const tokens = {
    input: result.usage?.input_tokens ?? 0,
    output: result.usage?.output_tokens ?? 0,
  };
  const subTrace = result.trace;
  if (result.status === "done") {
    return { kind: "made", value: result.result, tokens, subTrace };
  }
  const { cause } = result;
  return { kind: "call-failed", error: result.error ?? "sub-halted", subTrace, tokens, cause };
}

/** A text of more placeholders than a text can be long is a failure like any other. */
function resolveInputs(
  level: Level,
  written: JsonObject,
  scope: Scope,
): JsonObject | RangeError {
  const inputs = emptyObject();
  for (const key of Object.keys(written ?? {})) {
    const source = written[key] ?? null;
    let value: JsonValue;
    try {
      value = resolveInput(source, scope);
    } catch (cause) {
      if (cause instanceof RangeError) return cause;
      throw cause;
    }
    // A list or an object that a placeholder passed is from now on held elsewhere too.
    if (typeof source === "string" && typeof value === "object") level.shareValues();
    inputs[key] = value;
  }
  return inputs;
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value;
}
