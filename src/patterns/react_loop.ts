/**
 * A model that thinks, calls tools, sees what came of it, and answers.
 *
 * Method: ReAct ({@link https://arxiv.org/abs/2210.03629 | Yao et al. 2022}).
 *
 * @module
 */
import { canonicalJson, deepFreeze } from "../json/mod.ts";
import {
  ConfigError,
  type KitError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  notify,
  PatternError,
  type ToolCall,
} from "../llm/mod.ts";
import {
  checkFunction,
  checkMethod,
  checkNames,
  checkNumber,
  checkProvider,
  checkText,
  type PatternResult,
} from "./options.ts";
import {
  DEFAULT_MAX_OBSERVATION_CHARS,
  DEFAULT_MAX_ROUNDS,
  REACT_NAMES,
  REACT_TEMPERATURE,
  type ReactLoopOptions,
  type ReactMetadata,
  type ReactStep,
  type TerminationReason,
} from "./react_options.ts";
import {
  type Observation,
  observationText,
  type PreparedTool,
  prepareTools,
  ToolRunner,
  toolSchemas,
} from "./react_tools.ts";
import { chooseWindow, Summary } from "./react_window.ts";
import { type PatternRun, runPattern } from "./run_pattern.ts";
import { truncateText } from "./text_limits.ts";
import { copyTranscript, ownMessage } from "./transcript.ts";

const DEFAULT_MAX_TOOL_CALLS = 64;
const DEFAULT_MAX_CALLS_PER_ROUND = 32;
const DEFAULT_MAX_REPEATED_ROUNDS = 4;
const MAX_STEP_NAME_CHARACTERS = 64;

/**
 * Lets a model call tools until it answers.
 *
 * Each round is one request; the tools it asks for run together and are answered in its order. A call that cannot be
 * run, for whatever reason, is answered with the reason, so that the model can do better. Model output is untrusted:
 * tools with side effects belong behind an `approvalGate`.
 *
 * @example
 * ```ts
 * import { calculatorTool, reactLoop } from "@kit/mcp";
 * import { MockProvider, mockToolCall } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider([
 *   { toolCalls: [mockToolCall("calculator", { expression: "17 * 83" })] },
 *   "It is 1411.",
 * ]);
 * const { value, metadata } = await reactLoop(model, "What is 17 times 83?", {
 *   tools: [calculatorTool],
 * });
 * assertEquals([value, metadata.rounds, metadata.toolCallsMade], ["It is 1411.", 2, 1]);
 * ```
 *
 * @param provider Whom to ask; must support tools if any are given.
 * @param input The question, or a conversation to go on with, such as `metadata.messages` of an earlier loop.
 * @param options The tools, and how the loop runs.
 * @returns The answer.
 * @throws {ConfigError} Before anything is spent: codes `argument` and `tool_definition`.
 * @throws {PatternError} `max_rounds` if no answer came in time, `stuck` if the same calls gave the same results again
 * and again. These, and `budget` and `aborted`, leave a {@linkcode ReactMetadata} as `partial`.
 */
export async function reactLoop(
  provider: LlmProvider,
  input: string | readonly Message[],
  options: ReactLoopOptions = {},
): Promise<PatternResult<string, ReactMetadata>> {
  checkProvider(provider);
  checkOptions(provider, options);
  const history = typeof input === "string"
    ? copyTranscript([{ role: "user", content: checkText("prompt", input) }], options.system)
    : copyTranscript(input, options.system);
  const tools = await prepareTools(options.tools ?? []);
  return await runPattern("react_loop", options, async (run) => {
    const loop = new Loop({ provider, options, run, tools, history });
    run.keep((error) => loop.facts(reasonOf(error)));
    return await loop.turnUntilAnswered();
  });
}

function checkOptions(provider: LlmProvider, options: ReactLoopOptions): void {
  checkNames("reactLoop", options, REACT_NAMES);
  checkFunction("option summarizer", options.summarizer);
  checkFunction("option onCheckpoint", options.onCheckpoint);
  checkFunction("option onRound", options.onRound);
  checkMethod("approvalGate", options.approvalGate, "request");
  if (options.tools !== undefined && !Array.isArray(options.tools)) {
    throw new ConfigError("Cannot use option tools: wanted a list of tools", { code: "argument" });
  }
  const counts = {
    maxRounds: options.maxRounds,
    maxToolCalls: options.maxToolCalls,
    maxToolCallsPerRound: options.maxToolCallsPerRound,
    maxObservationChars: options.maxObservationChars,
    toolConcurrency: options.toolConcurrency,
    maxRepeatedRounds: options.maxRepeatedRounds,
    maxHistoryMessages: options.maxHistoryMessages,
    toolTimeoutMs: options.toolTimeoutMs,
  };
  for (const [name, count] of Object.entries(counts)) {
    if (count !== undefined) checkNumber(name, count, { min: 1 });
  }
  if ((options.tools ?? []).length > 0 && provider.supportsTools !== true) {
    throw new ConfigError(
      "Cannot run tools: the provider does not support tool calling (supportsTools is not true)",
      { code: "argument" },
    );
  }
}

/** One loop under way. */
class Loop {
  readonly #provider: LlmProvider;
  readonly #options: ReactLoopOptions;
  readonly #run: PatternRun;
  readonly #runner: ToolRunner;
  readonly #summary: Summary | undefined;
  readonly #messages: Message[];
  readonly #steps: ReactStep[] = [];
  readonly #seen = new Set<string>();
  readonly #maxRounds: number;
  #rounds = 0;
  #repeated = 0;
  #lastText = "";
  #counts = {
    toolCallsMade: 0,
    failedToolCalls: 0,
    rejectedToolCalls: 0,
    truncatedResponses: 0,
    truncatedObservations: 0,
    messagesTrimmed: 0,
  };

  constructor(parts: {
    readonly provider: LlmProvider;
    readonly options: ReactLoopOptions;
    readonly run: PatternRun;
    readonly tools: ReadonlyMap<string, PreparedTool>;
    readonly history: readonly Message[];
  }) {
    const { provider, options, run } = parts;
    this.#provider = provider;
    this.#options = {
      ...options,
      maxObservationChars: options.maxObservationChars ?? DEFAULT_MAX_OBSERVATION_CHARS,
    };
    this.#run = run;
    this.#runner = new ToolRunner(parts.tools, run, this.#options);
    this.#summary = options.summarizer === undefined
      ? undefined
      : new Summary(options.summarizer, run, provider);
    this.#messages = [...parts.history];
    this.#maxRounds = options.maxRounds ?? DEFAULT_MAX_ROUNDS;
  }

  async turnUntilAnswered(): Promise<PatternResult<string, ReactMetadata>> {
    while (this.#rounds < this.#maxRounds) {
      const response = await this.#ask();
      if (response.content.trim() !== "") this.#lastText = response.content;
      if (response.finishReason === "length") this.#counts.truncatedResponses += 1;
      if (response.toolCalls.length === 0) {
        this.#report(response);
        return this.#answer(response);
      }
      if (this.#toolCallsLeft() === 0) throw this.#unanswered("tool calls", "max_tool_calls");
      await this.#act(response);
      this.#report(response);
    }
    throw this.#unanswered(`${this.#maxRounds} rounds`, "max_rounds");
  }

  /** What is known of the loop so far. */
  facts(terminationReason: TerminationReason): ReactMetadata {
    return {
      rounds: this.#rounds,
      ...this.#counts,
      summarized: this.#summary?.used === true,
      terminationReason,
      steps: [...this.#steps],
      messages: [...this.#messages],
      lastText: this.#lastText,
    };
  }

  async #ask(): Promise<LlmResponse> {
    const { maxHistoryMessages, tools = [], temperature } = this.#options;
    const window = chooseWindow(this.#messages, maxHistoryMessages);
    this.#counts.messagesTrimmed = Math.max(
      this.#counts.messagesTrimmed,
      window.dropped.length,
    );
    const messages = await this.#summary?.extend(window) ?? window.messages;
    this.#rounds += 1;
    return await this.#run.call(this.#provider, messages, {
      temperature: temperature ?? REACT_TEMPERATURE,
      round: this.#rounds,
      ...(tools.length === 0 ? {} : { tools: toolSchemas(tools) }),
      ...(tools.length > 0 && this.#mustAnswer() ? { toolChoice: "none" as const } : {}),
    });
  }

  #mustAnswer(): boolean {
    const last = this.#rounds === this.#maxRounds && this.#maxRounds > 1;
    return this.#toolCallsLeft() === 0 || (last && this.#options.forceFinalAnswer !== false);
  }

  #toolCallsLeft(): number {
    const limit = this.#options.maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS;
    return Math.max(0, limit - this.#counts.toolCallsMade);
  }

  #answer(response: LlmResponse): PatternResult<string, ReactMetadata> {
    const value = response.content !== "" ? response.content : response.refusal ?? "";
    if (value !== "") this.#append(response);
    return this.#run.result({ value, metadata: this.facts(this.#reason(response)) });
  }

  #reason(response: LlmResponse): TerminationReason {
    if (response.finishReason === "length") return "truncated";
    if (response.finishReason === "refusal") return "refused";
    return this.#toolCallsLeft() === 0 ? "max_tool_calls" : "natural";
  }

  /** Runs the tools of a round. The conversation stays whole: every call gets its result, or none is written. */
  async #act(response: LlmResponse): Promise<void> {
    const calls = response.toolCalls;
    const perRound = this.#options.maxToolCallsPerRound ?? DEFAULT_MAX_CALLS_PER_ROUND;
    const allowed = Math.min(perRound, this.#toolCallsLeft());
    const observations = await this.#runner.runAll(calls, { round: this.#rounds, allowed });
    this.#append(response);
    let news = false;
    for (const [index, call] of calls.entries()) {
      const observation = observations[index];
      if (observation === undefined) continue;
      this.#note(call, observation);
      news = this.#isNews(call, observation) || news;
    }
    await this.#checkpoint(response);
    this.#repeated = news ? 0 : this.#repeated + 1;
    if (this.#repeated >= (this.#options.maxRepeatedRounds ?? DEFAULT_MAX_REPEATED_ROUNDS)) {
      throw new PatternError(
        "stuck",
        `Cannot go on: ${this.#repeated} rounds in a row made the same calls with the same results`,
      );
    }
  }

  #append(response: LlmResponse): void {
    const { content, toolCalls, vendorData } = response;
    this.#messages.push(ownMessage({
      role: "assistant",
      content: content === "" && toolCalls.length > 0 ? null : content || (response.refusal ?? ""),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(vendorData === undefined ? {} : { vendorData }),
    }));
  }

  #note(call: ToolCall, observation: Observation): void {
    this.#messages.push(ownMessage({
      role: "tool",
      toolCallId: call.id,
      content: observationText(call.name, observation),
    }));
    if (observation.kind === "executed") this.#counts.toolCallsMade += 1;
    if (observation.kind === "rejected") this.#counts.rejectedToolCalls += 1;
    else if (!observation.ok) this.#counts.failedToolCalls += 1;
    if (observation.truncated) this.#counts.truncatedObservations += 1;
    this.#steps.push({
      round: this.#rounds,
      tool: truncateText(call.name, MAX_STEP_NAME_CHARACTERS).text,
      ok: observation.ok,
      durationMs: observation.durationMs,
    });
  }

  #isNews(call: ToolCall, observation: Observation): boolean {
    const asked = call.kind === "ok" ? canonicalJson(call.arguments) : call.rawArguments;
    const key = JSON.stringify([call.name, asked, observation.output]);
    const isNew = !this.#seen.has(key);
    this.#seen.add(key);
    return isNew;
  }

  async #checkpoint(response: LlmResponse): Promise<void> {
    const { onCheckpoint, onCheckpointError = "ignore" } = this.#options;
    if (onCheckpoint === undefined) return;
    let stored = true;
    try {
      await onCheckpoint(deepFreeze({
        round: this.#rounds - 1,
        lastResponse: structuredClone(response),
        toolNames: response.toolCalls.map((call) => call.name),
        usage: { ...this.#run.ledger.spent },
        messages: [...this.#messages],
      }));
    } catch (error) {
      stored = false;
      if (onCheckpointError === "throw") throw error;
    } finally {
      this.#run.point("checkpoint", { name: `round ${this.#rounds}`, stored });
    }
  }

  #report(response: LlmResponse): void {
    notify(this.#options.onRound, {
      round: this.#rounds,
      maxRounds: this.#maxRounds,
      toolNames: response.toolCalls.map((call) => call.name),
      usage: { ...this.#run.ledger.spent },
    });
  }

  #unanswered(after: string, reason: "max_rounds" | "max_tool_calls"): PatternError {
    return new PatternError(
      "max_rounds",
      `No final answer after ${after}: raise ${
        reason === "max_rounds" ? "maxRounds" : "maxToolCalls"
      } or go on with the conversation in partial.messages`,
      {
        details: { reason, rounds: this.#rounds, toolCallsMade: this.#counts.toolCallsMade },
      },
    );
  }
}

/** What an error means for the loop. */
function reasonOf({ code, details }: KitError): TerminationReason {
  if (code === "budget" || code === "aborted") return code;
  if (code !== "max_rounds") return "failed";
  return details["reason"] === "max_tool_calls" ? "max_tool_calls" : "max_rounds";
}
