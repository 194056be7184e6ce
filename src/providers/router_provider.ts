/**
 * Several providers behind one: each request goes to the one that suits it.
 *
 * @module
 */
import {
  type CompleteOptions,
  ConfigError,
  DEFAULT_MAX_TOKENS,
  estimateCost,
  estimateInputTokens,
  type LlmProvider,
  type Message,
  type PriceTable,
} from "../llm/mod.ts";
import { type MemberOptions, memberProvider } from "./failover_provider.ts";

/** A provider and what it is for. */
export interface ProviderRoute {
  /** The provider. */
  readonly provider: LlmProvider;
  /** Whether it takes a request; absent: every one. What it throws counts as no. */
  readonly accepts?: (messages: readonly Message[], options: CompleteOptions) => boolean;
}

/** How {@linkcode createRouterProvider} chooses. */
export interface RouterProviderOptions extends MemberOptions {
  /** Which of the routes that take a request is asked: the first (default), or the cheapest by `prices`. */
  readonly prefer?: "first" | "cheapest";
  /** Prices for `cheapest`; a route whose price is unknown comes after those with one. */
  readonly prices?: PriceTable;
}

/**
 * Makes a provider that chooses among others for each request; where the chosen one fails in passing, the next best is
 * asked.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { createPriceTable, createScriptedProvider } from "@kit/mcp";
 *
 * const model = (name: string) =>
 *   createScriptedProvider({ model: name, script: { produce: [`from ${name}`] } });
 * const provider = createRouterProvider([{ provider: model("large") }, { provider: model("small") }], {
 *   prefer: "cheapest",
 *   prices: createPriceTable({
 *     large: { inputRate: 1e-5, outputRate: 1e-5 },
 *     small: { inputRate: 1e-7, outputRate: 1e-7 },
 *   }),
 * });
 * const { content } = await provider.complete([{ role: "user", content: "Hello" }]);
 * assertEquals(content, "from small");
 * ```
 *
 * @param routes The providers, at least one.
 * @param options How to choose.
 * @returns The provider.
 * @throws {ConfigError} If there is no route, or `cheapest` is wanted without prices. When asked: if no route takes the
 * request.
 */
export function createRouterProvider(
  routes: readonly ProviderRoute[],
  options: RouterProviderOptions = {},
): LlmProvider {
  if (routes.length === 0) throw new ConfigError("Cannot route: there is no provider");
  if (options.prefer === "cheapest" && options.prices === undefined) {
    throw new ConfigError("Cannot route to the cheapest provider: there are no prices");
  }
  const order = (
    messages: readonly Message[],
    request: CompleteOptions,
  ): readonly LlmProvider[] => {
    const fitting = routes.filter((route) => takes(route, { messages, request }));
    if (fitting.length === 0) {
      throw new ConfigError("Cannot route the request: no provider takes it", { code: "argument" });
    }
    const providers = fitting.map((route) => route.provider);
    const { prices } = options;
    return options.prefer === "cheapest" && prices !== undefined
      ? byCost(providers, { messages, request, prices })
      : providers;
  };
  const members = routes.map((route) => route.provider);
  return memberProvider(members, { ...options, name: "router", capability: "some", order });
}

function takes(
  route: ProviderRoute,
  asked: { readonly messages: readonly Message[]; readonly request: CompleteOptions },
): boolean {
  const { provider } = route;
  const { messages, request } = asked;
  if ((request.tools ?? []).length > 0 && provider.supportsTools !== true) return false;
  try {
    return route.accepts === undefined || route.accepts(messages, request) === true;
  } catch {
    return false;
  }
}

function byCost(
  providers: readonly LlmProvider[],
  asked: {
    readonly messages: readonly Message[];
    readonly request: CompleteOptions;
    readonly prices: PriceTable;
  },
): readonly LlmProvider[] {
  const tokens = {
    inputTokens: estimateInputTokens(asked.messages, asked.request),
    outputTokens: asked.request.maxTokens ?? DEFAULT_MAX_TOKENS,
  };
  const cost = ({ model }: LlmProvider): number =>
    estimateCost(tokens, model === undefined ? undefined : asked.prices.ratesOf(model)) ?? Infinity;
  return [...providers].sort((left, right) => {
    const [one, other] = [cost(left), cost(right)];
    return one === other ? 0 : one - other;
  });
}
