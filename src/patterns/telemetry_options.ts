/**
 * What telemetry takes and gives.
 *
 * @module
 */
import type { SpanContext, TraceSink } from "../llm/mod.ts";

/** How spans are made. */
export interface TelemetryOptions {
  /** Whether spans carry prompts, answers, arguments and observations: `none` (default), `redacted`, or `full`. */
  readonly captureContent?: "none" | "redacted" | "full";
  /** `gen_ai.conversation.id` of every span. */
  readonly conversationId?: string;
  /** The version of the program, for the tracer. */
  readonly version?: string;
}

/** A call that came to a server. */
export interface ServerCall {
  /** The tool. */
  readonly tool: string;
  /** The request's id. */
  readonly requestId: string | number;
  /** The protocol revision. */
  readonly revision: string;
  /** W3C trace context of the request: `traceparent`, `tracestate`, `baggage`. */
  readonly traceContext?: Readonly<Record<string, string>>;
}

/** The span of a call that came to a server. */
export interface ServerSpan {
  /** Where it is: give it to patterns and machines as `span`, so that theirs are below it. */
  readonly span: SpanContext;
  /**
   * Ends it; later calls do nothing.
   *
   * @param errorType What went wrong, such as `tool_error`; absent if nothing did.
   */
  end(errorType?: string): void;
}

/** Makes OpenTelemetry spans of trace events. */
export interface Telemetry extends TraceSink {
  /** How many spans are open: 0 when nothing is under way. */
  readonly openSpans: number;
  /**
   * Opens the span of a call that came to a server, below the caller's own.
   *
   * @param call The call.
   * @returns The span; whoever opened it ends it.
   */
  serverSpan(call: ServerCall): ServerSpan;
}
