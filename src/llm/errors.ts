/**
 * What can go wrong, as classes and fixed codes. Branch on `code`, never on the text.
 *
 * @module
 */
import { NO_USAGE, type Usage } from "./usage.ts";

/** Every code that a {@linkcode KitError} can have. Fixed words: callers store them. */
export type KitErrorCode =
  | "rate_limit"
  | "quota"
  | "auth"
  | "bad_request"
  | "not_found"
  | "too_large"
  | "unprocessable"
  | "redirect"
  | "content_filter"
  | "overloaded"
  | "server"
  | "timeout"
  | "network"
  | "bad_response"
  | "aborted"
  | "config"
  | "argument"
  | "tool_definition"
  | "budget"
  | "no_consensus"
  | "max_rounds"
  | "stuck"
  | "structured"
  | "evaluator"
  | "approval_denied"
  | "approval_timeout"
  | "workflow"
  | "checkpoint"
  | "routing"
  | "pattern";

/** What a {@linkcode KitError} can carry beside its text. */
export interface KitErrorOptions {
  /** What caused it. */
  readonly cause?: unknown;
  /** Whether the same call may succeed later; default false. */
  readonly retryable?: boolean;
  /** What was spent before and by the failure; default nothing. */
  readonly usage?: Usage;
  /** The best of what was made before the failure, for the caller to keep. */
  readonly partial?: unknown;
  /** Facts for programs: `status`, `url` without its query, `attempts`, `tally` … */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Failures of parallel branches that were not chosen to be thrown. */
  readonly others?: readonly unknown[];
}

/**
 * The base of every error that Kit throws on purpose.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const vote = () => consensus(new MockProvider(["yes", "no"]), "Sure?", { numSamples: 2, onTie: "error" });
 * const error = await assertRejects(vote, KitError);
 * assertEquals([error.code, error.retryable, error.usage.llmCalls], ["no_consensus", false, 2]);
 * ```
 */
export class KitError extends Error {
  /** The class, also where `instanceof` cannot tell. */
  override readonly name: string = "KitError";
  /** What went wrong, as a fixed word. */
  readonly code: KitErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What was spent, this failure included. */
  readonly usage: Usage;
  /** The best of what was made before the failure. */
  readonly partial: unknown;
  /** Facts for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Failures of parallel branches that were not chosen to be thrown. */
  readonly others: readonly unknown[];

  /**
   * Makes an error.
   *
   * @param code What went wrong.
   * @param message What could not be done, where, and what to do next; secrets masked.
   * @param options What it carries.
   */
  constructor(code: KitErrorCode, message: string, options: KitErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.usage = options.usage ?? NO_USAGE;
    this.partial = options.partial;
    this.details = options.details ?? {};
    this.others = options.others ?? [];
  }
}

/**
 * An endpoint refused, failed or could not be reached.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const busy = new LlmError("rate_limit", "Too many requests", { retryable: true, retryAfterMs: 2000 });
 * assertEquals([busy.code, busy.retryAfterMs], ["rate_limit", 2000]);
 * ```
 */
export class LlmError extends KitError {
  /** The class. */
  override readonly name: string = "LlmError";
  /** How long the endpoint asked to wait, in milliseconds, or `undefined` if it did not say. */
  readonly retryAfterMs: number | undefined;
  /** Makes an error. `retryAfterMs`: how long the endpoint asked to wait. */
  constructor(
    code: KitErrorCode,
    message: string,
    options: KitErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * A budget does not allow the next request, or a deadline has passed. Code `budget`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const model = new MockProvider(["yes", "yes", "yes"]);
 * const vote = () => consensus(model, "Sure?", { numSamples: 3, budget: { maxCalls: 1 } });
 * const error = await assertRejects(vote, BudgetExhaustedError);
 * assertEquals([error.field, error.usage.llmCalls], ["maxCalls", 1]);
 * ```
 */
export class BudgetExhaustedError extends KitError {
  /** The class. */
  override readonly name: string = "BudgetExhaustedError";
  /** Which limit: `maxCalls`, `maxInputTokens`, `maxOutputTokens`, `maxTokens`, `maxCostUsd` or `deadline`. */
  readonly field: string;
  /** Makes an error. */
  constructor(field: string, message: string, options: KitErrorOptions = {}) {
    super("budget", message, options);
    this.field = field;
  }
}

/**
 * The caller's signal fired. Code `aborted`; never retried.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const signal = AbortSignal.abort("changed my mind");
 * const vote = () => consensus(new MockProvider([]), "Sure?", { signal });
 * const error = await assertRejects(vote, AbortedError);
 * assertEquals([error.cause, error.usage.llmCalls], ["changed my mind", 0]);
 * ```
 */
export class AbortedError extends KitError {
  /** The class. */
  override readonly name: string = "AbortedError";
  /** Makes an error. */
  constructor(message = "Aborted by the caller", options: KitErrorOptions = {}) {
    super("aborted", message, options);
  }
}

/**
 * Something was configured or called wrongly; nothing was spent. Codes `config`, `argument`, `tool_definition`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const vote = () => consensus(new MockProvider([]), "Sure?", { numSamples: 0 });
 * assertEquals((await assertRejects(vote, ConfigError)).code, "argument");
 * ```
 */
export class ConfigError extends KitError {
  /** The class. */
  override readonly name: string = "ConfigError";
  /** Makes an error. */
  constructor(
    message: string,
    options: KitErrorOptions & { readonly code?: "config" | "argument" | "tool_definition" } = {},
  ) {
    super(options.code ?? "config", message, options);
  }
}

/**
 * A pattern could not reach its goal.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { structured } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const ask = () => structured(new MockProvider(["no JSON"]), "Give me JSON", { maxRepairs: 0 });
 * const error = await assertRejects(ask, PatternError);
 * assertEquals([error.code, error.partial], ["structured", "no JSON"]);
 * ```
 */
export class PatternError extends KitError {
  /** The class. */
  override readonly name: string = "PatternError";
}
