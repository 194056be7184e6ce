/**
 * Recordings: every answer that a run got, so that the run can be repeated without a model.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { KitError } from "../llm/mod.ts";
import type { Machine, Registry } from "./document.ts";
import { toolText } from "./execute.ts";
import { tokensOf } from "./failure.ts";
import { jsonText } from "./format.ts";
import { resolveHook } from "./hooks.ts";
import type { HookSource, RunOptions, ToolSource, WatchedRunOptions } from "./options.ts";
import {
  type Oracle,
  RefusalError,
  requireProduced,
  requireVerdict,
  type Tokens,
} from "./oracle.ts";
import type { Answer, AnswerError, AnswerKind, StartedBranches } from "./replay.ts";
import { startContext } from "./run.ts";
import { runScenario } from "./scenario.ts";
import { type Frame, resultObject, type RunResult } from "./trace.ts";
import { sameValue } from "./values.ts";

/** Listens to a run. */
export interface Recorder {
  /** The options to run with instead of those given. */
  readonly options: WatchedRunOptions;
  /**
   * What was heard, as plain JSON.
   *
   * @param result How the run ended.
   */
  recording(result: RunResult): JsonObject;
}

/**
 * Makes a recorder for one run.
 *
 * @param machine The machine.
 * @param options The options of the run.
 * @param start `frames`: where the run goes on from, if it was suspended.
 * @returns The recorder.
 */
export function createRecorder(
  machine: Machine,
  options: RunOptions,
  start: { readonly frames?: readonly Frame[] } = {},
): Recorder {
  const list: Answer[] = [];
  const fanOuts: StartedBranches[] = [];
  const { oracle, tools, hooks } = options;
  return {
    options: {
      ...options,
      oracle: recordedOracle(oracle, list),
      hooks: recordedHooks(hooks, list),
      fanOuts: { started: (at, started) => fanOuts.push({ at, started }) },
      ...(tools === undefined ? {} : { tools: recordedTools(tools, list) }),
    },
    recording: (result) => ({
      recording: 1,
      machine: machine.name,
      context: start.frames === undefined ? inputsOf(machine, options) : {},
      run: {
        ...runOptions(options),
        ...(start.frames === undefined ? {} : { resume: plainJson(start.frames) }),
      },
      answers: plainJson({
        models: modelsOf(oracle),
        list,
        ...(fanOuts.length === 0 ? {} : { ["fan_outs"]: fanOuts }),
      }),
      result: resultObject(result),
    }),
  };
}

/**
 * Turns a recording into a scenario that repeats the run: in the common form of scripts where that gives the same run,
 * else with each answer at its place.
 *
 * @param recording What a {@linkcode Recorder} heard.
 * @param machine The machine.
 * @param options `registry`: machines that `call:` may name; `name`: of the scenario.
 * @returns The scenario.
 * @throws {TypeError} If the recording is none.
 */
export async function scenarioFromRecording(
  recording: JsonValue,
  machine: Machine,
  options: { readonly registry?: Registry; readonly name?: string } = {},
): Promise<JsonObject> {
  if (!isJsonObject(recording) || recording.recording !== 1 || !isJsonObject(recording.result)) {
    throw new TypeError("Not a recording: wanted a mapping with recording: 1");
  }
  const { context, run, answers, result } = recording;
  const base = {
    name: options.name ?? `recorded ${machine.name}`,
    ...(sameValue(context, {}) ? {} : { context: context ?? {} }),
    ...(sameValue(run, {}) ? {} : { run: run ?? {} }),
  };
  const expect = expectation(result);
  const plain = { ...base, ...plainScript(answers), expect };
  const registry = options.registry === undefined ? {} : { registry: options.registry };
  const trial = await runScenario(machine, plain, registry);
  const same = trial.result !== undefined &&
    sameValue(plainJson(resultObject(trial.result)), result);
  return same ? plain : { ...base, llm: { answers: answers ?? {} }, expect };
}

function recordedOracle(oracle: Oracle, list: Answer[]): Oracle {
  return {
    tiers: oracle.tiers,
    judgeModel: (tier) => oracle.judgeModel(tier),
    async produce(request) {
      const place = { at: request.path ?? "", kind: "produce" } as const;
      const produced = await heard(
        list,
        place,
        async () => requireProduced(await oracle.produce(request)),
      );
      const { text, reasoning, truncated, finishReason, tokens } = produced;
      list.push({
        ...place,
        text,
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(truncated === true ? { truncated } : {}),
        ...(truncated === true && finishReason !== undefined ? { finish: finishReason } : {}),
        ...tokenPair(tokens),
      });
      return produced;
    },
    async judge(request) {
      const place = { at: request.path ?? "", kind: "judge" } as const;
      const verdict = await heard(
        list,
        place,
        async () => requireVerdict(await oracle.judge(request)),
      );
      const answer = verdict.kind === "choice"
        ? { choice: verdict.index, ...(verdict.method ? { method: verdict.method } : {}) }
        : { raw: verdict.raw };
      list.push({ ...place, ...answer, ...tokenPair(verdict.tokens) });
      return verdict;
    },
  };
}

function recordedTools(tools: ToolSource, list: Answer[]): ToolSource {
  return {
    get(name) {
      const tool = tools.get(name);
      if (tool === undefined) return undefined;
      return {
        ...(tool.effect === undefined ? {} : { effect: tool.effect }),
        async run(input, options) {
          const place = { at: options.path, kind: "tool", name } as const;
          const text = await heard(
            list,
            place,
            async () => toolText(name, await tool.run(input, options)),
          );
          list.push({ ...place, text });
          return text;
        },
      };
    },
  };
}

function recordedHooks(hooks: HookSource | undefined, list: Answer[]): HookSource {
  return {
    get(name) {
      const hook = resolveHook(name, hooks);
      if (hook === undefined) return undefined;
      return async (context, output, options) => {
        const place = { at: options.path, kind: "hook", name } as const;
        const verdict = await heard(list, place, () => hook(context, output, options));
        list.push({ ...place, verdict });
        return verdict;
      };
    },
  };
}

async function heard<T>(
  list: Answer[],
  place: { readonly at: string; readonly kind: AnswerKind; readonly name?: string },
  ask: () => T | Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    list.push({ ...place, error: describe(error), ...tokenPair(tokensOf(error)) });
    throw error;
  }
}

function describe(error: unknown): AnswerError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RefusalError) return { code: "refusal", message };
  return { code: error instanceof KitError ? error.code : "error", message };
}

function tokenPair({ input, output }: Tokens): Pick<Answer, "tokens"> {
  return input === 0 && output === 0 ? {} : { tokens: [input, output] };
}

function modelsOf(oracle: Oracle): Record<string, string> {
  const models: Record<string, string> = {};
  for (const tier of oracle.tiers) models[tier] = oracle.judgeModel(tier) ?? "";
  return models;
}

/** Only what differs from the author's values, since only that is an input. */
function inputsOf(machine: Machine, options: RunOptions): JsonObject {
  const context = startContext(machine, options);
  const inputs = Object.entries(context).filter(([key, value]) =>
    !Object.hasOwn(machine.context, key) ||
    jsonText(value) !== jsonText(machine.context[key] ?? null)
  );
  return Object.fromEntries(inputs);
}

/** Only what differs from the defaults, so that the scenario is short. */
function runOptions(options: RunOptions): JsonObject {
  const { onTruncate, onUntrustedFlow } = options;
  return plainJson({
    cost_budget: options.costBudget,
    suspendable: options.suspendable || undefined,
    escalate_suspend: options.escalateSuspend || undefined,
    on_truncate: onTruncate === "report" ? undefined : onTruncate,
    on_untrusted_flow: onUntrustedFlow === "report" ? undefined : onUntrustedFlow,
    trusted_keys: options.trustedKeys,
    flow_tainted: options.flowTainted || undefined,
    delimit: options.delimit === false ? false : undefined,
    prompt_value_chars: options.promptValueChars,
    max_workers: options.maxWorkers,
    max_called_steps: options.maxCalledSteps,
    max_held_chars: options.maxHeldChars,
    tool_effects: options.toolEffects,
  });
}

function expectation(result: JsonObject): JsonObject {
  const { status, error, at, trace } = result;
  const steps = Array.isArray(trace) ? trace : [];
  return {
    status: status ?? null,
    error: error ?? null,
    result: result.result ?? null,
    ...(at === undefined ? {} : { at }),
    trace: steps.filter(isJsonObject).map(({ state, gate, policy, to }) => ({
      state: state ?? null,
      gate: gate ?? null,
      policy: policy ?? null,
      to: to ?? null,
    })),
  };
}

/** The common form: lists in order. It holds less than the answers, so whoever uses it compares the runs. */
function plainScript(answers: JsonValue | undefined): JsonObject {
  const list = isJsonObject(answers) && Array.isArray(answers.list)
    ? answers.list.filter(isJsonObject)
    : [];
  const of = (kind: AnswerKind): JsonObject[] => list.filter((answer) => answer.kind === kind);
  const produced = of("produce");
  const judged = of("judge");
  const tokens = produced[0]?.tokens;
  return {
    llm: {
      produce: produced.map(({ text }) => text ?? ""),
      ...(judged.length === 0
        ? {}
        : { judge: judged.map(({ choice }) => choice ?? "unparseable") }),
      ...(tokens === undefined ? {} : { tokens }),
    },
    ...byName("tools", of("tool"), "text"),
    ...byName("hooks", of("hook"), "verdict"),
  };
}

function byName(key: string, answers: readonly JsonObject[], member: string): JsonObject {
  if (answers.length === 0) return {};
  const groups = Map.groupBy(answers, ({ name }) => String(name));
  const scripts = [...groups].map(([name, group]): [string, JsonValue] => [
    name,
    group.map((answer) => answer[member] ?? ""),
  ]);
  return { [key]: Object.fromEntries(scripts) };
}

function plainJson(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}
