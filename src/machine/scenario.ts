/**
 * Scenario tests: a machine, a script for everything it asks, and what is expected of it. Follows section "Scenario tests"
 * of the language: only scripted tools exist, built-in hooks do resolve, nothing is filled in from a clock.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { decodeFrames } from "./checkpoint.ts";
import type { Machine, Registry } from "./document.ts";
import type { ToolEffect } from "./effects.ts";
import { UnknownStateError } from "./failure.ts";
import { jsonText } from "./format.ts";
import { matchExpectation } from "./match.ts";
import type { Hook, HostTool, RunOptions, WatchedRunOptions } from "./options.ts";
import { createAnswerSource, readAnswers } from "./replay.ts";
import { resumeMachine, runMachine } from "./run.ts";
import { unreadKeys } from "./scenario_keys.ts";
import { createScriptedOracle, playList } from "./scripted_oracle.ts";
import type { MachineEvent, RunResult } from "./trace.ts";

/** What {@linkcode runScenario} needs beside the scenario. */
export interface ScenarioOptions {
  /** Machines that `call:` may name; default only the machine itself. */
  readonly registry?: Registry;
  /** The name of a scenario that has none, default `scenario`. */
  readonly label?: string;
  /** Told of everything, for coverage. */
  readonly onEvent?: (event: MachineEvent) => void;
}

/** How a scenario went. */
export interface ScenarioResult {
  /** Its name. */
  readonly name: string;
  /** Whether everything expected holds. */
  readonly passed: boolean;
  /** What does not hold, in a fixed order, as `key: expected X, got Y`. */
  readonly mismatches: readonly string[];
  /** What makes the scenario weaker than it looks, such as a key that nothing reads; and why a failed run ended. */
  readonly warnings: readonly string[];
  /** How the run ended, if there was one. */
  readonly result?: RunResult;
}

const NONCE_START = 0x10_0000;

/**
 * Runs one scenario. Never throws: what goes wrong is a mismatch.
 *
 * @param machine The machine.
 * @param scenario The scenario, as it stands in the file.
 * @param options Called machines, a label, an observer.
 * @returns How it went.
 */
export async function runScenario(
  machine: Machine,
  scenario: JsonValue,
  options: ScenarioOptions = {},
): Promise<ScenarioResult> {
  const label = options.label ?? "scenario";
  const name = isJsonObject(scenario) && typeof scenario.name === "string" ? scenario.name : label;
  const warnings = isJsonObject(scenario) ? unreadKeys(scenario) : [];
  const failed = (mismatch: string): ScenarioResult => ({
    name,
    passed: false,
    mismatches: [mismatch],
    warnings,
  });
  if (!isJsonObject(scenario) || !isJsonObject(scenario.expect)) {
    return failed("expect: missing, so there is nothing to test");
  }
  try {
    const result = await play(machine, scenario, options);
    if (result.cause instanceof UnknownStateError) throw result.cause;
    const mismatches = matchExpectation(result, scenario.expect);
    const passed = mismatches.length === 0;
    return {
      name,
      passed,
      mismatches,
      warnings: [...warnings, ...(passed ? [] : reasonOf(result))],
      result,
    };
  } catch (error) {
    const [kind, text] = error instanceof Error
      ? [error.name, error.message]
      : ["Error", String(error)];
    return failed(`scenario raised ${kind}: ${text}`);
  }
}

/** Why the run ended: what a scenario that failed for it expects is seldom the error. */
function reasonOf({ error, at }: RunResult): string[] {
  if (error === null) return [];
  return [`the run ended${at === undefined ? "" : ` at '${at}'`} with: ${error}`];
}

/**
 * Lists the scenarios of a file.
 *
 * @param document The file's value.
 * @returns The scenarios.
 * @throws {TypeError} If it has no list `scenarios`.
 */
export function listScenarios(document: JsonValue): readonly JsonValue[] {
  const scenarios = isJsonObject(document) ? document.scenarios : undefined;
  if (!Array.isArray(scenarios)) {
    throw new TypeError('A scenario file is a mapping with a list "scenarios"');
  }
  return scenarios;
}

async function play(
  machine: Machine,
  scenario: JsonObject,
  how: ScenarioOptions,
): Promise<RunResult> {
  const script = mapping(scenario, "llm");
  const answers = createAnswerSource(readAnswers(script.answers));
  const oracle = answers?.oracle ?? createScriptedOracle({
    produce: script.produce ?? [],
    judge: script.judge ?? [],
    tokens: script.tokens ?? null,
  });
  const run = mapping(scenario, "run");
  const options: WatchedRunOptions = {
    oracle,
    tools: answers?.tools ?? scriptedTools(mapping(scenario, "tools")),
    hooks: answers?.hooks ?? scriptedHooks(mapping(scenario, "hooks")),
    ...(answers === undefined ? {} : { fanOuts: answers.fanOuts }),
    context: { ...mapping(scenario, "context"), ...mapping(scenario, "input") },
    ports: { random: { float: () => 0, bytes: countedBytes() }, clock: STANDING_CLOCK },
    ...readRunOptions(run),
    ...(how.registry === undefined ? {} : { registry: how.registry }),
    ...(how.onEvent === undefined ? {} : { onEvent: how.onEvent }),
  };
  const frames = run.resume;
  return frames === undefined
    ? await runMachine(machine, options)
    : await resumeMachine(machine, decodeFrames(frames), options);
}

/** A scenario never waits, so its runs need no clock to give way to others. */
const STANDING_CLOCK: NonNullable<RunOptions["ports"]>["clock"] = {
  now: () => 0,
  monotonic: () => 0,
  sleep: () => Promise.resolve(),
  deadline: () => ({ signal: new AbortController().signal, [Symbol.dispose]: () => {} }),
  local: () => ({ date: "1970-01-01", dateTime: "1970-01-01T00:00:00+00:00" }),
};

/** Nonces that differ from each other but not from run to run. */
function countedBytes(): (length: number) => Uint8Array<ArrayBuffer> {
  let next = NONCE_START;
  return (length) => {
    const bytes = new Uint8Array(length);
    const number = next++;
    for (let i = 0; i < length; i++) bytes[length - 1 - i] = (number / 256 ** i) & 0xff;
    return bytes;
  };
}

function scriptedTools(scripts: JsonObject): ReadonlyMap<string, HostTool> {
  const tools = new Map<string, HostTool>();
  for (const [name, script] of Object.entries(scripts)) {
    tools.set(name, { run: scriptedTool(name, script) });
  }
  return tools;
}

function scriptedTool(name: string, script: JsonValue): (input: JsonObject) => string {
  if (Array.isArray(script)) {
    const next = playList(script, name);
    return () => asText(next());
  }
  if (!isJsonObject(script)) {
    throw new TypeError(`tools: the script of '${name}' is neither a list nor a mapping`);
  }
  const entries = Object.entries(script);
  return (input) => {
    const text = jsonText(input);
    const entry = entries.find(([part]) => text.includes(part));
    if (entry === undefined) {
      throw new Error(`tool '${name}': no scripted output for input ${text}`);
    }
    return asText(entry[1]);
  };
}

function scriptedHooks(scripts: JsonObject): ReadonlyMap<string, Hook> {
  const hooks = new Map<string, Hook>();
  for (const [name, script] of Object.entries(scripts)) {
    if (!Array.isArray(script)) throw new TypeError(`hooks: the script of '${name}' is no list`);
    const next = playList(script, name);
    hooks.set(name, () => {
      const verdict = next();
      if (typeof verdict !== "boolean") throw new TypeError("hook: not a boolean");
      return verdict;
    });
  }
  return hooks;
}

function asText(value: JsonValue): string {
  return typeof value === "string" ? value : jsonText(value);
}

function mapping(scenario: JsonObject, key: string): JsonObject {
  const value = scenario[key] ?? {};
  if (!isJsonObject(value)) throw new TypeError(`${key}: wanted a mapping`);
  return value;
}

type OptionReader = (value: JsonValue, name: string) => Partial<RunOptions>;

const RUN_OPTIONS: Readonly<Record<string, OptionReader>> = {
  ["cost_budget"]: (value, name) => value === null ? {} : { costBudget: number(value, name) },
  ["suspendable"]: (value, name) => ({ suspendable: boolean(value, name) }),
  ["escalate_suspend"]: (value, name) => ({ escalateSuspend: boolean(value, name) }),
  ["on_truncate"]: (value, name) => ({ onTruncate: policy(value, name) }),
  ["on_untrusted_flow"]: (value, name) => ({ onUntrustedFlow: policy(value, name) }),
  ["trusted_keys"]: (value, name) => ({ trustedKeys: texts(value, name) }),
  ["flow_tainted"]: (value, name) => ({ flowTainted: boolean(value, name) }),
  ["delimit"]: (value, name) => ({ delimit: boolean(value, name) }),
  ["prompt_value_chars"]: (value, name) => ({ promptValueChars: number(value, name) }),
  ["max_workers"]: (value, name) => ({ maxWorkers: number(value, name) }),
  ["max_called_steps"]: (value, name) => ({ maxCalledSteps: number(value, name) }),
  ["max_held_chars"]: (value, name) => ({ maxHeldChars: number(value, name) }),
  ["tool_effects"]: (value, name) => ({ toolEffects: effects(value, name) }),
  ["tier_params"]: () => ({}),
  ["resume"]: () => ({}),
};

function readRunOptions(run: JsonObject): Partial<RunOptions> {
  const options: Partial<RunOptions>[] = Object.entries(run).map(([name, value]) => {
    const read = Object.hasOwn(RUN_OPTIONS, name) ? RUN_OPTIONS[name] : undefined;
    if (read === undefined) {
      const known = Object.keys(RUN_OPTIONS).join(", ");
      throw new TypeError(`run: unknown option '${name}' (there are ${known})`);
    }
    return read(value, name);
  });
  return Object.assign({}, ...options);
}

function number(value: JsonValue, name: string): number {
  return typeof value === "number" ? value : wrong(name, "a number");
}

function boolean(value: JsonValue, name: string): boolean {
  return typeof value === "boolean" ? value : wrong(name, "true or false");
}

function policy(value: JsonValue, name: string): "report" | "halt" {
  return value === "report" || value === "halt" ? value : wrong(name, "report or halt");
}

function texts(value: JsonValue, name: string): string[] {
  if (!Array.isArray(value)) return wrong(name, "a list of texts");
  return value.map((item) => typeof item === "string" ? item : wrong(name, "a list of texts"));
}

function effects(value: JsonValue, name: string): Record<string, ToolEffect> {
  if (!isJsonObject(value)) return wrong(name, "a mapping of names to read or effect");
  const entries = Object.entries(value).map(([tool, effect]): [string, ToolEffect] =>
    effect === "read" || effect === "effect" ? [tool, effect] : wrong(name, "read or effect")
  );
  return Object.fromEntries(entries);
}

function wrong(name: string, wanted: string): never {
  throw new TypeError(`run: ${name}: wanted ${wanted}`);
}
