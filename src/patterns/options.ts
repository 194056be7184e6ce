/**
 * What every pattern takes and gives.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import {
  type Budget,
  ConfigError,
  cutText,
  type Ledger,
  type LlmProvider,
  type PriceTable,
  type RetryPolicy,
  type SpanContext,
  type TraceSink,
  type Usage,
} from "../llm/mod.ts";
import type { Ports } from "../ports/mod.ts";

/** What every pattern takes. Names that are neither these nor the pattern's own are refused, code `argument`. */
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

/**
 * Checks that something can be called, where it is given at all.
 *
 * @param name What it is.
 * @param value What was given.
 * @throws {ConfigError} If it is neither absent nor a function; code `argument`.
 */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined) requireFunction(name, value);
}

/**
 * Checks that something can be called.
 *
 * @param name What it is.
 * @param value What was given.
 * @throws {ConfigError} If it is no function; code `argument`.
 */
export function requireFunction(name: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new ConfigError(`Cannot use ${name}: found ${kindOf(value)}, wanted a function`, {
    code: "argument",
  });
}

/**
 * Checks that an option, where it is given at all, is an object with a method.
 *
 * @param name The option.
 * @param value What was given.
 * @param method The method.
 * @throws {ConfigError} If it is something else; code `argument`.
 */
export function checkMethod(name: string, value: unknown, method: string): void {
  if (value !== undefined) requireMethod(name, value, method);
}

/**
 * Checks that something is an object with a method.
 *
 * @param name What it is.
 * @param value What was given.
 * @param method The method.
 * @throws {ConfigError} If it is something else; code `argument`.
 */
export function requireMethod(name: string, value: unknown, method: string): void {
  const found: unknown = typeof value === "object" && value !== null
    ? Reflect.get(value, method)
    : undefined;
  if (typeof found === "function") return;
  throw new ConfigError(`Cannot use option ${name}: it has no method ${method}()`, {
    code: "argument",
  });
}

/**
 * Checks that all options have names that are known: a slip would otherwise be an option that is not heeded.
 *
 * @param owner What the options are of.
 * @param options What was given; members that are `undefined` do not count.
 * @param known The names.
 * @throws {ConfigError} If it is no object, or has another name, with the nearest that there is; code `argument`.
 */
export function checkNames(owner: string, options: unknown, known: OptionNames): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ConfigError(
      `Cannot use the options of ${owner}: found ${kindOf(options)}, wanted an object`,
      { code: "argument" },
    );
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const near = nearestName(name, Object.keys(known));
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new ConfigError(
      `Cannot use option "${cutText(name, MAX_NAME_CHARACTERS)}": ${owner} has none of this name` +
        hint,
      { code: "argument" },
    );
  }
}

/** The names of options. */
export type OptionNames = Readonly<Record<string, true>>;

/** The names of what every pattern takes. */
export const COMMON_NAMES = Object.freeze(
  {
    budget: true,
    ledger: true,
    prices: true,
    retry: true,
    trace: true,
    span: true,
    signal: true,
    ports: true,
    deadlineMs: true,
    timeoutMs: true,
    temperature: true,
    maxTokens: true,
    system: true,
    seed: true,
    reasoning: true,
    extra: true,
  } satisfies Record<keyof PatternOptions, true>,
);

const BUDGET_NAMES = {
  maxCalls: true,
  maxInputTokens: true,
  maxOutputTokens: true,
  maxTokens: true,
  maxCostUsd: true,
  deadline: true,
} satisfies Record<keyof Budget, true>;

const RETRY_NAMES = {
  maxAttempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  factor: true,
  maxRetryAfterMs: true,
} satisfies Record<keyof RetryPolicy, true>;

const MAX_NAME_CHARACTERS = 64;
/** A name is a slip of another if at most one of so many letters is wrong. */
const LETTERS_PER_SLIP = 3;

/** The name that was meant: the fewest letters added, taken away or replaced, case and separators aside. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS) return undefined;
  const most = Math.max(1, Math.floor(name.length / LETTERS_PER_SLIP));
  const edits = known.map((other) => editsBetween(bareName(name), bareName(other)));
  const fewest = Math.min(...edits);
  return fewest > most ? undefined : known[edits.indexOf(fewest)];
}

function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

function editsBetween(left: string, right: string): number {
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const differs = left[row - 1] === right[column - 1] ? 0 : 1;
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + differs,
      );
    }
    last = next;
  }
  return last[right.length] ?? 0;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** The hottest that endpoints take. */
const MAX_TEMPERATURE = 2;

/**
 * Checks the options that every pattern takes.
 *
 * @param options The options.
 * @throws {ConfigError} If one is out of range or of another kind; code `argument`.
 */
export function checkCommon(options: PatternOptions): void {
  if (options.budget !== undefined) checkNames("budget", options.budget, BUDGET_NAMES);
  if (options.retry !== undefined) checkNames("retry", options.retry, RETRY_NAMES);
  checkMethod("trace", options.trace, "write");
  checkMethod("signal", options.signal, "addEventListener");
  if (options.system !== undefined && typeof options.system !== "string") {
    throw new ConfigError("Cannot use option system: wanted a text", { code: "argument" });
  }
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
