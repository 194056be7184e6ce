/**
 * The ledger: caps that parallel work cannot pass.
 *
 * @module
 */
import { ambientPorts, type Clock } from "../ports/mod.ts";
import { AbortedError, BudgetExhaustedError, ConfigError } from "./errors.ts";
import type { Budget, Estimate, Ledger, Reservation } from "./ledger.ts";
import { estimateCost, type PriceTable, type Rates } from "./prices.ts";
import { addUsage, NO_USAGE, totalTokens, type Usage } from "./usage.ts";

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

/** What a reservation holds, or what it came to. */
interface Amount {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

const NOTHING: Amount = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

function plus(left: Amount, right: Amount, sign: 1 | -1 = 1): Amount {
  return {
    calls: left.calls + sign * right.calls,
    inputTokens: left.inputTokens + sign * right.inputTokens,
    outputTokens: left.outputTokens + sign * right.outputTokens,
    costUsd: left.costUsd + sign * right.costUsd,
  };
}

/** Whether a request fits: with how many completion tokens, or which cap is in the way. */
type Fit = { readonly outputTokens: number } | {
  readonly field: string;
  readonly account: Account;
};

interface AccountOptions extends LedgerOptions {
  readonly queue: WaitQueue;
  readonly parent?: Account;
}

class Account implements Ledger {
  readonly #budget: Budget;
  readonly #clock: Clock | undefined;
  readonly #prices: PriceTable | undefined;
  readonly #parent: Account | undefined;
  readonly #queue: WaitQueue;
  #spent: Usage = NO_USAGE;
  #spentUsd = 0;
  #held: Amount = NOTHING;
  #usageMissing = false;

  constructor(budget: Budget, options: AccountOptions) {
    this.#budget = checkBudget(budget);
    this.#clock = options.clock;
    this.#prices = options.prices;
    this.#parent = options.parent;
    this.#queue = options.queue;
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

  remaining(): Budget {
    const left = leftOf(this.#budget, plus(this.#held, this.#spentAmount()));
    const above = this.#parent?.remaining() ?? {};
    return smaller(left, above);
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
    for (const account of this.chain()) {
      const fit = account.#fitHere(estimate, options);
      if ("field" in fit) return { field: fit.field, account };
      if (fit.outputTokens < least) return { field: fit.tightest, account };
      outputTokens = Math.min(outputTokens, fit.outputTokens);
    }
    return { outputTokens };
  }

  /** The ledgers that an estimate must fit, this one first. */
  *chain(): Generator<Account> {
    yield this;
    if (this.#parent !== undefined) yield* this.#parent.chain();
  }

  /** Subtracts what fits, all the way up. */
  hold(estimate: Estimate, outputTokens: number): Reservation {
    const rates = this.#rates(estimate);
    const tokens = { inputTokens: estimate.inputTokens, outputTokens };
    const held: Amount = { calls: 1, ...tokens, costUsd: estimateCost(tokens, rates) ?? 0 };
    for (const account of this.chain()) account.#held = plus(account.#held, held);
    return new Hold(outputTokens, (outcome) => this.#finish(held, outcome, rates));
  }

  /** The error for a cap that is in the way, told by the ledger that has it. */
  exhausted(field: string): BudgetExhaustedError {
    const owner = this.chain().find((account) => account.#cap(field) !== undefined) ?? this;
    const cap = owner.#cap(field);
    const text = field === "deadline"
      ? "Cannot send a request: the deadline has passed"
      : `Cannot send a request: the budget allows ${field} ${cap}, ${
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
    return this.chain().some((account) => account.#budget.maxCostUsd !== undefined);
  }

  #finish(held: Amount, outcome: Outcome, rates: Rates | undefined): void {
    const charge = chargeOf(held, outcome);
    const costUsd = estimateCost(charge, rates) ?? 0;
    for (const account of this.chain()) {
      account.#held = plus(account.#held, held, -1);
      account.#spent = addUsage(account.#spent, charge);
      account.#spentUsd += costUsd;
      if (outcome.kind === "settle" && outcome.actual === undefined) account.#usageMissing = true;
    }
    this.#queue.serve();
  }
}

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

interface Waiter {
  readonly account: Account;
  readonly estimate: Estimate;
  readonly grant: (reservation: Reservation) => void;
  readonly refuse: (error: unknown) => void;
}

/** Those who wait, in order, for all ledgers of one tree. */
class WaitQueue {
  #waiters: Waiter[] = [];

  enter(
    account: Account,
    estimate: Estimate,
    signal: AbortSignal | undefined,
  ): Promise<Reservation> {
    if (signal?.aborted) {
      return Promise.reject(
        new AbortedError(undefined, { cause: signal.reason, usage: account.spent }),
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>();
    const leave = (): void => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      reject(new AbortedError(undefined, { cause: signal?.reason, usage: account.spent }));
      this.serve();
    };
    const waiter: Waiter = {
      account,
      estimate,
      grant: (reservation) => {
        signal?.removeEventListener("abort", leave);
        resolve(reservation);
      },
      refuse: (error) => {
        signal?.removeEventListener("abort", leave);
        reject(error);
      },
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiters.push(waiter);
    this.serve();
    return promise;
  }

  /** Grants and refuses whom it can. Nobody overtakes a waiter that waits for the same ledger. */
  serve(): void {
    const full = new Set<Account>();
    const waiters = this.#waiters;
    this.#waiters = [];
    const kept: Waiter[] = [];
    for (const [index, waiter] of waiters.entries()) {
      if (!attend(waiter, full)) kept.push(waiter);
      if (full.size > 0 && full.has(rootOf(waiter.account))) {
        kept.push(...waiters.slice(index + 1));
        break;
      }
    }
    this.#waiters = [...kept, ...this.#waiters];
  }
}

/** Whether the waiter is done with. Adds the ledger that is in its way to those that are full. */
function attend(waiter: Waiter, full: Set<Account>): boolean {
  const { account, estimate } = waiter;
  try {
    const hope = account.tryFit(estimate, { counting: "spent" });
    if ("field" in hope) throw account.exhausted(hope.field);
    const fit = account.tryFit(estimate, { counting: "held" });
    if ("field" in fit) {
      full.add(fit.account);
      return false;
    }
    if (account.chain().some((one) => full.has(one))) return false;
    waiter.grant(account.hold(estimate, fit.outputTokens));
  } catch (error) {
    waiter.refuse(error);
  }
  return true;
}

function rootOf(account: Account): Account {
  let root = account;
  for (const one of account.chain()) root = one;
  return root;
}

const COUNTED_CAPS = ["maxCalls", "maxInputTokens", "maxOutputTokens", "maxTokens"] as const;
const CAPS = [...COUNTED_CAPS, "maxCostUsd", "deadline"] as const;

function checkBudget(budget: Budget): Budget {
  for (const field of CAPS) {
    const cap = budget[field];
    if (cap === undefined) continue;
    if (Number.isNaN(cap) || (field !== "deadline" && cap < 0)) {
      throw new ConfigError(
        `Cannot use budget: ${field} is ${cap}, wanted a number of 0 or more; leave it out for no limit`,
        { code: "argument" },
      );
    }
  }
  return budget;
}

function checkEstimate(estimate: Estimate): Estimate {
  for (const field of ["inputTokens", "outputTokens", "minOutputTokens"] as const) {
    const tokens = estimate[field];
    if (tokens !== undefined && !(tokens >= 0 && Number.isFinite(tokens))) {
      throw new ConfigError(`Cannot reserve: ${field} is ${tokens}, wanted 0 or more`, {
        code: "argument",
      });
    }
  }
  return estimate;
}

function leftOf(budget: Budget, used: Amount): Budget {
  const left = (cap: number | undefined, amount: number, field: keyof Budget): Budget =>
    cap === undefined ? {} : { [field]: Math.max(0, cap - amount) };
  return {
    ...left(budget.maxCalls, used.calls, "maxCalls"),
    ...left(budget.maxInputTokens, used.inputTokens, "maxInputTokens"),
    ...left(budget.maxOutputTokens, used.outputTokens, "maxOutputTokens"),
    ...left(budget.maxTokens, totalTokens(used), "maxTokens"),
    ...left(budget.maxCostUsd, used.costUsd, "maxCostUsd"),
    ...(budget.deadline === undefined ? {} : { deadline: budget.deadline }),
  };
}

function smaller(left: Budget, right: Budget): Budget {
  const both: Record<string, number> = {};
  for (const field of CAPS) {
    const least = Math.min(left[field] ?? Infinity, right[field] ?? Infinity);
    if (left[field] !== undefined || right[field] !== undefined) both[field] = least;
  }
  return both;
}

function exceeded(budget: Budget, spent: Usage, spentUsd: number): string | undefined {
  if (above(spent.llmCalls, budget.maxCalls)) return "maxCalls";
  if (above(spent.inputTokens, budget.maxInputTokens)) return "maxInputTokens";
  if (above(spent.outputTokens, budget.maxOutputTokens)) return "maxOutputTokens";
  if (above(totalTokens(spent), budget.maxTokens)) return "maxTokens";
  if (above(spentUsd, budget.maxCostUsd)) return "maxCostUsd";
  return undefined;
}

function above(amount: number, cap: number | undefined): boolean {
  return cap !== undefined && amount > cap;
}

function tightestOutput(
  left: Budget,
  estimate: Estimate,
  rates: Rates | undefined,
): { readonly outputTokens: number; readonly tightest: string } {
  let found = { outputTokens: estimate.outputTokens, tightest: "maxOutputTokens" };
  const narrow = (outputTokens: number, tightest: string): void => {
    if (outputTokens < found.outputTokens) found = { outputTokens, tightest };
  };
  if (left.maxOutputTokens !== undefined) narrow(left.maxOutputTokens, "maxOutputTokens");
  if (left.maxTokens !== undefined) narrow(left.maxTokens - estimate.inputTokens, "maxTokens");
  if (left.maxCostUsd !== undefined && rates !== undefined) {
    const money = left.maxCostUsd - estimate.inputTokens * rates.inputRate;
    const affordable = rates.outputRate === 0
      ? (money < 0 ? -1 : Infinity)
      : Math.floor(money / rates.outputRate);
    narrow(affordable, "maxCostUsd");
  }
  return found;
}

function describe(spent: Usage, held: Amount): string {
  return `spent are ${spent.llmCalls} calls, ${spent.inputTokens} input and ${spent.outputTokens} ` +
    `output tokens, reserved ${held.calls} calls, ${held.inputTokens} and ${held.outputTokens} tokens`;
}
