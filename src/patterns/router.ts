/**
 * Which provider a question goes to.
 *
 * @module
 */
import { ConfigError, KitError, type LlmProvider } from "../llm/mod.ts";
import { checkNames, checkProvider, COMMON_NAMES, type PatternOptions } from "./options.ts";
import { runPattern } from "./run_pattern.ts";
import { stepContext } from "./step_context.ts";

/** A way that a question may go. */
export interface RouteRule<Context = undefined> {
  /** Its name, for traces. Unique in the router; `fallback` is taken. */
  readonly name: string;
  /** Whom to ask. */
  readonly provider: LlmProvider;
  /**
   * Says whether a question goes this way. Only the boolean `true` is a yes.
   *
   * @param prompt The question.
   * @param context What the caller knows beside it.
   */
  matches(prompt: string, context: Context | undefined): boolean;
}

/** Where a question goes. */
export interface Route {
  /** Whom to ask. */
  readonly provider: LlmProvider;
  /** By which rule; `fallback` if none matched. */
  readonly rule: string;
}

/** How a pattern is run by a router: what the router looks at, and what holds for the pattern. */
export interface RoutedRunOptions<Context = undefined> {
  /** What the rules see beside the prompt. Never reaches the pattern. */
  readonly context?: Context;
  /** Account, signal, trace and the like for the pattern. */
  readonly options?: PatternOptions;
}

/** A pattern to be run by a router: spread `options` into the pattern's own. */
export type RoutedPattern<T> = (
  provider: LlmProvider,
  prompt: string,
  options: PatternOptions,
) => Promise<T>;

/**
 * Chooses a provider for each question: the first rule that matches, else the fallback.
 *
 * @example
 * ```ts
 * import { consensus, Router } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const small = new MockProvider([], { model: "small" });
 * const large = new MockProvider(["QED"], { model: "large" });
 * const router = new Router([
 *   { name: "proofs", provider: large, matches: (prompt) => prompt.startsWith("Prove") },
 * ], small);
 * assertEquals(router.select("Say hello").rule, "fallback");
 * const { value } = await router.run(
 *   (provider, prompt, options) => consensus(provider, prompt, { ...options, numSamples: 1 }),
 *   "Prove it",
 * );
 * assertEquals(value, "QED");
 * ```
 */
export class Router<Context = undefined> {
  readonly #rules: readonly RouteRule<Context>[];
  readonly #fallback: LlmProvider;

  /**
   * Makes a router.
   *
   * @param rules In the order in which they are asked.
   * @param fallback Whom to ask when no rule matches.
   * @throws {ConfigError} Code `argument`, if two rules have one name, or the fallback is no provider.
   */
  constructor(rules: readonly RouteRule<Context>[], fallback: LlmProvider) {
    if (!Array.isArray(rules)) {
      throw new ConfigError("Cannot make a router: wanted a list of rules", { code: "argument" });
    }
    checkProvider(fallback);
    const names = new Set(["fallback", ...rules.map(({ name }) => name)]);
    if (names.size !== rules.length + 1) {
      throw new ConfigError(
        'Cannot make a router: the names of its rules must be different, and none "fallback"',
        { code: "argument" },
      );
    }
    this.#rules = [...rules];
    this.#fallback = fallback;
  }

  /**
   * Chooses.
   *
   * @param prompt The question.
   * @param context What the rules see beside it.
   * @returns Where it goes.
   * @throws {KitError} Code `routing`, if a rule throws.
   */
  select(prompt: string, context?: Context): Route {
    for (const rule of this.#rules) {
      if (asksRule(rule, prompt, context)) return { provider: rule.provider, rule: rule.name };
    }
    return { provider: this.#fallback, rule: "fallback" };
  }

  /**
   * Runs a pattern with the provider that its prompt goes to.
   *
   * @param pattern The pattern.
   * @param prompt The question.
   * @param options What the rules see, and what holds for the pattern.
   * @returns What the pattern gives.
   * @throws {KitError} What the pattern throws; `routing` if a rule throws.
   */
  async run<T>(
    pattern: RoutedPattern<T>,
    prompt: string,
    options: RoutedRunOptions<Context> = {},
  ): Promise<T> {
    const route = this.select(prompt, options.context);
    const whole = options.options ?? {};
    checkNames("a router", whole, COMMON_NAMES);
    return await runPattern("route", whole, async (run) => {
      run.point("route-select", { route: route.rule });
      const step = stepContext({ provider: route.provider, run, options: whole });
      return await pattern(step.provider, prompt, step.options);
    });
  }
}

function asksRule<Context>(
  rule: RouteRule<Context>,
  prompt: string,
  context: Context | undefined,
): boolean {
  try {
    return rule.matches(prompt, context) === true;
  } catch (error) {
    throw new KitError("routing", `Cannot choose a provider: rule "${rule.name}" failed`, {
      cause: error,
    });
  }
}
