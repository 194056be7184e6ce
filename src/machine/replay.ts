// deno-lint-ignore-file camelcase -- scenario files have this spelling
/**
 * Recorded answers, and an oracle with tools and hooks that gives them again.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { type KitErrorCode, LlmError } from "../llm/mod.ts";
import type { Tier } from "./document.ts";
import type { FanOutWatch, Hook, HookSource, HostTool, ToolSource } from "./options.ts";
import { type Oracle, RefusalError, type Tokens } from "./oracle.ts";

/** Who answered. */
export type AnswerKind = "produce" | "judge" | "tool" | "hook";

/** One recorded answer. Plain JSON. */
export interface Answer {
  /** Where in the run it was given: the path of the call levels, the state, the branch. */
  readonly at: string;
  /** Who answered. */
  readonly kind: AnswerKind;
  /** The tool or the hook. */
  readonly name?: string;
  /** A produced text, or what a tool observed. */
  readonly text?: string;
  /** The model's thinking. */
  readonly reasoning?: string;
  /** Whether the model was cut off. */
  readonly truncated?: boolean;
  /** The endpoint's word for why the model stopped. */
  readonly finish?: string;
  /** The judge's choice. */
  readonly choice?: number;
  /** How the judge's reply was read. */
  readonly method?: "bare";
  /** A judge's reply that names no choice. */
  readonly raw?: string;
  /** A hook's verdict. */
  readonly verdict?: boolean;
  /** Prompt and completion tokens. */
  readonly tokens?: readonly [input: number, output: number];
  /** What was thrown instead of an answer. */
  readonly error?: AnswerError;
}

/** A recorded failure. */
export interface AnswerError {
  /** `refusal`, a code of a provider's error, or `error` for anything else. */
  readonly code: string;
  /** The text. */
  readonly message: string;
}

/** All answers of a run. */
export interface Answers {
  /** The judging model of each tier that has one. */
  readonly models: Readonly<Record<string, string>>;
  /** The answers, in the order in which they came. */
  readonly list: readonly Answer[];
  /** What the token cap did to fan-outs, in the order in which they ended; absent in runs without a cap. */
  readonly fan_outs?: readonly StartedBranches[];
}

/** How much of a fan-out the token cap let start. */
export interface StartedBranches {
  /** Where in the run it was. */
  readonly at: string;
  /** How many branches were started, from the first on. */
  readonly started: number;
}

/** What gives recorded answers again. */
export interface AnswerSource {
  /** Texts and choices. */
  readonly oracle: Oracle;
  /** Tools. */
  readonly tools: ToolSource;
  /** Hooks. */
  readonly hooks: HookSource;
  /** How many branches start. */
  readonly fanOuts: FanOutWatch;
}

/**
 * Reads recorded answers from JSON.
 *
 * @param value The JSON, or `undefined`.
 * @returns The answers, `undefined` if there are none.
 * @throws {TypeError} If it is something else.
 */
export function readAnswers(value: JsonValue | undefined): Answers | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value) || !isJsonObject(value.models) || !Array.isArray(value.list)) {
    throw new TypeError("answers: wanted a mapping with models and list");
  }
  const models = Object.entries(value.models).map(([tier, name]) => [tier, String(name)]);
  const answers = { models: Object.fromEntries(models), list: value.list.map(readAnswer) };
  if (value.fan_outs === undefined) return answers;
  if (!Array.isArray(value.fan_outs)) throw new TypeError("answers: fan_outs is no list");
  return { ...answers, fan_outs: value.fan_outs.map(readStarted) };
}

/**
 * Makes an oracle, tools and hooks that give recorded answers again, each where it was given.
 *
 * @param answers The answers.
 * @returns What gives them; `undefined` without answers.
 */
export function createAnswerSource(answers: Answers | undefined): AnswerSource | undefined {
  if (answers === undefined) return undefined;
  const queues = Map.groupBy(answers.list, (answer) => place(answer.kind, answer.at, answer.name));
  function take(kind: AnswerKind, at: string, name?: string): Answer {
    const answer = queues.get(place(kind, at, name))?.shift();
    if (answer === undefined) throw new Error(`recording: no ${kind} was recorded at '${at}'`);
    if (answer.error !== undefined) throw failure(answer.error, answer);
    return answer;
  }
  return {
    oracle: replayOracle(answers, take),
    tools: replayTools(answers, take),
    hooks: replayHooks(answers, take),
    fanOuts: replayFanOuts(answers),
  };
}

type Take = (kind: AnswerKind, at: string, name?: string) => Answer;

const TIERS: readonly Tier[] = ["balanced", "fast", "reasoning"];

function replayOracle(answers: Answers, take: Take): Oracle {
  return {
    tiers: TIERS.filter((tier) => Object.hasOwn(answers.models, tier)),
    judgeModel: (tier) => Object.hasOwn(answers.models, tier) ? answers.models[tier] : undefined,
    produce({ path = "" }) {
      const answer = take("produce", path);
      return {
        text: answer.text ?? "",
        tokens: tokensOf(answer),
        ...(answer.reasoning === undefined ? {} : { reasoning: answer.reasoning }),
        ...(answer.truncated === undefined ? {} : { truncated: answer.truncated }),
        ...(answer.finish === undefined ? {} : { finishReason: answer.finish }),
      };
    },
    judge({ path = "" }) {
      const answer = take("judge", path);
      const tokens = tokensOf(answer);
      if (answer.choice === undefined) {
        return { kind: "unparseable", raw: answer.raw ?? "", tokens };
      }
      const method = answer.method === undefined ? {} : { method: answer.method };
      return { kind: "choice", index: answer.choice, tokens, ...method };
    },
  };
}

function replayTools(answers: Answers, take: Take): ToolSource {
  const names = namesOf(answers, "tool");
  return {
    get(name): HostTool | undefined {
      if (!names.has(name)) return undefined;
      return { run: (_input, { path }) => take("tool", path, name).text ?? "" };
    },
  };
}

function replayHooks(answers: Answers, take: Take): HookSource {
  const names = namesOf(answers, "hook");
  return {
    get(name): Hook | undefined {
      if (!names.has(name)) return undefined;
      return (_context, _output, { path }) => take("hook", path, name).verdict === true;
    },
  };
}

function replayFanOuts({ fan_outs = [] }: Answers): FanOutWatch {
  const queues = Map.groupBy(fan_outs, ({ at }) => at);
  return { limit: (path) => queues.get(path)?.shift()?.started };
}

function namesOf(answers: Answers, kind: AnswerKind): ReadonlySet<string | undefined> {
  return new Set(answers.list.filter((answer) => answer.kind === kind).map(({ name }) => name));
}

function place(kind: AnswerKind, at: string, name?: string): string {
  return JSON.stringify([kind, at, name ?? null]);
}

function tokensOf({ tokens }: Answer): Tokens {
  return { input: tokens?.[0] ?? 0, output: tokens?.[1] ?? 0 };
}

function failure(error: AnswerError, answer: Answer): Error {
  const { input, output } = tokensOf(answer);
  if (error.code === "refusal") return new RefusalError(error.message, { input, output });
  if (error.code === "error") return new Error(error.message);
  // The codes were written by a recorder from errors of this very class.
  return new LlmError(error.code as KitErrorCode, error.message, {
    usage: { inputTokens: input, outputTokens: output, llmCalls: 1, uncertainTokens: 0 },
  });
}

function readStarted(value: JsonValue): StartedBranches {
  if (isJsonObject(value) && typeof value.at === "string" && typeof value.started === "number") {
    return { at: value.at, started: value.started };
  }
  throw new TypeError("answers: an entry of fan_outs has no place (at) or no number (started)");
}

function readAnswer(value: JsonValue): Answer {
  const fits = isJsonObject(value) && typeof value.at === "string" &&
    ["produce", "judge", "tool", "hook"].includes(String(value.kind));
  if (!fits) throw new TypeError("answers: an entry has no place (at) or no kind");
  return readAnswerFields(value, value.at);
}

function readAnswerFields(value: JsonObject, at: JsonValue | undefined): Answer {
  const { tokens, error } = value;
  const pair = Array.isArray(tokens) ? [Number(tokens[0]), Number(tokens[1])] as const : undefined;
  const failed = isJsonObject(error)
    ? { code: String(error.code), message: String(error.message) }
    : undefined;
  // Every other member is handed on as it is; a wrong type shows as a run that differs from the recorded one.
  const rest = value as JsonObject & Partial<Answer> & Pick<Answer, "kind">;
  return {
    ...rest,
    at: String(at),
    ...(pair === undefined ? {} : { tokens: pair }),
    ...(failed === undefined ? {} : { error: failed }),
  };
}
