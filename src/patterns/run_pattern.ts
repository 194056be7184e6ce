/**
 * The one frame that every pattern runs in: its account, its deadline, its signal, its span, and errors that tell what
 * was spent.
 *
 * @module
 */
import {
  AbortedError,
  type Budget,
  BudgetExhaustedError,
  callModel,
  type CallOptions,
  type CompleteOptions,
  copyError,
  createLedger,
  KitError,
  type Ledger,
  linkSignals,
  type LlmProvider,
  type LlmResponse,
  type Message,
  type OpenSpan,
  openSpan,
  PatternError,
  type SpanContext,
  type TraceSink,
} from "../llm/mod.ts";
import { ambientPorts, type Clock, type Ports } from "../ports/mod.ts";
import { deepFreeze } from "../json/mod.ts";
import { meterProvider } from "./metered.ts";
import {
  checkCommon,
  type PatternOptions,
  type PatternResult,
  type SpendFacts,
} from "./options.ts";
import { thrownText } from "./text_limits.ts";

/** What one request of a pattern is sent with, beyond what the pattern's options say. */
export interface RequestOptions extends Omit<CompleteOptions, "ledger"> {
  /** Which sample of a vote this is, from 0. */
  readonly sampleIndex?: number;
  /** Which round of a loop this is, from 1. */
  readonly round?: number;
  /** What the answer is read as, for the trace. */
  readonly outputType?: "json";
}

/** Most different warnings that a result tells. */
const MAX_WARNINGS = 20;

/** A pattern under way. */
export class PatternRun {
  /** The account of this run alone. */
  readonly ledger: Ledger;
  /** Fires when the caller or the deadline ends the run. */
  readonly signal: AbortSignal;
  /** Time and chance. */
  readonly ports: Pick<Ports, "clock" | "random">;
  /** Where events go. */
  readonly trace: TraceSink | undefined;
  /** The run's span, for spans below it. */
  readonly span: SpanContext;
  /** Tells that something happened within the run. */
  readonly point: OpenSpan<"pattern">["point"];
  readonly #options: PatternOptions;
  readonly #warnings = new Set<string>();
  #kept: ((error: KitError) => unknown) | undefined;
  #common: CallOptions | undefined;

  /** Made by {@linkcode runPattern} alone. */
  constructor(parts: {
    readonly options: PatternOptions;
    readonly ledger: Ledger;
    readonly signal: AbortSignal;
    readonly ports: Pick<Ports, "clock" | "random">;
    readonly span: OpenSpan<"pattern">;
  }) {
    this.#options = parts.options;
    this.ledger = parts.ledger;
    this.signal = parts.signal;
    this.ports = parts.ports;
    this.trace = parts.options.trace;
    this.span = parts.span.context;
    this.point = parts.span.point;
  }

  /** What to hand to the caller as `partial` if the run fails from here on, and how. */
  keep(partial: (error: KitError) => unknown): void {
    this.#kept = partial;
  }

  /** What was kept, for the error that the run fails with. */
  keptFor(error: KitError): unknown {
    return this.#kept?.(error);
  }

  /** Asks a model on this run's account. */
  async call(
    provider: LlmProvider,
    messages: readonly Message[],
    request: RequestOptions = {},
  ): Promise<LlmResponse> {
    const response = await callModel(provider, messages, this.#callOptions(request));
    for (const warning of response.warnings) {
      if (this.#warnings.size < MAX_WARNINGS) this.#warnings.add(warning);
    }
    return response;
  }

  /**
   * A provider whose every request is charged to this run, or to `ledger` below it, and traced below its span, or below
   * `span`: for what callers bring, such as evaluators and steps.
   */
  metered(
    provider: LlmProvider,
    over: {
      readonly ledger?: Ledger;
      readonly signal?: AbortSignal;
      readonly span?: SpanContext;
    } = {},
  ): LlmProvider {
    return meterProvider(provider, { ...this.#callOptions({}), ...over });
  }

  /** Makes the result, frozen. */
  result<T, M extends object>(
    parts: { readonly value: T; readonly score?: number; readonly metadata: M },
  ): PatternResult<T, M> {
    const facts: SpendFacts = {
      ...(this.ledger.usageMissing ? { usageMissing: true } : {}),
      ...(this.ledger.overBudget ? { overBudget: true } : {}),
      ...(this.#warnings.size > 0 ? { warnings: [...this.#warnings] } : {}),
    };
    return deepFreeze({
      ...parts,
      usage: { ...this.ledger.spent },
      metadata: { ...parts.metadata, ...facts },
    });
  }

  #callOptions(request: RequestOptions): CallOptions {
    return { ...(this.#common ??= this.#commonOptions()), ...request };
  }

  #commonOptions(): CallOptions {
    const { retry, timeoutMs, temperature, maxTokens, seed, reasoning, extra } = this.#options;
    return {
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(seed === undefined ? {} : { seed }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(extra === undefined ? {} : { extra }),
      ...(retry === undefined ? {} : { retry }),
      ...(this.trace === undefined ? {} : { trace: this.trace }),
      signal: this.signal,
      ports: this.ports,
      span: this.span,
      ledger: this.ledger,
    };
  }
}

/**
 * Runs a pattern.
 *
 * @param name The pattern's name, for traces and errors.
 * @param options The caller's options.
 * @param body The pattern.
 * @returns What the body gives.
 * @throws {KitError} Whatever goes wrong, with `usage` set to what was spent and `partial` to the best that was made.
 */
export async function runPattern<T>(
  name: string,
  options: PatternOptions,
  body: (run: PatternRun) => Promise<T>,
): Promise<T> {
  checkCommon(options);
  const ports = options.ports ?? ambientPorts();
  const ledger = openLedger(options, ports.clock);
  const left = leftMs(ledger, ports.clock);
  using timer = left === undefined ? undefined : ports.clock.deadline(left);
  using linked = linkSignals([options.signal, timer?.signal]);
  const span = openSpan("pattern", { pattern: name }, {
    trace: options.trace,
    span: options.span,
    ports,
  });
  const run = new PatternRun({ options, ledger, signal: linked.signal, ports, span });
  try {
    run.signal.throwIfAborted();
    const value = await body(run);
    span.end("ok", { usage: ledger.spent });
    return value;
  } catch (thrown) {
    const error = explain(thrown, { name, options, timedOut: timer?.signal.aborted === true });
    const status = error.code === "aborted" ? "aborted" : "error";
    span.end(status, { usage: ledger.spent, errorCode: error.code });
    const partial = run.keptFor(error) ?? error.partial;
    throw copyError(error, {
      usage: { ...ledger.spent },
      details: { pattern: name, ...error.details },
      ...(partial === undefined ? {} : { partial: deepFreeze(partial) }),
    });
  }
}

function openLedger(options: PatternOptions, clock: Clock): Ledger {
  const budget = withDeadline(options, clock);
  if (options.ledger !== undefined) return options.ledger.child(budget);
  return createLedger(budget, {
    clock,
    ...(options.prices === undefined ? {} : { prices: options.prices }),
  });
}

/**
 * The caps of a run, its `deadlineMs` as a deadline from now.
 *
 * @param options What the caller gave.
 * @param clock Tells the time.
 * @returns The caps.
 */
export function withDeadline(
  options: Pick<PatternOptions, "budget" | "deadlineMs">,
  clock: Clock,
): Budget {
  const budget = options.budget ?? {};
  if (options.deadlineMs === undefined) return budget;
  const deadline = clock.monotonic() + options.deadlineMs;
  return { ...budget, deadline: Math.min(deadline, budget.deadline ?? Infinity) };
}

function leftMs(ledger: Ledger, clock: Clock): number | undefined {
  const deadline = ledger.remaining().deadline;
  return deadline === undefined ? undefined : Math.max(0, deadline - clock.monotonic());
}

/** Turns whatever was thrown into one of our errors: the caller's signal comes first, then the deadline. */
function explain(
  thrown: unknown,
  facts: {
    readonly name: string;
    readonly options: PatternOptions;
    readonly timedOut: boolean;
  },
): KitError {
  const known = thrown instanceof KitError ? thrown : undefined;
  if (known !== undefined && known.code !== "aborted") return known;
  const { signal } = facts.options;
  const kept = known === undefined ? {} : { partial: known.partial };
  if (signal?.aborted === true) {
    return known ?? new AbortedError(undefined, { cause: signal.reason, ...kept });
  }
  if (facts.timedOut) {
    return new BudgetExhaustedError("deadline", `The deadline of ${facts.name} has passed`, {
      cause: thrown,
      ...kept,
    });
  }
  if (known !== undefined) return known;
  return new PatternError("pattern", `Cannot finish ${facts.name}: ${thrownText(thrown)}`, {
    cause: thrown,
  });
}
