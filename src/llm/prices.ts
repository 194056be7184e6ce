/**
 * What tokens cost. Kit ships no prices: they go stale, and models are open-ended. A price that nobody gave is
 * unknown, never 0.
 *
 * @module
 */
import { ConfigError } from "./errors.ts";

/** US dollars per token, as finite numbers of 0 or more. */
export interface Rates {
  /** For one prompt token. */
  readonly inputRate: number;
  /** For one completion token. */
  readonly outputRate: number;
}

/** Where prices come from. */
export interface PriceTable {
  /**
   * Looks a model up.
   *
   * @param model The model's name as the endpoint knows it.
   * @returns Its rates, or `undefined` if they are unknown.
   */
  ratesOf(model: string): Rates | undefined;
}

/**
 * Makes a price table of a record.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const prices = createPriceTable({ "small-1": { inputRate: 2e-7, outputRate: 8e-7 } });
 * const tokens = { inputTokens: 1000, outputTokens: 500 };
 * assertEquals(estimateCost(tokens, prices.ratesOf("small-1")), 0.0006);
 * assertEquals(estimateCost(tokens, prices.ratesOf("unheard-of")), undefined);
 * ```
 *
 * @param rates Rates by exact model name.
 * @returns The table.
 * @throws {ConfigError} If a rate is negative or not finite.
 */
export function createPriceTable(rates: Readonly<Record<string, Rates>>): PriceTable {
  const table = new Map(Object.entries(rates));
  for (const [model, { inputRate, outputRate }] of table) {
    for (const rate of [inputRate, outputRate]) {
      if (!Number.isFinite(rate) || rate < 0) {
        throw new ConfigError(
          `Cannot use the prices of model "${model}": rates are finite numbers of 0 or more, found ${rate}`,
        );
      }
    }
  }
  return { ratesOf: (model) => table.get(model) };
}

/**
 * What tokens cost.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const tokens = { inputTokens: 1000, outputTokens: 500 };
 * assertEquals(estimateCost(tokens, { inputRate: 2e-7, outputRate: 8e-7 }), 0.0006);
 * assertEquals(estimateCost(tokens, undefined), undefined);
 * ```
 *
 * @param tokens How many of each kind.
 * @param rates The rates, or `undefined` if unknown.
 * @returns US dollars, or `undefined` if the rates are unknown.
 */
export function estimateCost(
  tokens: { readonly inputTokens: number; readonly outputTokens: number },
  rates: Rates | undefined,
): number | undefined {
  if (rates === undefined) return undefined;
  return tokens.inputTokens * rates.inputRate + tokens.outputTokens * rates.outputRate;
}
