/**
 * Budgets that reserve before anything is spent.
 *
 * A reservation is held for one attempt on the wire and nothing else. It must fit the ledger and every ledger above
 * it; the check and the subtraction are one synchronous step, so parallel work cannot pass a cap between them.
 *
 * @module
 */
import type { Usage } from "./usage.ts";

/** Caps on spending. An absent field is no limit; 0 allows nothing. */
export interface Budget {
  /** Most requests, each attempt counted. */
  readonly maxCalls?: number;
  /** Most prompt tokens. */
  readonly maxInputTokens?: number;
  /** Most completion tokens. */
  readonly maxOutputTokens?: number;
  /** Most tokens of both kinds together. */
  readonly maxTokens?: number;
  /** Most money in US dollars; needs `prices` for the model. */
  readonly maxCostUsd?: number;
  /** When to stop, in milliseconds on the ledger's monotonic clock. */
  readonly deadline?: number;
}

/** What an attempt may cost at most. */
export interface Estimate {
  /** Prompt tokens, estimated from the bytes to be sent. */
  readonly inputTokens: number;
  /** Completion tokens wanted. */
  readonly outputTokens: number;
  /** The fewest completion tokens worth sending for; default 16, or `outputTokens` if smaller. */
  readonly minOutputTokens?: number;
  /** The model, for prices. */
  readonly model?: string;
}

/** A part of the budget that is held for one attempt. Ends by exactly one of its methods; later calls do nothing. */
export interface Reservation {
  /** The completion tokens granted, at most those wanted: send this as the limit. */
  readonly outputTokens: number;
  /** The request was answered: charges what it cost, or the estimate where `actual` is `undefined`. */
  settle(actual?: { readonly inputTokens: number; readonly outputTokens: number }): void;
  /** The endpoint refused the request with a status: charges the call, frees the tokens. */
  refuse(): void;
  /** The request was cut off after it left: charges the call and the estimate, marked uncertain. */
  abandon(): void;
  /** The request never left: frees everything. */
  release(): void;
}

/** An account of spending under caps. */
export interface Ledger {
  /** What was spent, here and in every ledger below. */
  readonly spent: Usage;
  /** What is reserved at this moment. */
  readonly outstanding: Usage;
  /** Whether spending ended above a cap, because an endpoint ignored its limit. */
  readonly overBudget: boolean;
  /** Whether some request had to be charged by estimate, because the endpoint gave no count. */
  readonly usageMissing: boolean;
  /** What was spent in US dollars, or `undefined` if the price of some of it is unknown. */
  readonly spentUsd: number | undefined;
  /** What is left of each cap: cap minus spent minus outstanding, never below 0. */
  remaining(): Budget;
  /**
   * Reserves, or throws. Synchronous: all or nothing, up the whole chain.
   *
   * @throws {BudgetExhaustedError} If it does not fit now.
   */
  reserve(estimate: Estimate): Reservation;
  /**
   * Reserves; where outstanding reservations could free enough, waits for them in order.
   *
   * @throws {BudgetExhaustedError} If it cannot fit, whatever the others give back.
   * @throws {AbortedError} If `signal` fires while waiting.
   */
  acquire(
    estimate: Estimate,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Reservation>;
  /** Opens an account below this one: it has its own caps and must fit this one's too. */
  child(budget?: Budget): Ledger;
}
