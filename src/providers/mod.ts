/**
 * LLM endpoints, over the Fetch port.
 *
 * @module
 */
export {
  ANTHROPIC_VERSION,
  type AnthropicProviderOptions,
  createAnthropicProvider,
} from "./anthropic_provider.ts";
export { createFailoverProvider, type MemberOptions } from "./failover_provider.ts";
export {
  DEFAULT_IDLE_TIMEOUT_MS,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_TIMEOUT_MS,
  type HttpProvider,
  type HttpProviderOptions,
} from "./http_endpoint.ts";
export { createOpenAiProvider, type OpenAiProviderOptions } from "./openai_provider.ts";
export {
  createRouterProvider,
  type ProviderRoute,
  type RouterProviderOptions,
} from "./router_provider.ts";
export {
  createScriptedProvider,
  type ProviderScript,
  SCRIPTED_WARNING,
  type ScriptedProviderOptions,
} from "./scripted_provider.ts";
