/**
 * What every pattern takes and gives.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import {
  type Budget,
  ConfigError,
  type Ledger,
  type LlmProvider,
  type PriceTable,
  type RetryPolicy,
  type SpanContext,
  type TraceSink,
  type Usage,
} from "../llm/mod.ts";
import type { Ports } from "../ports/mod.ts";

/** What every pattern takes. */
export interface PatternOptions {
  /** Caps on this run; reserved before anything is sent. Default none. */
  readonly budget?: Budget;
  /** The account that this run is charged to, beside its own `budget`. Default a new one. */
  readonly ledger?: Ledger;
  /** Prices, needed for `budget.maxCostUsd`. Only used where no `ledger` is given. */
  readonly prices?: PriceTable;
  /** How often a failed request is tried again; default three attempts. */
  readonly retry?: RetryPolicy;
  /** Where trace events go; default nowhere. */
  readonly trace?: TraceSink;
  /** The span above, for the trace. */
  readonly span?: SpanContext;
  /** Ends the run: requests and tools are aborted at once. */
  readonly signal?: AbortSignal;
  /** Time and chance; default the ambient ports. */
  readonly ports?: Pick<Ports, "clock" | "random">;
  /** Most milliseconds for the whole run. Past it the run fails with code `budget`, field `deadline`. */
  readonly deadlineMs?: number;
  /** Most milliseconds for one request, its body included; default the provider's. */
  readonly timeoutMs?: number;
  /** Sampling temperature; each pattern has its own default. */
  readonly temperature?: number;
  /** Most tokens of one answer, at least 1; default 4096. */
  readonly maxTokens?: number;
  /** System message; default none. */
  readonly system?: string;
  /** Seed of the sampling. */
  readonly seed?: number;
  /** Asks for thinking where the vendor has a switch for it. */
  readonly reasoning?: boolean;
  /** Vendor fields of the request. */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/** What every result tells about its requests. Absent members are false, or empty. */
export interface SpendFacts {
  /** Some request was charged by estimate, because the endpoint gave no count. */
  readonly usageMissing?: true;
  /** An endpoint ignored its limit, so a cap was passed. */
  readonly overBudget?: true;
  /** What was odd about answers, each oddity once, at most 20. */
  readonly warnings?: readonly string[];
}

/** What a pattern gives. Frozen, and shared with nobody. */
export interface PatternResult<T, M = object> {
  /** What was asked for. */
  readonly value: T;
  /** How good it is by the pattern's own measure, from 0 to 1; absent if the pattern has none. */
  readonly score?: number;
  /** What the run spent. */
  readonly usage: Usage;
  /** How it came about. */
  readonly metadata: M & SpendFacts;
}

/** The range of a number option. */
export interface NumberRange {
  /** The least allowed. */
  readonly min: number;
  /** The most allowed; default no bound. */
  readonly max?: number;
  /** Whether fractions are refused; default true. */
  readonly integer?: boolean;
}

/**
 * Checks a number option before anything is spent.
 *
 * @param name The option.
 * @param value What was given.
 * @param range What is allowed.
 * @returns The value.
 * @throws {ConfigError} If it is out of range or not finite; code `argument`.
 */
export function checkNumber(name: string, value: number, range: NumberRange): number {
  const { min, max = Number.MAX_VALUE, integer = true } = range;
  const fits = Number.isFinite(value) && value >= min && value <= max &&
    (!integer || Number.isSafeInteger(value));
  if (fits) return value;
  const kind = integer ? "an integer" : "a number";
  const bounds = range.max === undefined ? `of at least ${min}` : `from ${min} to ${range.max}`;
  throw new ConfigError(`Cannot use option ${name}: found ${value}, wanted ${kind} ${bounds}`, {
    code: "argument",
  });
}

/**
 * Checks an option with a closed set of words.
 *
 * @param name The option.
 * @param value What was given.
 * @param words What is allowed.
 * @returns The value.
 * @throws {ConfigError} If it is none of them; code `argument`.
 */
export function checkWord<Word extends string>(
  name: string,
  value: string,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new ConfigError(
    `Cannot use option ${name}: found "${value}", wanted one of ${words.join(", ")}`,
    { code: "argument" },
  );
}

/**
 * Checks a text that a model is to be asked.
 *
 * @param name What it is.
 * @param value What was given.
 * @returns The text.
 * @throws {ConfigError} If it is not a text or only white space; code `argument`.
 */
export function checkText(name: string, value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new ConfigError(`Cannot use ${name}: wanted a text that is not blank`, {
    code: "argument",
  });
}

/**
 * Checks that whoever is to be asked can be asked. Providers are known by their shape alone.
 *
 * @param provider What was given.
 * @throws {ConfigError} If it has no method `complete`; code `argument`.
 */
export function checkProvider(provider: LlmProvider): void {
  const given: Partial<LlmProvider> | null | undefined = provider;
  if (typeof given?.complete === "function") return;
  throw new ConfigError("Cannot ask the provider: it has no method complete()", {
    code: "argument",
  });
}

/** The hottest that endpoints take. */
const MAX_TEMPERATURE = 2;

/**
 * Checks the options that every pattern takes.
 *
 * @param options The options.
 * @throws {ConfigError} If one is out of range; code `argument`.
 */
export function checkCommon(options: PatternOptions): void {
  if (options.temperature !== undefined) {
    checkNumber("temperature", options.temperature, {
      min: 0,
      max: MAX_TEMPERATURE,
      integer: false,
    });
  }
  if (options.maxTokens !== undefined) checkNumber("maxTokens", options.maxTokens, { min: 1 });
  if (options.deadlineMs !== undefined) {
    checkNumber("deadlineMs", options.deadlineMs, { min: 0, integer: false });
  }
  if (options.timeoutMs !== undefined) {
    checkNumber("timeoutMs", options.timeoutMs, { min: 1, integer: false });
  }
}
