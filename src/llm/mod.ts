/**
 * What a provider is: messages, usage, budgets, retry, JSON extraction.
 *
 * @module
 */
export { type ArithmeticOptions, type ArithmeticResult, evaluateArithmetic } from "./arithmetic.ts";
export type { ArithmeticProblem } from "./arithmetic_operators.ts";
export { callModel, type CallOptions, DEFAULT_MAX_TOKENS } from "./call.ts";
export { takeSpan } from "./call_facts.ts";
export { type LinkedSignal, linkSignals, raceSignal } from "./cancel.ts";
export { chooseError } from "./choose_error.ts";
export { classifyFetchError } from "./classify.ts";
export { copyError, type ErrorFacts } from "./copy_error.ts";
export { createLedger, isLedgerWithin, type LedgerOptions } from "./create_ledger.ts";
export { createLimiter, type LimiterOptions } from "./create_limiter.ts";
export { cutText } from "./cut_text.ts";
export {
  AbortedError,
  BudgetExhaustedError,
  ConfigError,
  KitError,
  type KitErrorCode,
  type KitErrorOptions,
  LlmError,
  PatternError,
} from "./errors.ts";
export { estimateInputTokens } from "./estimate.ts";
export {
  type Extraction,
  type ExtractionFault,
  extractJson,
  type ExtractOptions,
  MAX_EXTRACT_LENGTH,
} from "./extract.ts";
export type { Budget, Estimate, Ledger, Reservation } from "./ledger.ts";
export type { Limiter } from "./limiter.ts";
export type {
  FinishReason,
  LlmResponse,
  Message,
  TokenUsage,
  ToolCall,
  ToolSchema,
} from "./message.ts";
export { createPriceTable, estimateCost, type PriceTable, type Rates } from "./prices.ts";
export type { CompleteOptions, LlmProvider, StreamEvent } from "./provider.ts";
export { splitReasoning, type SplitText } from "./reasoning.ts";
export {
  createRedactor,
  MAX_REDACT_LENGTH,
  MAX_WHOLE_REDACT_LENGTH,
  redact,
  redactData,
  type Redactor,
  redactWhole,
} from "./redact.ts";
export { DEFAULT_RETRY, parseRetryAfter, resolveRetry, type RetryPolicy } from "./retry.ts";
export { parseScore, type Scale } from "./score.ts";
export { streamModel } from "./stream.ts";
export { readToolArguments, type ToolArguments, toolCallsInText } from "./tool_calls.ts";
export { notify } from "./notify.ts";
export {
  type OpenSpan,
  openSpan,
  randomHex,
  type SpanContext,
  type SpanEnd,
  type SpanKind,
  type SpanPoint,
  type SpanStart,
  type SpanStatus,
  type TraceEvent,
  type TraceMoment,
  type TraceOptions,
  type TracePoints,
  type TraceSink,
  type TraceSpans,
} from "./trace.ts";
export {
  addUsage,
  isTokenCount,
  MAX_REPORTED_TOKENS,
  NO_USAGE,
  subtractUsage,
  sumUsage,
  totalTokens,
  type Usage,
} from "./usage.ts";
