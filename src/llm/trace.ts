/**
 * What happened, as typed events. Every start has exactly one end. Texts of prompts and answers are left out unless the
 * sink asks for them. A sink can never change a run: what it throws is swallowed.
 *
 * @module
 */
import type { Clock, Random } from "../ports/mod.ts";
import type { KitErrorCode } from "./errors.ts";
import type { FinishReason, TokenUsage } from "./message.ts";
import { notify } from "./notify.ts";
import type { Usage } from "./usage.ts";

/** Where in a trace something is, in the form of W3C trace context. */
export interface SpanContext {
  /** 32 hex digits, the same for everything that belongs together. */
  readonly traceId: string;
  /** 16 hex digits, of this span alone. */
  readonly spanId: string;
}

/** How a span ended. `abandoned`: nobody wanted the rest of a stream. */
export type SpanStatus = "ok" | "error" | "aborted" | "abandoned";

/** What spans there are, with what their start and their end tell. */
export interface TraceSpans {
  /** One run of a pattern. */
  readonly "pattern": {
    /** At the start. */
    readonly start: {
      /** The pattern's name. */
      readonly pattern: string;
    };
    /** At the end. */
    readonly end: {
      /** What it spent. */
      readonly usage?: Usage;
    };
  };
  /** One logical call of a model, its retries included. */
  readonly "llm-call": {
    /** At the start. */
    readonly start: {
      /** The vendor's flavour. */
      readonly provider?: string;
      /** The model asked. */
      readonly model?: string;
      /** Sampling temperature. */
      readonly temperature?: number;
      /** Most tokens of the answer. */
      readonly maxTokens?: number;
      /** Seed. */
      readonly seed?: number;
      /** Whether it is streamed. */
      readonly streamed: boolean;
      /** Which sample of a vote, from 0. */
      readonly sampleIndex?: number;
      /** Which round of a loop, from 1. */
      readonly round?: number;
      /** What the answer is read as, where that is not plain text. */
      readonly outputType?: "json";
      /** The host that is asked, where there is one. */
      readonly serverAddress?: string;
      /** Its port. */
      readonly serverPort?: number;
      /** The conversation as JSON text, only where the sink captures content. */
      readonly input?: string;
    };
    /** At the end. */
    readonly end: {
      /** Attempts made. */
      readonly attempts: number;
      /** What all attempts spent. */
      readonly usage: Usage;
      /** What the endpoint reported for the answer. */
      readonly reported?: TokenUsage;
      /** Why the model stopped. */
      readonly finishReason?: FinishReason;
      /** The model that answered. */
      readonly responseModel?: string;
      /** The endpoint's id of the answer. */
      readonly responseId?: string;
      /** The answer, only where the sink captures content. */
      readonly output?: string;
    };
  };
  /** One call of a tool. */
  readonly "tool-call": {
    /** At the start. */
    readonly start: {
      /** The tool. */
      readonly tool: string;
      /** The call's id. */
      readonly toolCallId?: string;
      /** Which round of a loop, from 1. */
      readonly round?: number;
      /** The arguments as JSON text, only where the sink captures content. */
      readonly arguments?: string;
    };
    /** At the end. */
    readonly end: {
      /** Whether an approval gate refused it. */
      readonly blocked?: boolean;
      /** The observation, only where the sink captures content. */
      readonly output?: string;
    };
  };
  /** One step of a workflow or plan. */
  readonly "step": {
    /** At the start. */
    readonly start: {
      /** The step's name. */
      readonly step: string;
    };
    /** At the end. */
    readonly end: {
      /** What it spent. */
      readonly usage?: Usage;
    };
  };
}

/** What happened at one moment, with its facts. */
export interface TracePoints {
  /** One attempt on the wire is over. */
  readonly "llm-attempt": {
    /** From 1. */
    readonly attempt: number;
    /** What went wrong, or `undefined`. */
    readonly errorCode?: KitErrorCode;
    /** HTTP status, if the endpoint gave one. */
    readonly httpStatus?: number;
    /** How long until the next attempt, if there will be one. */
    readonly retryInMs?: number;
  };
  /** The endpoint gave no counts that can be believed: the estimate was charged. */
  readonly "usage-invalid": {
    /** From 1. */
    readonly attempt: number;
  };
  /** A router or failover chose. */
  readonly "route-select": {
    /** What was chosen. */
    readonly route: string;
  };
  /** A gate asks. */
  readonly "approval-request": {
    /** What for. */
    readonly action: string;
    /** Of what. */
    readonly subject: string;
  };
  /** A gate was answered. */
  readonly "approval-decide": {
    /** What for. */
    readonly action: string;
    /** Of what. */
    readonly subject: string;
    /** The answer. */
    readonly approved: boolean;
    /** Why not. */
    readonly reason?: string;
  };
  /** A checkpoint was taken, or could not be. */
  readonly "checkpoint": {
    /** Of what. */
    readonly name: string;
    /** Whether it was stored. */
    readonly stored: boolean;
  };
}

/** What every event tells. */
export interface TraceMoment extends SpanContext {
  /** The span above, if there is one. */
  readonly parentSpanId?: string;
  /** Wall time in milliseconds since the epoch. */
  readonly time: number;
}

/** A kind of span. */
export type SpanKind = keyof TraceSpans;

/** A span begins. */
export type SpanStart<Kind extends SpanKind> =
  & TraceMoment
  & { readonly kind: `${Kind}-start` }
  & TraceSpans[Kind]["start"];

/** A span is over. */
export type SpanEnd<Kind extends SpanKind> =
  & TraceMoment
  & {
    readonly kind: `${Kind}-end`;
    /** How. */
    readonly status: SpanStatus;
    /** How long it took, on the monotonic clock. */
    readonly durationMs: number;
    /** What went wrong, where `status` is not `ok`. */
    readonly errorCode?: string;
  }
  & TraceSpans[Kind]["end"];

/** Something happened within a span. */
export type SpanPoint<Kind extends keyof TracePoints> =
  & TraceMoment
  & { readonly kind: Kind }
  & TracePoints[Kind];

/** Anything that is traced. Tell them apart by `kind`. */
export type TraceEvent =
  | { [Kind in SpanKind]: SpanStart<Kind> | SpanEnd<Kind> }[SpanKind]
  | { [Kind in keyof TracePoints]: SpanPoint<Kind> }[keyof TracePoints];

/** Takes trace events. */
export interface TraceSink {
  /** Takes one event, at once; what it throws, or a promise of it, is swallowed. */
  write(event: TraceEvent): void;
  /** Whether events carry texts: `none` (default), `redacted`, or `full`. */
  readonly captureContent?: "none" | "redacted" | "full";
}

/** What a span is opened with. */
export interface TraceOptions {
  /** Where events go; absent: nowhere. */
  readonly trace?: TraceSink | undefined;
  /** The span above. */
  readonly span?: SpanContext | undefined;
  /** Time and chance. */
  readonly ports: { readonly clock: Clock; readonly random: Random };
}

/** A span that is under way. */
export interface OpenSpan<Kind extends SpanKind> {
  /** Where it is, for spans below it. */
  readonly context: SpanContext;
  /** Tells that something happened within it; after its end this does nothing. */
  point<Point extends keyof TracePoints>(kind: Point, facts: TracePoints[Point]): void;
  /** Ends it; later calls do nothing. */
  end(
    status: SpanStatus,
    facts: TraceSpans[Kind]["end"] & { readonly errorCode?: string },
  ): void;
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/**
 * Opens a span and tells its start.
 *
 * @param kind What it is.
 * @param facts What its start tells.
 * @param options Where events go, and the span above.
 * @returns The open span; whoever opened it ends it.
 */
export function openSpan<Kind extends SpanKind>(
  kind: Kind,
  facts: TraceSpans[Kind]["start"],
  options: TraceOptions,
): OpenSpan<Kind> {
  const { trace, ports } = options;
  // what is below nothing that was traced is the beginning of a trace
  const span = options.span === NO_CONTEXT ? undefined : options.span;
  if (trace === undefined) return silentSpan(span);
  const context = newContext(span, ports.random);
  const parent = span === undefined ? {} : { parentSpanId: span.spanId };
  const started = ports.clock.monotonic();
  let ended = false;
  const write = (event: object): void => {
    const whole = { ...event, ...context, ...parent, time: ports.clock.now() };
    notify((told: TraceEvent) => trace.write(told), whole as TraceEvent);
  };
  write({ kind: `${kind}-start`, ...facts });
  return {
    context,
    point: (point, pointFacts) => {
      if (!ended) write({ kind: point, ...pointFacts });
    },
    end: (status, endFacts) => {
      if (ended) return;
      ended = true;
      const durationMs = ports.clock.monotonic() - started;
      write({ kind: `${kind}-end`, status, durationMs, ...endFacts });
    },
  };
}

const NO_CONTEXT: SpanContext = Object.freeze({
  traceId: "0".repeat(2 * TRACE_ID_BYTES),
  spanId: "0".repeat(2 * SPAN_ID_BYTES),
});

function silentSpan(span: SpanContext | undefined): OpenSpan<never> {
  return { context: span ?? NO_CONTEXT, point: untold, end: untold };
}

function untold(): void {}

function newContext(parent: SpanContext | undefined, random: Random): SpanContext {
  return {
    traceId: parent?.traceId ?? randomHex(random, TRACE_ID_BYTES),
    spanId: randomHex(random, SPAN_ID_BYTES),
  };
}

/**
 * Random bytes as hex digits, for ids.
 *
 * @param random Where they come from.
 * @param bytes How many.
 * @returns Two lower-case digits a byte.
 */
export function randomHex(random: Random, bytes: number): string {
  let text = "";
  for (const byte of random.bytes(bytes)) text += HEX[byte] ?? "";
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
