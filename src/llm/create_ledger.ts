/**
 * The ledger: caps that parallel work cannot pass.
 *
 * @module
 */
import { ambientPorts, type Clock } from "../ports/mod.ts";
import {
  type Amount,
  checkBudget,
  checkEstimate,
  describe,
  exceeded,
  leftOf,
  NOTHING,
  plus,
  smaller,
  tightestOutput,
} from "./budget_arithmetic.ts";
import { BudgetExhaustedError, ConfigError } from "./errors.ts";
import type { Budget, Estimate, Ledger, Reservation } from "./ledger.ts";
import { estimateCost, type PriceTable, type Rates } from "./prices.ts";
import { addUsage, NO_USAGE, totalTokens, type Usage } from "./usage.ts";
import { type Fit, type QueuedAccount, WaitQueue } from "./wait_queue.ts";

/** The fewest completion tokens worth sending a request for, where the estimate names none. */
export const DEFAULT_MIN_OUTPUT_TOKENS = 16;

/** What a ledger is made with. */
export interface LedgerOptions {
  /** The clock of `deadline`; default that of the ambient ports. */
  readonly clock?: Clock;
  /** Prices, needed for `maxCostUsd`. */
  readonly prices?: PriceTable;
}

/**
 * Opens a ledger.
 *
 * @example
 * ```ts
 * import { BudgetExhaustedError } from "@kit/mcp";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const ledger = createLedger({ maxCalls: 1 });
 * ledger.reserve({ inputTokens: 10, outputTokens: 20 }).settle({ inputTokens: 9, outputTokens: 4 });
 * assertEquals(ledger.spent.llmCalls, 1);
 * assertThrows(() => ledger.reserve({ inputTokens: 10, outputTokens: 20 }), BudgetExhaustedError);
 * ```
 *
 * @param budget The caps; default none.
 * @param options Its clock and prices.
 * @returns The ledger, nothing spent.
 * @throws {ConfigError} If a cap is not a number of 0 or more; code `argument`.
 */
export function createLedger(budget: Budget = {}, options: LedgerOptions = {}): Ledger {
  return new Account(budget, { ...options, queue: new WaitQueue() });
}

/**
 * Tells whether what is reserved in one ledger is reserved in another too, because that one is the same or above it.
 *
 * @param ledger A ledger of {@linkcode createLedger} or one of its children.
 * @param above The other.
 * @returns Whether `above` is in the chain of `ledger`.
 */
export function isLedgerWithin(ledger: Ledger, above: Ledger): boolean {
  return ledger === above ||
    (ledger instanceof Account && ledger.chain.some((account) => account === above));
}

interface AccountOptions extends LedgerOptions {
  readonly queue: WaitQueue;
  readonly parent?: Account;
}

class Account implements Ledger, QueuedAccount {
  /** This ledger first, the root last. */
  readonly chain: readonly Account[];
  readonly #budget: Budget;
  readonly #clock: Clock | undefined;
  readonly #prices: PriceTable | undefined;
  readonly #parent: Account | undefined;
  readonly #queue: WaitQueue;
  #spent: Usage = NO_USAGE;
  #spentUsd = 0;
  #held: Amount = NOTHING;
  #usageMissing = false;
  #unpriced = false;

  constructor(budget: Budget, options: AccountOptions) {
    this.#budget = checkBudget(budget);
    this.#clock = options.clock;
    this.#prices = options.prices;
    this.#parent = options.parent;
    this.#queue = options.queue;
    this.chain = [this, ...(options.parent?.chain ?? [])];
  }

  get spent(): Usage {
    return this.#spent;
  }

  get outstanding(): Usage {
    const { calls, inputTokens, outputTokens } = this.#held;
    return { inputTokens, outputTokens, llmCalls: calls, uncertainTokens: 0 };
  }

  get overBudget(): boolean {
    return exceeded(this.#budget, this.#spent, this.#spentUsd) !== undefined;
  }

  get usageMissing(): boolean {
    return this.#usageMissing;
  }

  get spentUsd(): number | undefined {
    return this.#unpriced ? undefined : this.#spentUsd;
  }

  remaining(): Budget {
    const left = leftOf(this.#budget, plus(this.#held, this.#spentAmount()));
    return this.#parent === undefined ? left : smaller(left, this.#parent.remaining());
  }

  child(budget: Budget = {}): Ledger {
    return new Account(budget, {
      ...(this.#clock === undefined ? {} : { clock: this.#clock }),
      ...(this.#prices === undefined ? {} : { prices: this.#prices }),
      queue: this.#queue,
      parent: this,
    });
  }

  reserve(estimate: Estimate): Reservation {
    const fit = this.tryFit(checkEstimate(estimate), { counting: "held" });
    if ("field" in fit) throw this.exhausted(fit.field);
    return this.hold(estimate, fit.outputTokens);
  }

  acquire(
    estimate: Estimate,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Reservation> {
    return this.#queue.enter(this, checkEstimate(estimate), options.signal);
  }

  /** Whether the estimate fits every ledger up the chain, outstanding reservations counted or hoped back. */
  tryFit(estimate: Estimate, options: { readonly counting: "held" | "spent" }): Fit {
    let outputTokens = estimate.outputTokens;
    const least = Math.min(
      estimate.minOutputTokens ?? DEFAULT_MIN_OUTPUT_TOKENS,
      estimate.outputTokens,
    );
    for (const account of this.chain) {
      const fit = account.#fitHere(estimate, options);
      if ("field" in fit) return { field: fit.field, account };
      if (fit.outputTokens < least) return { field: fit.tightest, account };
      outputTokens = Math.min(outputTokens, fit.outputTokens);
    }
    return { outputTokens };
  }

  /** Subtracts what fits, all the way up. */
  hold(estimate: Estimate, outputTokens: number): Reservation {
    const rates = this.#rates(estimate);
    const tokens = { inputTokens: estimate.inputTokens, outputTokens };
    const held: Amount = { calls: 1, ...tokens, costUsd: estimateCost(tokens, rates) ?? 0 };
    for (const account of this.chain) account.#held = plus(account.#held, held);
    return new Hold(outputTokens, (outcome) => this.#finish(held, outcome, rates));
  }

  /** The error for a cap that is in the way, told by the ledger that has it. */
  exhausted(field: string): BudgetExhaustedError {
    const owner = this.chain.find((account) => account.#cap(field) !== undefined) ?? this;
    const cap = owner.#cap(field);
    const text = field === "deadline"
      ? "Cannot send a request: the deadline has passed"
      : `Cannot send a request: the budget allows ${cap} ${CAP_UNITS[field] ?? field}, ${
        describe(owner.#spent, owner.#held)
      }`;
    return new BudgetExhaustedError(field, text, {
      usage: this.#spent,
      details: { budget: { ...owner.#budget }, spent: owner.#spent },
    });
  }

  #cap(field: string): number | undefined {
    const caps: Readonly<Record<string, number | undefined>> = { ...this.#budget };
    return Object.hasOwn(caps, field) ? caps[field] : undefined;
  }

  #spentAmount(): Amount {
    const { llmCalls, inputTokens, outputTokens } = this.#spent;
    return { calls: llmCalls, inputTokens, outputTokens, costUsd: this.#spentUsd };
  }

  #fitHere(
    estimate: Estimate,
    options: { readonly counting: "held" | "spent" },
  ): { readonly field: string } | { readonly outputTokens: number; readonly tightest: string } {
    const budget = this.#budget;
    if (budget.deadline !== undefined && this.#now() >= budget.deadline) {
      return { field: "deadline" };
    }
    const over = exceeded(budget, this.#spent, this.#spentUsd);
    if (over !== undefined) return { field: over };
    const used = options.counting === "held"
      ? plus(this.#spentAmount(), this.#held)
      : this.#spentAmount();
    const left = leftOf(budget, used);
    if (left.maxCalls !== undefined && left.maxCalls < 1) return { field: "maxCalls" };
    if (left.maxInputTokens !== undefined && left.maxInputTokens < estimate.inputTokens) {
      return { field: "maxInputTokens" };
    }
    const rates = budget.maxCostUsd === undefined ? undefined : this.#rates(estimate);
    return tightestOutput(left, estimate, rates);
  }

  #now(): number {
    return (this.#clock ?? ambientPorts().clock).monotonic();
  }

  #rates(estimate: Estimate): Rates | undefined {
    const rates = estimate.model === undefined ? undefined : this.#prices?.ratesOf(estimate.model);
    if (rates === undefined && this.#capsCost()) {
      throw new ConfigError(
        `Cannot keep to maxCostUsd: the price of model "${
          estimate.model ?? "(unnamed)"
        }" is unknown; give prices to the ledger`,
      );
    }
    return rates;
  }

  #capsCost(): boolean {
    return this.chain.some((account) => account.#budget.maxCostUsd !== undefined);
  }

  #finish(held: Amount, outcome: Outcome, rates: Rates | undefined): void {
    const charge = chargeOf(held, outcome);
    const costUsd = estimateCost(charge, rates);
    const isUnpriced = costUsd === undefined && totalTokens(charge) > 0;
    for (const account of this.chain) {
      account.#held = plus(account.#held, held, -1);
      account.#spent = addUsage(account.#spent, charge);
      account.#spentUsd += costUsd ?? 0;
      if (isUnpriced) account.#unpriced = true;
      if (outcome.kind === "settle" && outcome.actual === undefined) account.#usageMissing = true;
    }
    this.#queue.serve();
  }
}

/** What a cap counts: the text also reaches those who know no option by its name here. */
const CAP_UNITS: Readonly<Record<string, string>> = {
  maxCalls: "calls",
  maxInputTokens: "input tokens",
  maxOutputTokens: "output tokens",
  maxTokens: "tokens",
  maxCostUsd: "US dollars",
};

/** How a reservation ended. */
type Outcome =
  | {
    readonly kind: "settle";
    readonly actual: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  }
  | { readonly kind: "refuse" | "abandon" | "release" };

function chargeOf(held: Amount, outcome: Outcome): Usage {
  const { inputTokens, outputTokens } = held;
  const estimated = { inputTokens, outputTokens, llmCalls: 1, uncertainTokens: totalTokens(held) };
  switch (outcome.kind) {
    case "settle":
      return outcome.actual === undefined
        ? estimated
        : { ...checkActual(outcome.actual), llmCalls: 1, uncertainTokens: 0 };
    case "refuse":
      return { ...NO_USAGE, llmCalls: 1 };
    case "abandon":
      return estimated;
    case "release":
      return NO_USAGE;
  }
}

function checkActual(
  actual: { readonly inputTokens: number; readonly outputTokens: number },
): { readonly inputTokens: number; readonly outputTokens: number } {
  for (const tokens of [actual.inputTokens, actual.outputTokens]) {
    if (!Number.isFinite(tokens) || tokens < 0) {
      throw new RangeError(`Cannot settle ${tokens} tokens: wanted a finite number of 0 or more`);
    }
  }
  return { inputTokens: actual.inputTokens, outputTokens: actual.outputTokens };
}

class Hold implements Reservation {
  readonly outputTokens: number;
  #finish: ((outcome: Outcome) => void) | undefined;

  constructor(outputTokens: number, finish: (outcome: Outcome) => void) {
    this.outputTokens = outputTokens;
    this.#finish = finish;
  }

  settle(actual?: { readonly inputTokens: number; readonly outputTokens: number }): void {
    this.#end({ kind: "settle", actual: actual === undefined ? undefined : checkActual(actual) });
  }

  refuse(): void {
    this.#end({ kind: "refuse" });
  }

  abandon(): void {
    this.#end({ kind: "abandon" });
  }

  release(): void {
    this.#end({ kind: "release" });
  }

  #end(outcome: Outcome): void {
    const finish = this.#finish;
    this.#finish = undefined;
    finish?.(outcome);
  }
}
