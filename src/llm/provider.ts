/**
 * What a provider is. Typing is structural: any object with a fitting `complete` is one.
 *
 * A provider makes exactly one attempt on the wire for each `complete`: retries, budgets and limits belong to
 * `callModel` alone, so they hold for every provider alike and are never multiplied.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { Ledger } from "./ledger.ts";
import type { Limiter } from "./limiter.ts";
import type { LlmResponse, Message, ToolSchema } from "./message.ts";
import type { Redactor } from "./redact.ts";

/** How a model is asked. */
export interface CompleteOptions {
  /** Sampling temperature; absent: the provider's default, or the field is not sent. */
  readonly temperature?: number;
  /** Most tokens of the answer. */
  readonly maxTokens?: number;
  /** Tools offered. */
  readonly tools?: readonly ToolSchema[];
  /** Whether tools may or must be called; sent only with tools. */
  readonly toolChoice?: "auto" | "none" | "required";
  /** The vendor's response format, such as a JSON Schema. */
  readonly responseFormat?: JsonObject;
  /** Asks for thinking where the vendor has a switch for it. */
  readonly reasoning?: boolean;
  /** Seed of the sampling. */
  readonly seed?: number;
  /** Texts that end the answer. */
  readonly stop?: readonly string[];
  /** Vendor fields; the names the provider writes itself are refused. */
  readonly extra?: Readonly<Record<string, JsonValue>>;
  /** Most milliseconds for this attempt, body included; absent: the provider's default. */
  readonly timeoutMs?: number;
  /** Same for every attempt of one logical call, so that an endpoint can tell a resent request. */
  readonly idempotencyKey?: string;
  /** Ends the attempt at once, its connection too. */
  readonly signal?: AbortSignal;
  /** Given only to providers with `metersItself`: where they reserve each attempt. */
  readonly ledger?: Ledger;
}

/** One part of a streamed answer. */
export type StreamEvent =
  | {
    /** More of the answer's text. */
    readonly type: "text";
    /** What was added. */
    readonly text: string;
  }
  | {
    /** More of the thinking. */
    readonly type: "reasoning";
    /** What was added. */
    readonly text: string;
  }
  | {
    /** The end; always last, exactly once, unless the stream throws. */
    readonly type: "done";
    /** The whole answer. */
    readonly response: LlmResponse;
  };

/** A source of completions. */
export interface LlmProvider {
  /** The vendor's flavour, as in OpenTelemetry's `gen_ai.provider.name`: `openai`, `anthropic`, `scripted`. */
  readonly name?: string;
  /** The model's name. */
  readonly model?: string;
  /** Where it is, without user and query, for traces. */
  readonly url?: string;
  /** Whether tools may be offered; only `true` counts. */
  readonly supportsTools?: boolean;
  /** Whether `reasoning` switches on native thinking; only `true` counts. */
  readonly supportsReasoning?: boolean;
  /** Whether `responseFormat` is understood; only `true` counts. */
  readonly supportsResponseFormat?: boolean;
  /** Masks the provider's own secrets in a text, and what looks like a secret: for what is kept of its requests. */
  readonly redact?: Redactor;
  /** Set by providers that call others: they reserve in `options.ledger` and retry on their own. */
  readonly metersItself?: boolean;
  /** Bounds the rate and number of requests at once, across all callers of this provider. */
  readonly limiter?: Limiter;
  /**
   * Asks once.
   *
   * @param messages The conversation, at least one message.
   * @param options How.
   * @throws {LlmError} Of the kinds in `errors.ts`; nothing else.
   */
  complete(messages: readonly Message[], options?: CompleteOptions): Promise<LlmResponse>;
  /** As `complete`, in parts. Ending the loop early ends the request. */
  stream?(messages: readonly Message[], options?: CompleteOptions): AsyncIterable<StreamEvent>;
}
