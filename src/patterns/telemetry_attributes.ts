/**
 * What trace events say, in OpenTelemetry's words.
 *
 * @module
 */
import type { SpanEnd, SpanKind, SpanStart, TraceEvent } from "../llm/mod.ts";
import {
  ATTRIBUTES as NAMES,
  DEFAULT_PROVIDER,
  OPERATIONS,
  WORKFLOW_PATTERNS,
} from "./telemetry_names.ts";

/** Attributes of a span; absent ones are left out. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

/** A span as it begins. */
export interface SpanOpening {
  /** Its name. */
  readonly name: string;
  /** Whether it asks another process. */
  readonly isClient: boolean;
  /** Its attributes. */
  readonly attributes: SpanAttributes;
}

/** The start of any span. */
export type AnySpanStart = { [Kind in SpanKind]: SpanStart<Kind> }[SpanKind];
/** The end of any span. */
export type AnySpanEnd = { [Kind in SpanKind]: SpanEnd<Kind> }[SpanKind];
/** Anything that happens within a span. */
export type AnySpanPoint = Exclude<TraceEvent, AnySpanStart | AnySpanEnd>;

/**
 * Describes a span that begins.
 *
 * @param event The event.
 * @returns Its name and attributes.
 */
export function describeStart(event: AnySpanStart): SpanOpening {
  switch (event.kind) {
    case "llm-call-start":
      return chatOpening(event);
    case "tool-call-start":
      return opening(`${OPERATIONS.tool} ${event.tool}`, {
        [NAMES.operation]: OPERATIONS.tool,
        [NAMES.tool]: event.tool,
        [NAMES.toolCallId]: event.toolCallId,
        [NAMES.toolArguments]: event.arguments,
        [NAMES.round]: event.round,
      });
    case "pattern-start": {
      const operation = WORKFLOW_PATTERNS.has(event.pattern)
        ? OPERATIONS.workflow
        : OPERATIONS.agent;
      return opening(`${operation} ${event.pattern}`, {
        [NAMES.operation]: operation,
        [NAMES.agent]: event.pattern,
      });
    }
    case "step-start":
      return opening(`step ${event.step}`, { [NAMES.step]: event.step });
  }
}

/**
 * Describes how a span ended.
 *
 * @param event The event.
 * @returns Its attributes.
 */
export function describeEnd(event: AnySpanEnd): SpanAttributes {
  const failed = event.status === "error" || event.status === "aborted";
  const common = {
    [NAMES.errorType]: failed ? event.errorCode ?? event.status : undefined,
    [NAMES.abandoned]: event.status === "abandoned" ? true : undefined,
  };
  switch (event.kind) {
    case "llm-call-end":
      return present({ ...common, ...chatEnd(event) });
    case "tool-call-end":
      return present({
        ...common,
        [NAMES.blocked]: event.blocked,
        [NAMES.toolResult]: event.output,
      });
    case "pattern-end":
    case "step-end":
      return present({
        ...common,
        [NAMES.calls]: event.usage?.llmCalls,
        [NAMES.inputTokens]: event.usage?.inputTokens,
        [NAMES.outputTokens]: event.usage?.outputTokens,
      });
  }
}

/**
 * Describes what happened within a span.
 *
 * @param event The event.
 * @returns Its name and attributes.
 */
export function describePoint(
  event: AnySpanPoint,
): { readonly name: string; readonly attributes: SpanAttributes } {
  const name = `kit.${event.kind}`;
  switch (event.kind) {
    case "llm-attempt":
      return {
        name,
        attributes: present({
          [NAMES.attempt]: event.attempt,
          [NAMES.errorType]: event.errorCode,
          [NAMES.httpStatus]: event.httpStatus,
          [NAMES.retryInMs]: event.retryInMs,
        }),
      };
    case "usage-invalid":
      return { name, attributes: { [NAMES.attempt]: event.attempt } };
    case "route-select":
      return { name, attributes: { [NAMES.route]: event.route } };
    case "approval-request":
    case "approval-decide":
      return {
        name,
        attributes: present({
          [NAMES.approvalAction]: event.action,
          [NAMES.approvalSubject]: event.subject,
          ...(event.kind === "approval-decide"
            ? { [NAMES.approved]: event.approved, [NAMES.approvalReason]: event.reason }
            : {}),
        }),
      };
    case "checkpoint":
      return {
        name,
        attributes: { [NAMES.checkpoint]: event.name, [NAMES.checkpointStored]: event.stored },
      };
  }
}

function chatOpening(event: SpanStart<"llm-call">): SpanOpening {
  const name = event.model === undefined ? OPERATIONS.chat : `${OPERATIONS.chat} ${event.model}`;
  return {
    ...opening(name, {
      [NAMES.operation]: OPERATIONS.chat,
      [NAMES.provider]: event.provider ?? DEFAULT_PROVIDER,
      [NAMES.requestModel]: event.model,
      [NAMES.requestMaxTokens]: event.maxTokens,
      [NAMES.requestTemperature]: event.temperature,
      [NAMES.requestSeed]: event.seed,
      [NAMES.requestStream]: event.streamed ? true : undefined,
      [NAMES.outputType]: event.outputType,
      [NAMES.serverAddress]: event.serverAddress,
      [NAMES.serverPort]: event.serverPort,
      [NAMES.inputMessages]: event.input,
      [NAMES.sample]: event.sampleIndex,
      [NAMES.round]: event.round,
    }),
    isClient: true,
  };
}

function chatEnd(event: SpanEnd<"llm-call">): Record<string, SpanAttributes[string] | undefined> {
  const { reported, usage } = event;
  const counts = reported?.known === true ? reported : usage;
  return {
    [NAMES.attempts]: event.attempts,
    [NAMES.responseId]: event.responseId,
    [NAMES.responseModel]: event.responseModel,
    [NAMES.finishReasons]: event.finishReason === undefined ? undefined : [event.finishReason],
    [NAMES.inputTokens]: counts.inputTokens,
    [NAMES.outputTokens]: counts.outputTokens,
    [NAMES.uncertainTokens]: usage.uncertainTokens > 0 ? usage.uncertainTokens : undefined,
    [NAMES.outputMessages]: event.output,
  };
}

function opening(
  name: string,
  attributes: Record<string, SpanAttributes[string] | undefined>,
): SpanOpening {
  return { name, isClient: false, attributes: present(attributes) };
}

function present(attributes: Record<string, SpanAttributes[string] | undefined>): SpanAttributes {
  const found: SpanAttributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) found[name] = value;
  }
  return found;
}
