/**
 * Those who wait for a budget, in the order of asking.
 *
 * @module
 */
import { AbortedError } from "./errors.ts";
import type { Estimate, Reservation } from "./ledger.ts";
import type { Usage } from "./usage.ts";

/** A ledger, as the queue sees it. */
export interface QueuedAccount {
  /** The ledgers that an estimate must fit: this one first, the root last. */
  readonly chain: readonly QueuedAccount[];
  /** What was spent. */
  readonly spent: Usage;
  /** Whether the estimate fits, outstanding reservations counted or hoped back. */
  tryFit(estimate: Estimate, options: { readonly counting: "held" | "spent" }): Fit;
  /** Reserves what fits. */
  hold(estimate: Estimate, outputTokens: number): Reservation;
  /** The error for a cap that is in the way. */
  exhausted(field: string): Error;
}

/** Whether a request fits: with how many completion tokens, or which cap of which ledger is in the way. */
export type Fit = { readonly outputTokens: number } | {
  readonly field: string;
  readonly account: QueuedAccount;
};

interface Waiter {
  readonly account: QueuedAccount;
  readonly estimate: Estimate;
  readonly grant: (reservation: Reservation) => void;
  readonly refuse: (error: unknown) => void;
}

/** The queue of all ledgers of one tree. */
export class WaitQueue {
  readonly #waiters = new Set<Waiter>();

  /**
   * Waits for what does not fit now but may.
   *
   * @throws {BudgetExhaustedError} If it cannot fit, whatever the others give back.
   * @throws {AbortedError} If the signal fires.
   */
  enter(
    account: QueuedAccount,
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
      this.#waiters.delete(waiter);
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
    if (this.#waiters.size === 0 && attend(waiter, new Set())) return promise;
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiters.add(waiter);
    if (this.#waiters.size > 1) this.serve();
    return promise;
  }

  /** Grants and refuses whom it can. Nobody overtakes a waiter that waits for the same ledger. */
  serve(): void {
    const full = new Set<QueuedAccount>();
    for (const waiter of this.#waiters) {
      if (attend(waiter, full)) this.#waiters.delete(waiter);
      const root = waiter.account.chain.at(-1);
      if (root !== undefined && full.has(root)) return;
    }
  }
}

/** Whether the waiter is done with. Adds the ledger that is in its way to those that are full. */
function attend(waiter: Waiter, full: Set<QueuedAccount>): boolean {
  const { account, estimate } = waiter;
  try {
    const fit = account.tryFit(estimate, { counting: "held" });
    if ("field" in fit) {
      const hope = account.tryFit(estimate, { counting: "spent" });
      if ("field" in hope) throw account.exhausted(hope.field);
      full.add(fit.account);
      return false;
    }
    if (full.size > 0 && account.chain.some((one) => full.has(one))) return false;
    waiter.grant(account.hold(estimate, fit.outputTokens));
  } catch (error) {
    waiter.refuse(error);
  }
  return true;
}
