/**
 * What is said to a model and what it answers, independent of any vendor's wire format. Text only: Kit has no type for
 * images or sound.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";

/** Why a model stopped. `unknown` covers an absent, null or unheard-of reason. */
export type FinishReason =
  | "stop"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "refusal"
  | "unknown";

/** A tool that the model asked for. Arguments that cannot be used are kept, so that the model can be told. */
export type ToolCall =
  | {
    /** Usable. */
    readonly kind: "ok";
    /** Unique within the turn. */
    readonly id: string;
    /** The tool's name as the model wrote it. */
    readonly name: string;
    /** The parsed arguments; absent ones are `{}`. */
    readonly arguments: JsonObject;
    /** Whether the arguments were mended mechanically. */
    readonly repaired?: true;
  }
  | {
    /** Arguments are present but cannot be used. */
    readonly kind: "invalid";
    /** Unique within the turn. */
    readonly id: string;
    /** The tool's name as the model wrote it. */
    readonly name: string;
    /** The arguments as they came. */
    readonly rawArguments: string;
    /** What is wrong with them, for the model. */
    readonly problem: string;
  };

/** One message of a conversation. */
export type Message =
  | {
    /** Who speaks. */
    readonly role: "system" | "user";
    /** The text. */
    readonly content: string;
  }
  | {
    /** The model. */
    readonly role: "assistant";
    /** Its text; `null` in a turn that only calls tools. */
    readonly content: string | null;
    /** The tools it asked for; each must be answered by a `tool` message. */
    readonly toolCalls?: readonly ToolCall[];
    /** Opaque data that the vendor wants back with this turn ({@linkcode LlmResponse.vendorData}). */
    readonly vendorData?: JsonValue;
  }
  | {
    /** A tool's result. */
    readonly role: "tool";
    /** The call it answers. */
    readonly toolCallId: string;
    /** The observation. */
    readonly content: string;
  };

/** A tool as it is offered to a model. */
export interface ToolSchema {
  /** `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, root `type: "object"`. */
  readonly parameters: JsonObject;
}

/** What the endpoint says one request cost. */
export interface TokenUsage {
  /** Prompt tokens; 0 if unknown. */
  readonly inputTokens: number;
  /** Completion tokens, thinking included; 0 if unknown. */
  readonly outputTokens: number;
  /** False if the endpoint reported no counts, or none that can be believed: the estimate is charged then. */
  readonly known: boolean;
}

/** One answer of a model. */
export interface LlmResponse {
  /** The answer's text without the thinking; `""` if there is none. */
  readonly content: string;
  /** The thinking, if the endpoint gave it. */
  readonly reasoning?: string;
  /** The tools asked for, in order. */
  readonly toolCalls: readonly ToolCall[];
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** The endpoint's own word for it. */
  readonly rawFinishReason?: string;
  /** The text of a refusal. */
  readonly refusal?: string;
  /** What it cost. */
  readonly usage: TokenUsage;
  /** What was odd about the answer, as sentences for a log; usually empty. */
  readonly warnings: readonly string[];
  /** The model that answered, as the endpoint names it. */
  readonly model?: string;
  /** The endpoint's id of the answer. */
  readonly id?: string;
  /** Opaque data to send back in {@linkcode Message} when this turn is replayed. */
  readonly vendorData?: JsonValue;
}
