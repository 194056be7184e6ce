/**
 * The one way to ask a model: limits, budget, retries, deadline and trace around a provider's single attempts.
 *
 * @module
 */
import { ambientPorts, type Deadline, type Ports } from "../ports/mod.ts";
import { captured, lendSpan, passSpanOn, startFacts } from "./call_facts.ts";
import { type LinkedSignal, linkSignals, raceSignal } from "./cancel.ts";
import { chargeFailure } from "./charge_failure.ts";
import { classifyFetchError } from "./classify.ts";
import { copyError } from "./copy_error.ts";
import {
  AbortedError,
  BudgetExhaustedError,
  ConfigError,
  type KitError,
  LlmError,
} from "./errors.ts";
import { estimateInputTokens } from "./estimate.ts";
import type { Estimate, Ledger, Reservation } from "./ledger.ts";
import type { LlmResponse, Message } from "./message.ts";
import type { CompleteOptions, LlmProvider } from "./provider.ts";
import { readResponse } from "./read_response.ts";
import { askedDelay, resolveRetry, retryDelay, type RetryPolicy } from "./retry.ts";
import { type OpenSpan, openSpan, randomHex, type SpanContext, type TraceSink } from "./trace.ts";

/** The completion tokens asked for where the caller names no limit. */
export const DEFAULT_MAX_TOKENS = 4096;

/** How often one call may be sent again at once because the provider has adjusted it to the endpoint. */
const MAX_ADJUSTMENTS = 3;

const KEY_BYTES = 16;

/** How a model is called. */
export interface CallOptions extends Omit<CompleteOptions, "ledger"> {
  /** Where every attempt is reserved and charged. */
  readonly ledger: Ledger;
  /** How often to try again; default three attempts. */
  readonly retry?: RetryPolicy;
  /** Time and chance; default the ambient ports. */
  readonly ports?: Pick<Ports, "clock" | "random">;
  /** Where trace events go; default nowhere. */
  readonly trace?: TraceSink;
  /** The span above, for the trace. */
  readonly span?: SpanContext;
  /**
   * The span of the call that this one is the work of: it takes what this call would tell, and no span is opened. For
   * providers with `metersItself` that stand for one other.
   */
  readonly within?: OpenSpan<"llm-call">;
  /** Which sample of a vote this is, from 0, for the trace. */
  readonly sampleIndex?: number;
  /** Which round of a loop this is, from 1, for the trace. */
  readonly round?: number;
  /** What the answer is read as, for the trace; default `json` where a `responseFormat` is asked for. */
  readonly outputType?: "json";
}

/**
 * Asks a model.
 *
 * In this order, for each attempt: wait for the provider's limiter, reserve in the ledger, send, charge. Waiting work
 * thus holds no budget. What fails for a passing reason is sent again after a wait with full jitter, never sooner than
 * the endpoint asked. An attempt ends after `timeoutMs` even if the provider does not heed it; an answer that comes later
 * is dropped.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { createLedger, createScriptedProvider } from "@kit/mcp";
 *
 * const ledger = createLedger({ maxCalls: 1 });
 * const provider = createScriptedProvider({ script: { produce: ["Paris"] } });
 * const messages = [{ role: "user", content: "Capital of France?" }] as const;
 * assertEquals((await callModel(provider, messages, { ledger })).content, "Paris");
 * assertEquals(ledger.spent.llmCalls, 1);
 * ```
 *
 * @param provider Whom to ask.
 * @param messages The conversation.
 * @param options How, and on whose account.
 * @returns The answer.
 * @throws {KitError} With `usage` set to what all attempts spent: `LlmError` of the last attempt; `aborted` if the
 * signal fires; `budget` if the ledger does not allow the next attempt or its deadline passes; `content_filter` if the
 * answer was filtered.
 */
export async function callModel(
  provider: LlmProvider,
  messages: readonly Message[],
  options: CallOptions,
): Promise<LlmResponse> {
  using call = new Call(provider, messages, options);
  using attempt = await call.run(async (request) =>
    readResponse(await provider.complete(messages, request))
  );
  call.charge(attempt.value, attempt);
  return attempt.value;
}

/** What one attempt is sent with. */
export type AttemptRequest = CompleteOptions & { readonly signal: AbortSignal };

type Send<T> = (request: AttemptRequest) => Promise<T>;

/** An attempt that has given something. It keeps its turn, its time and its part of the budget until it is let go. */
export interface Attempt<T> extends Disposable {
  /** What it gave. */
  readonly value: T;
  /** Its part of the budget; absent where the provider meters itself. */
  readonly reservation: Reservation | undefined;
  /** Fires when the caller, the deadline or the attempt's own time ends it. */
  readonly signal: AbortSignal;
}

/** One logical call under way: its account, its deadline, its span. Shared by whole and streamed answers. */
export class Call implements Disposable {
  /** What this call spends. */
  readonly account: Ledger;
  /** Fires when the caller or the deadline ends the call. */
  readonly signal: AbortSignal;
  /** The call's span. */
  readonly span: OpenSpan<"llm-call">;
  /** Attempts made so far. */
  attempts = 0;
  readonly #provider: LlmProvider;
  readonly #options: CallOptions;
  readonly #ports: Pick<Ports, "clock" | "random">;
  readonly #policy: Required<RetryPolicy>;
  readonly #estimate: Estimate;
  readonly #deadline: number | undefined;
  readonly #stack = new DisposableStack();
  readonly #idempotencyKey: string;
  #adjustments = 0;
  readonly #cancel: LinkedSignal;

  /** Opens a call; nothing is sent yet. */
  constructor(
    provider: LlmProvider,
    messages: readonly Message[],
    options: CallOptions & { readonly streamed?: boolean },
  ) {
    if (messages.length === 0) throw new ConfigError("There is no message", { code: "argument" });
    this.#provider = provider;
    this.#options = options;
    this.#ports = options.ports ?? ambientPorts();
    this.#idempotencyKey = options.idempotencyKey ?? randomHex(this.#ports.random, KEY_BYTES);
    const policy = resolveRetry(options.retry);
    this.#policy = provider.metersItself === true ? { ...policy, maxAttempts: 1 } : policy;
    this.account = options.ledger.child();
    this.#estimate = estimateOf(provider, messages, options);
    this.#deadline = this.account.remaining().deadline;
    const left = this.#leftMs();
    const timer: Deadline | undefined = left === undefined
      ? undefined
      : this.#stack.use(this.#ports.clock.deadline(left));
    this.#cancel = this.#stack.use(linkSignals([options.signal, timer?.signal]));
    this.signal = this.#cancel.signal;
    this.span = options.within ?? openSpan("llm-call", startFacts(provider, messages, options), {
      trace: options.trace,
      span: options.span,
      ports: this.#ports,
    });
    if (provider.metersItself === true) this.#lendSpan();
  }

  /** A provider that asks others tells of them in this call's span, or in that of the traced call which this is part of. */
  #lendSpan(): void {
    const { trace, within, ledger } = this.#options;
    if (trace !== undefined || within !== undefined) lendSpan(this.account, this.span);
    else passSpanOn(ledger, this.account);
  }

  /** Makes attempts until one succeeds or there is no sense in another. */
  async run<T>(send: Send<T>): Promise<Attempt<T>> {
    let malformed = 0;
    while (true) {
      try {
        return await this.#attemptOnce(send);
      } catch (thrown) {
        const error = this.#explain(thrown);
        if (error.code === "bad_response") malformed += 1;
        const adjusted = error.details["adjusted"] !== undefined &&
          this.#adjustments < MAX_ADJUSTMENTS;
        if (adjusted) this.#adjustments += 1;
        const state = {
          attempt: this.attempts - this.#adjustments,
          malformed,
          leftMs: this.#leftMs(),
        };
        const retryInMs = adjusted ? 0 : retryDelay(error, state, {
          policy: this.#policy,
          random: this.#ports.random,
        });
        this.#report(error, retryInMs);
        if (retryInMs === undefined) throw this.#fail(error);
        if (retryInMs > 0) await this.#pause(retryInMs);
      }
    }
  }

  /** Charges an answer: what the endpoint reported, or the estimate. */
  charge(response: LlmResponse, { reservation }: Pick<Attempt<unknown>, "reservation">): void {
    reservation?.settle(response.usage.known ? response.usage : undefined);
    this.span.point("llm-attempt", { attempt: this.attempts });
    if (!response.usage.known && reservation !== undefined) {
      this.span.point("usage-invalid", { attempt: this.attempts });
    }
    this.span.end("ok", {
      attempts: this.attempts,
      usage: this.account.spent,
      reported: response.usage,
      finishReason: response.finishReason,
      ...(response.model === undefined ? {} : { responseModel: response.model }),
      ...(response.id === undefined ? {} : { responseId: response.id }),
      ...captured("output", () => response.content, this.#options.trace),
    });
  }

  /**
   * Waits for the next part of a stream. A failure is charged and explained, never retried.
   *
   * @throws {KitError} What went wrong.
   */
  async follow<T>(part: Promise<T>, attempt: Attempt<unknown>): Promise<T> {
    const { reservation, signal } = attempt;
    try {
      return await raceSignal(part, signal);
    } catch (thrown) {
      if (reservation !== undefined) chargeFailure(classifyFetchError(thrown), reservation);
      const error = this.#explain(thrown);
      this.#report(error, undefined);
      throw this.#fail(error);
    }
  }

  /** Ends a stream that nobody wants the rest of, once its provider has `left` it; after its end this does nothing. */
  abandon({ reservation }: Attempt<unknown>, left: Promise<unknown>): void {
    reservation?.abandon();
    this.#cancel.abort();
    const end = (): void =>
      this.span.end("abandoned", { attempts: this.attempts, usage: this.account.spent });
    // what a provider charges by itself is charged when it has left too
    if (reservation === undefined) left.then(end, end);
    else end();
  }

  /** Lets go of timers and listeners. */
  [Symbol.dispose](): void {
    this.#stack.dispose();
  }

  async #attemptOnce<T>(send: Send<T>): Promise<Attempt<T>> {
    this.signal.throwIfAborted();
    using scope = new DisposableStack();
    const reservation = await this.#reserve(scope);
    this.attempts += 1;
    const limit = reservation === undefined ? undefined : this.#timeLimit(scope);
    const signal = limit?.link.signal ?? this.signal;
    try {
      const work = send(this.#request(reservation, signal));
      // begun after the provider's own time-out of the same length, which fires first and tells more
      limit?.begin();
      const value = await raceSignal(work, signal);
      const held = scope.move();
      return { value, reservation, signal, [Symbol.dispose]: () => held.dispose() };
    } catch (thrown) {
      if (reservation !== undefined) chargeFailure(classifyFetchError(thrown), reservation);
      throw thrown;
    }
  }

  /** Waits for a turn, then for the budget. A provider that meters itself does both on its own. */
  async #reserve(scope: DisposableStack): Promise<Reservation | undefined> {
    if (this.#provider.metersItself === true) return undefined;
    scope.use(await this.#provider.limiter?.acquire({ signal: this.signal }));
    return await this.account.acquire(this.#estimate, { signal: this.signal });
  }

  /** The end of an attempt's time, where it has one; it runs once it is begun. */
  #timeLimit(
    scope: DisposableStack,
  ): { readonly link: LinkedSignal; begin(): void } | undefined {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return undefined;
    const link = scope.use(linkSignals([this.signal]));
    const end = (): void => {
      const text = `The provider did not answer within ${timeoutMs} ms`;
      link.abort(new LlmError("timeout", text, { retryable: true }));
    };
    return {
      link,
      begin: () => {
        const { signal } = scope.use(this.#ports.clock.deadline(timeoutMs));
        signal.addEventListener("abort", end, { once: true });
      },
    };
  }

  #request(reservation: Reservation | undefined, signal: AbortSignal): AttemptRequest {
    const {
      ledger: _l,
      retry: _r,
      ports: _p,
      trace: _t,
      span: _s,
      within: _w,
      sampleIndex: _i,
      round: _n,
      outputType: _o,
      ...rest
    } = this.#options;
    const suffix = this.#adjustments === 0 ? "" : `-${this.#adjustments}`;
    return {
      ...rest,
      ...(reservation === undefined
        ? { ledger: this.account }
        : { maxTokens: reservation.outputTokens }),
      idempotencyKey: this.#idempotencyKey + suffix,
      signal,
    };
  }

  /** What went wrong, whoever threw it: a signal that has fired comes first. */
  #explain(thrown: unknown): KitError {
    const { signal } = this.#options;
    if (signal?.aborted) {
      return new AbortedError(undefined, { cause: signal.reason });
    }
    const left = this.#leftMs();
    if (this.signal.aborted || (left !== undefined && left <= 0)) {
      return new BudgetExhaustedError("deadline", "The deadline passed before the model answered", {
        cause: thrown,
      });
    }
    return classifyFetchError(thrown);
  }

  #report(error: KitError, retryInMs: number | undefined): void {
    const askedMs = askedDelay(error);
    // no longer than a retry would wait: others must not sleep for a day because one was told to
    const penaltyMs = Math.min(askedMs, this.#policy.maxRetryAfterMs);
    if (penaltyMs > 0) this.#provider.limiter?.penalize(penaltyMs);
    const status = error.details["status"];
    this.span.point("llm-attempt", {
      attempt: this.attempts,
      errorCode: error.code,
      ...(typeof status === "number" ? { httpStatus: status } : {}),
      ...(retryInMs === undefined ? {} : { retryInMs }),
    });
  }

  #fail(error: KitError): KitError {
    const usage = this.account.spent;
    const status = error.code === "aborted" ? "aborted" : "error";
    this.span.end(status, { attempts: this.attempts, usage, errorCode: error.code });
    return copyError(error, { usage, details: { attempts: this.attempts } });
  }

  async #pause(ms: number): Promise<void> {
    try {
      await this.#ports.clock.sleep(ms, { signal: this.signal });
    } catch (thrown) {
      throw this.#fail(this.#explain(thrown));
    }
  }

  #leftMs(): number | undefined {
    return this.#deadline === undefined
      ? undefined
      : this.#deadline - this.#ports.clock.monotonic();
  }
}

function estimateOf(
  provider: LlmProvider,
  messages: readonly Message[],
  options: CallOptions,
): Estimate {
  return {
    inputTokens: estimateInputTokens(messages, options),
    outputTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(provider.model === undefined ? {} : { model: provider.model }),
  };
}
