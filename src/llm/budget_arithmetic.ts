/**
 * The arithmetic of budgets: what is left, what is exceeded, how much fits.
 *
 * @module
 */
import { ConfigError } from "./errors.ts";
import type { Budget, Estimate } from "./ledger.ts";
import type { Rates } from "./prices.ts";
import { totalTokens, type Usage } from "./usage.ts";

/** What a reservation holds, or what it came to. */
export interface Amount {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export const NOTHING: Amount = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function plus(left: Amount, right: Amount, sign: 1 | -1 = 1): Amount {
  return {
    calls: left.calls + sign * right.calls,
    inputTokens: left.inputTokens + sign * right.inputTokens,
    outputTokens: left.outputTokens + sign * right.outputTokens,
    costUsd: left.costUsd + sign * right.costUsd,
  };
}

const CAPS = [
  "maxCalls",
  "maxInputTokens",
  "maxOutputTokens",
  "maxTokens",
  "maxCostUsd",
] as const;
const FIELDS = [...CAPS, "deadline"] as const;

export function checkBudget(budget: Budget): Budget {
  for (const field of FIELDS) {
    const cap = budget[field];
    if (cap === undefined) continue;
    // a text would compare as no limit at all
    const isNumber = typeof cap === "number" && !Number.isNaN(cap);
    if (!isNumber || (field !== "deadline" && cap < 0)) {
      throw new ConfigError(
        `Cannot use budget: ${field} is ${cap}, wanted a number of 0 or more; leave it out for no limit`,
        { code: "argument" },
      );
    }
  }
  return budget;
}

export function checkEstimate(estimate: Estimate): Estimate {
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

export function leftOf(budget: Budget, used: Amount): Budget {
  const left: Mutable<Budget> = {};
  for (const field of CAPS) {
    const cap = budget[field];
    if (cap !== undefined) left[field] = Math.max(0, cap - usedOf(used, field));
  }
  if (budget.deadline !== undefined) left.deadline = budget.deadline;
  return left;
}

function usedOf(used: Amount, field: typeof CAPS[number]): number {
  switch (field) {
    case "maxCalls":
      return used.calls;
    case "maxInputTokens":
      return used.inputTokens;
    case "maxOutputTokens":
      return used.outputTokens;
    case "maxTokens":
      return totalTokens(used);
    case "maxCostUsd":
      return used.costUsd;
  }
}

export function smaller(left: Budget, right: Budget): Budget {
  const both: Mutable<Budget> = { ...left };
  for (const field of FIELDS) {
    const other = right[field];
    if (other !== undefined) both[field] = Math.min(left[field] ?? Infinity, other);
  }
  return both;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function exceeded(budget: Budget, spent: Usage, spentUsd: number): string | undefined {
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

export function tightestOutput(
  left: Budget,
  estimate: Estimate,
  rates: Rates | undefined,
): { readonly outputTokens: number; readonly tightest: string } {
  let found = { outputTokens: estimate.outputTokens, tightest: "maxOutputTokens" };
  const narrow = (room: number, tightest: string): void => {
    const outputTokens = Math.floor(room);
    if (outputTokens < found.outputTokens) found = { outputTokens, tightest };
  };
  if (left.maxOutputTokens !== undefined) narrow(left.maxOutputTokens, "maxOutputTokens");
  if (left.maxTokens !== undefined) narrow(left.maxTokens - estimate.inputTokens, "maxTokens");
  if (left.maxCostUsd !== undefined && rates !== undefined) {
    const money = left.maxCostUsd - estimate.inputTokens * rates.inputRate;
    const affordable = rates.outputRate === 0
      ? (money < 0 ? -1 : Infinity)
      : money / rates.outputRate;
    narrow(affordable, "maxCostUsd");
  }
  return found;
}

export function describe(spent: Usage, held: Amount): string {
  return `spent are ${spent.llmCalls} calls, ${spent.inputTokens} input and ${spent.outputTokens} ` +
    `output tokens, reserved ${held.calls} calls, ${held.inputTokens} and ${held.outputTokens} tokens`;
}
