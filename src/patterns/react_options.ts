/**
 * What a tool loop takes and gives.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { LlmProvider, LlmResponse, Message, Usage } from "../llm/mod.ts";
import type { ApprovalGate } from "./approval.ts";
import { COMMON_NAMES, type PatternOptions } from "./options.ts";

/** Rounds of a loop where the caller names no number. */
export const DEFAULT_MAX_ROUNDS = 8;
/** Sampling temperature of a loop where the caller names none. */
export const REACT_TEMPERATURE = 0.3;
/** Most characters of an observation where the caller names no number. */
export const DEFAULT_MAX_OBSERVATION_CHARS = 12_000;

/** What a tool knows beside its arguments. */
export interface ToolRunContext {
  /** Fires when the tool's time is over or the loop ends; whoever ignores it is left behind. */
  readonly signal: AbortSignal;
  /** The call's id, unique within the turn. */
  readonly toolCallId: string;
}

/** A tool that a model may call. */
export interface ReactTool {
  /** `^[A-Za-z0-9_-]{1,64}$`, unique in the loop. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments, root `type: "object"`. */
  readonly parameters: JsonObject;
  /** Most milliseconds for one call, default the loop's `toolTimeoutMs`. Work that blocks the thread is not cut off. */
  readonly timeoutMs?: number;
  /**
   * Does the work.
   *
   * @param args Fits `parameters`; frozen.
   * @param context What else is known.
   * @returns What the model is to see: a text, or a value that is shown as JSON.
   */
  execute(args: JsonObject, context: ToolRunContext): unknown;
}

/** How far a loop has come. */
export interface RoundReport {
  /** Which round is over, from 1. */
  readonly round: number;
  /** How many there can be. */
  readonly maxRounds: number;
  /** Tools that the model asked for in this round, by name; none in the last one. */
  readonly toolNames: readonly string[];
  /** What was spent so far. */
  readonly usage: Usage;
}

/** A loop at the end of a round, from which it can be continued with `messages`. */
export interface ReactCheckpoint {
  /** Which round is over, from 0. */
  readonly round: number;
  /** What the model said. */
  readonly lastResponse: LlmResponse;
  /** The tools it asked for. */
  readonly toolNames: readonly string[];
  /** What was spent so far. */
  readonly usage: Usage;
  /** The whole conversation, observations included. */
  readonly messages: readonly Message[];
}

/** What a summarizer is given. */
export interface SummaryRequest {
  /** The messages that are newly left out. */
  readonly dropped: readonly Message[];
  /** The summary of those left out before. */
  readonly previous: string | undefined;
  /** The loop's provider, on the loop's account. */
  readonly provider: LlmProvider;
  /** Fires when the loop ends. */
  readonly signal: AbortSignal;
}

/** How a tool loop runs. */
export interface ReactLoopOptions extends PatternOptions {
  /** The tools offered; default none. */
  readonly tools?: readonly ReactTool[];
  /** Most requests to the model, at least 1; default 8. */
  readonly maxRounds?: number;
  /** Most tools run in the whole loop, at least 1; default 64. Then an answer is asked for. */
  readonly maxToolCalls?: number;
  /** Most tools run in one round, at least 1; default 32. The surplus is answered with a refusal. */
  readonly maxToolCallsPerRound?: number;
  /** Most characters of one observation's output, at least 1; default 12000. */
  readonly maxObservationChars?: number;
  /** Most milliseconds for one tool, default 30000. */
  readonly toolTimeoutMs?: number;
  /** Most tools running at once, at least 1; default 8. */
  readonly toolConcurrency?: number;
  /** Forbids tools in the last round, so that an answer is likely; default true. */
  readonly forceFinalAnswer?: boolean;
  /** Runs equal calls of one round once and answers each; default false. */
  readonly dedupeIdentical?: boolean;
  /** Rounds in a row that bring nothing new before the loop ends as `stuck`, at least 1; default 4. */
  readonly maxRepeatedRounds?: number;
  /** Most messages of a request, at least 1; default all. */
  readonly maxHistoryMessages?: number;
  /** Makes a text of what `maxHistoryMessages` leaves out; if it fails, the messages are left out without one. */
  readonly summarizer?: (request: SummaryRequest) => Promise<string> | string;
  /** Asked before each tool runs, after its arguments were found good. */
  readonly approvalGate?: ApprovalGate;
  /** Given the loop after each round that called tools. */
  readonly onCheckpoint?: (checkpoint: ReactCheckpoint) => Promise<void> | void;
  /** What a failing `onCheckpoint` does: `ignore` (default, it is traced) or `throw`. */
  readonly onCheckpointError?: "ignore" | "throw";
  /** Told about each round, that of the answer included; what it throws is swallowed. */
  readonly onRound?: (report: RoundReport) => void;
}

/** The names of the options. */
export const REACT_NAMES = {
  ...COMMON_NAMES,
  tools: true,
  maxRounds: true,
  maxToolCalls: true,
  maxToolCallsPerRound: true,
  maxObservationChars: true,
  toolTimeoutMs: true,
  toolConcurrency: true,
  forceFinalAnswer: true,
  dedupeIdentical: true,
  maxRepeatedRounds: true,
  maxHistoryMessages: true,
  summarizer: true,
  approvalGate: true,
  onCheckpoint: true,
  onCheckpointError: true,
  onRound: true,
} satisfies Record<keyof ReactLoopOptions, true>;

/**
 * Why a loop ended. `natural`: the model answered. `truncated`: its answer was cut off. `refused`: it refused.
 * `max_tool_calls`: it answered because no more tools were allowed, or did not answer even then. The others are those of
 * errors; `failed` is every one that has no word of its own here, and its `code` says what it was.
 */
export type TerminationReason =
  | "natural"
  | "truncated"
  | "refused"
  | "max_rounds"
  | "max_tool_calls"
  | "budget"
  | "aborted"
  | "failed";

/** One tool call of a loop. */
export interface ReactStep {
  /** In which round, from 1. */
  readonly round: number;
  /** The tool, as the model wrote it, cut to 64 characters. */
  readonly tool: string;
  /** Whether it gave a result. */
  readonly ok: boolean;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** How a loop came about; also what a failed one leaves as `partial`. */
export interface ReactMetadata {
  /** Requests made to the model. */
  readonly rounds: number;
  /** Tools that were run. */
  readonly toolCallsMade: number;
  /** Calls that gave no result: unknown, unusable, denied, failed, timed out. */
  readonly failedToolCalls: number;
  /** Calls beyond a limit, not run. */
  readonly rejectedToolCalls: number;
  /** Answers that were cut off. */
  readonly truncatedResponses: number;
  /** Observations that were cut. */
  readonly truncatedObservations: number;
  /** Most messages left out of one request. */
  readonly messagesTrimmed: number;
  /** Whether a summary stood in for them. */
  readonly summarized: boolean;
  /** Why the loop ended. */
  readonly terminationReason: TerminationReason;
  /** Every call, in order. */
  readonly steps: readonly ReactStep[];
  /** The whole conversation; give it back as the input to go on. */
  readonly messages: readonly Message[];
  /** The latest text of the model, `""` if there was none. */
  readonly lastText: string;
}
