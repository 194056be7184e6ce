/**
 * LLM endpoints, over the Fetch port.
 *
 * @module
 */
export {
  createOpenAiProvider,
  DEFAULT_IDLE_TIMEOUT_MS,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_TIMEOUT_MS,
  type HttpProvider,
  type HttpProviderOptions,
  type OpenAiProviderOptions,
} from "./openai_provider.ts";
