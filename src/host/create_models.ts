/**
 * Makes the models of a configured provider: one adapter for each model name, all behind one limiter.
 *
 * @module
 */
import { ConfigError, createLimiter, type LlmProvider } from "../llm/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { Tier } from "../machine/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { HttpProviderOptions, OpenAiProviderOptions } from "../providers/mod.ts";
import { type ProviderConfig, TIERS } from "./config/config.ts";
import type { ModelsOutcome } from "./config/outcome.ts";
import type { Secrets } from "./config/secrets.ts";
import type { ModelSet } from "./models.ts";

/** Not literals where they are imported: a program asks endpoints of one protocol, seldom of both. */
const ANTHROPIC: string = "../providers/anthropic_provider.ts";
const OPENAI: string = "../providers/openai_provider.ts";

/** What models are made with. */
export interface CreateModelsOptions {
  /** Network and time. */
  readonly ports: Ports;
  /** Where keys are looked up. */
  readonly secrets: Secrets;
  /** Wraps every provider. */
  readonly wrap: ((provider: LlmProvider) => LlmProvider) | undefined;
}

/**
 * Makes the models of a provider. Makes no request.
 *
 * @param config The provider.
 * @param options Ports and keys.
 * @returns The models, or what keeps them from being had: a missing key, a URL or a parameter that cannot be used.
 */
export async function createModels(
  config: ProviderConfig,
  options: CreateModelsOptions,
): Promise<ModelsOutcome> {
  const key = config.keyVariable === undefined
    ? undefined
    : options.secrets.get(config.keyVariable);
  if (key === undefined && config.keyRequired) {
    const message =
      `The key of provider "${config.name}" is missing: set ${config.keyVariable} in the ` +
      'environment of Kit, or in the file ".env" in its config directory';
    return { kind: "problem", problem: { code: "key", message } };
  }
  const createAdapter = await adapterOf(config);
  try {
    const models = modelSet(config, { ...options, key, createAdapter });
    return { kind: "ready", models, warnings: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const message = `Cannot use provider "${config.name}": ${error.message}`;
    return { kind: "problem", problem: { code: "invalid", message } };
  }
}

/** Makes the adapter of one model. */
type CreateAdapter = (options: HttpProviderOptions) => LlmProvider;

/** Loads the adapter of a protocol, and not that of the other. */
async function adapterOf(config: ProviderConfig): Promise<CreateAdapter> {
  if (config.protocol === "anthropic") {
    const { createAnthropicProvider }: typeof import("../providers/anthropic_provider.ts") =
      await import(ANTHROPIC);
    return createAnthropicProvider;
  }
  const { createOpenAiProvider }: typeof import("../providers/openai_provider.ts") = await import(
    OPENAI
  );
  return (options) => createOpenAiProvider({ ...options, ...tokenLimit(config.tokenField) });
}

function modelSet(
  config: ProviderConfig,
  options: CreateModelsOptions & {
    readonly key: string | undefined;
    readonly createAdapter: CreateAdapter;
  },
): ModelSet {
  const byName = new Map<string, LlmProvider>();
  const common = commonOptions(config, options);
  const make = (model: string): LlmProvider => {
    const known = byName.get(model);
    if (known !== undefined) return known;
    const plain = options.createAdapter({ ...common, model });
    const provider = options.wrap === undefined ? plain : options.wrap(plain);
    byName.set(model, provider);
    return provider;
  };
  const tiers: Partial<Record<Tier, LlmProvider>> = {};
  const params: Partial<Record<Tier, JsonObject>> = {};
  for (const tier of TIERS) {
    tiers[tier] = make(config.tiers[tier]);
    const own = config.params[tier];
    if (own !== undefined) params[tier] = own;
  }
  return {
    name: config.name,
    scripted: false,
    tiers,
    params,
    ...(config.judge === undefined ? {} : { judge: make(config.judge) }),
  };
}

function commonOptions(
  config: ProviderConfig,
  { ports, key }: CreateModelsOptions & { readonly key: string | undefined },
): Omit<HttpProviderOptions, "model"> {
  const { concurrency, requestsPerSecond, burst } = config.limits;
  const limiter = createLimiter({
    clock: ports.clock,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(requestsPerSecond === undefined ? {} : { ratePerSecond: requestsPerSecond }),
    ...(burst === undefined ? {} : { capacity: burst }),
  });
  return {
    baseUrl: config.baseUrl,
    ports,
    limiter,
    ...(key === undefined ? {} : { apiKey: key }),
    ...(config.timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs }),
  };
}

function tokenLimit(
  field: string | undefined,
): Pick<OpenAiProviderOptions, "tokenLimitField"> {
  if (field === undefined) return {};
  if (field === "max_tokens" || field === "max_completion_tokens") {
    return { tokenLimitField: field };
  }
  throw new ConfigError(
    `the field of the output limit is "${field.slice(0, 40)}": write "max_tokens" or ` +
      '"max_completion_tokens"',
  );
}
