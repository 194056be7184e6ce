/**
 * Trace events as OpenTelemetry spans. The one file that names `@opentelemetry/api`; whoever runs the program exports the
 * spans, on Deno with `OTEL_DENO=true`. Loaded on first use by {@link ./create_telemetry.ts}.
 *
 * @module
 */
import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import type { SpanContext, TraceEvent, TraceSink } from "../llm/mod.ts";
import {
  type AnySpanEnd,
  type AnySpanPoint,
  type AnySpanStart,
  describeEnd,
  describePoint,
  describeStart,
} from "./telemetry_attributes.ts";
import { ATTRIBUTES } from "./telemetry_names.ts";
import type { ServerCall, ServerSpan, Telemetry, TelemetryOptions } from "./telemetry_options.ts";

const TRACER = "kit";
/** Most spans that may be open; beyond it new ones are not recorded, so that a missing end cannot fill the memory. */
const MAX_OPEN_SPANS = 10_000;

interface OpenEntry {
  readonly span: Span;
  readonly context: Context;
}

/** Makes spans of events. */
export class OpenTelemetrySink implements Telemetry {
  /** Whether texts are wanted. */
  readonly captureContent: NonNullable<TraceSink["captureContent"]>;
  readonly #tracer: Tracer;
  readonly #options: TelemetryOptions;
  readonly #open = new Map<string, OpenEntry>();

  /** Takes the tracer that the program has registered. */
  constructor(options: TelemetryOptions) {
    this.captureContent = options.captureContent ?? "none";
    this.#options = options;
    this.#tracer = trace.getTracer(TRACER, options.version);
  }

  /** How many spans are open. */
  get openSpans(): number {
    return this.#open.size;
  }

  /** Takes one event. */
  write(event: TraceEvent): void {
    if (isStart(event)) this.#start(event);
    else if (isEnd(event)) this.#end(event);
    else this.#point(event);
  }

  /** Opens the span of a call that came to a server. */
  serverSpan(call: ServerCall): ServerSpan {
    const parent = remoteContext(call.traceContext ?? {});
    const span = this.#tracer.startSpan(`tools/call ${call.tool}`, {
      kind: SpanKind.SERVER,
      attributes: {
        [ATTRIBUTES.mcpMethod]: "tools/call",
        [ATTRIBUTES.tool]: call.tool,
        [ATTRIBUTES.rpcRequestId]: String(call.requestId),
        [ATTRIBUTES.mcpVersion]: call.revision,
        [ATTRIBUTES.transport]: "pipe",
      },
    }, parent);
    const { traceId, spanId } = span.spanContext();
    this.#remember(spanId, { span, context: trace.setSpan(parent, span) });
    return {
      span: { traceId, spanId },
      end: (errorType) => {
        if (!this.#open.delete(spanId)) return;
        if (errorType !== undefined) fail(span, errorType);
        span.end();
      },
    };
  }

  #start(event: AnySpanStart): void {
    const { name, isClient, attributes } = describeStart(event);
    const parent = this.#parentOf(event);
    const { conversationId } = this.#options;
    const span = this.#tracer.startSpan(name, {
      kind: isClient ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: event.time,
      attributes: {
        ...attributes,
        ...(conversationId === undefined ? {} : { [ATTRIBUTES.conversation]: conversationId }),
      },
    }, parent);
    this.#remember(event.spanId, { span, context: trace.setSpan(parent, span) });
  }

  #end(event: AnySpanEnd): void {
    const entry = this.#open.get(event.spanId);
    if (entry === undefined) return;
    this.#open.delete(event.spanId);
    entry.span.setAttributes(describeEnd(event));
    if (event.status === "error" || event.status === "aborted") {
      fail(entry.span, event.errorCode ?? event.status);
    }
    entry.span.end(event.time);
  }

  #point(event: AnySpanPoint): void {
    const { name, attributes } = describePoint(event);
    this.#open.get(event.spanId)?.span.addEvent(name, attributes, event.time);
  }

  /** The span above: one of ours, or one of another process. */
  #parentOf(event: AnySpanStart): Context {
    const { parentSpanId, traceId } = event;
    if (parentSpanId === undefined) return ROOT_CONTEXT;
    const known = this.#open.get(parentSpanId)?.context;
    if (known !== undefined) return known;
    return trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId: parentSpanId,
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    });
  }

  #remember(spanId: string, entry: OpenEntry): void {
    if (this.#open.size < MAX_OPEN_SPANS) this.#open.set(spanId, entry);
    else entry.span.end();
  }
}

function isStart(event: TraceEvent): event is AnySpanStart {
  return event.kind.endsWith("-start");
}

function isEnd(event: TraceEvent): event is AnySpanEnd {
  return event.kind.endsWith("-end");
}

function fail(span: Span, errorType: string): void {
  span.setAttribute(ATTRIBUTES.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
}

/** The context of another process, by the propagator that the program has registered, or by `traceparent` alone. */
function remoteContext(carrier: Readonly<Record<string, string>>): Context {
  const extracted = propagation.extract(ROOT_CONTEXT, carrier);
  if (trace.getSpanContext(extracted) !== undefined) return extracted;
  const parent = parseTraceparent(carrier["traceparent"] ?? "");
  if (parent === undefined) return extracted;
  return trace.setSpanContext(extracted, {
    ...parent,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

const TRACEPARENT =
  /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;

function parseTraceparent(text: string): SpanContext | undefined {
  const match = TRACEPARENT.exec(text);
  const [, traceId, spanId] = match ?? [];
  return traceId === undefined || spanId === undefined || text.startsWith("ff")
    ? undefined
    : { traceId, spanId };
}
