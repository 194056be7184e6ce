/**
 * Models behind {@link https://docs.anthropic.com/en/api/messages | Anthropic's Messages API}.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";
import {
  type CompleteOptions,
  DEFAULT_MAX_TOKENS,
  type Limiter,
  type LlmError,
  type LlmResponse,
  type Message,
  type Redactor,
  type StreamEvent,
} from "../llm/mod.ts";
import { anthropicBody, type AnthropicDialect } from "./anthropic_request.ts";
import {
  AnthropicAssembler,
  interpretAnthropic,
  readAnthropicAnswer,
} from "./anthropic_response.ts";
import { cleanKey } from "./endpoint.ts";
import { HttpEndpoint, type HttpProvider, type HttpProviderOptions } from "./http_endpoint.ts";
import { parseBody } from "./openai_response.ts";
import { errorInBody } from "./status_error.ts";

/** The version of the API that is spoken. */
export const ANTHROPIC_VERSION = "2023-06-01";

/** How {@linkcode createAnthropicProvider} makes a provider. */
export interface AnthropicProviderOptions extends HttpProviderOptions {
  /** What `thinking` is set to where a call asks for thinking; default `{"type": "adaptive"}`. */
  readonly thinking?: JsonObject;
}

/**
 * Makes a provider of Anthropic's Messages API. It makes no request yet.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const provider = createAnthropicProvider({
 *   baseUrl: "https://api.anthropic.com",
 *   model: "claude-sonnet-4-5",
 * });
 * assertEquals(provider.url, "https://api.anthropic.com/v1/messages");
 * ```
 *
 * @param options Where and how; the base URL is the origin, or ends in `/v1`.
 * @returns The provider; each `complete` is one request.
 * @throws {ConfigError} If the base URL, the key, the model or a header cannot be used.
 */
export function createAnthropicProvider(options: AnthropicProviderOptions): HttpProvider {
  return new AnthropicProvider(options);
}

class AnthropicProvider implements HttpProvider {
  readonly name = "anthropic";
  readonly supportsTools = true;
  readonly supportsReasoning = true;
  readonly #endpoint: HttpEndpoint;
  readonly #dialect: AnthropicDialect;

  constructor(options: AnthropicProviderOptions) {
    const apiKey = cleanKey(options.apiKey);
    this.#endpoint = new HttpEndpoint(options, {
      path: messagesPath(options.baseUrl),
      headers: {
        "anthropic-version": ANTHROPIC_VERSION,
        ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
      },
      apiKey,
    });
    this.#dialect = {
      model: this.#endpoint.model,
      defaultTemperature: options.defaultTemperature,
      defaultMaxTokens: options.defaultMaxTokens ?? DEFAULT_MAX_TOKENS,
      thinking: options.thinking ?? { type: "adaptive" },
    };
  }

  get model(): string {
    return this.#endpoint.model;
  }

  get url(): string {
    return this.#endpoint.shownUrl;
  }

  get limiter(): Limiter {
    return this.#endpoint.limiter;
  }

  get redact(): Redactor {
    return this.#endpoint.redact;
  }

  get requestsSent(): number {
    return this.#endpoint.requestsSent;
  }

  async complete(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): Promise<LlmResponse> {
    const sent = JSON.stringify(anthropicBody(messages, options, this.#dialect));
    using exchange = await this.#endpoint.open(sent, { ...options, accept: "application/json" });
    const fail = (problem: string): LlmError => exchange.malformed(problem);
    const body = parseBody(await exchange.text(), fail);
    this.#checkError(body);
    return interpretAnthropic(readAnthropicAnswer(body, fail));
  }

  async *stream(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): AsyncGenerator<StreamEvent, void, void> {
    const body = anthropicBody(messages, { ...options, streamed: true }, this.#dialect);
    const accept = "text/event-stream";
    using exchange = await this.#endpoint.open(JSON.stringify(body), { ...options, accept });
    const fail = (problem: string): LlmError => exchange.malformed(problem);
    const assembler = new AnthropicAssembler();
    for await (const { data } of this.#endpoint.events(exchange)) {
      const event = parseBody(data, fail);
      this.#checkError(event);
      const { text, reasoning } = assembler.push(event);
      if (reasoning !== "") yield { type: "reasoning", text: reasoning };
      if (text !== "") yield { type: "text", text };
    }
    if (!assembler.finished) throw fail("the stream ended early");
    yield { type: "done", response: interpretAnthropic(assembler.answer()) };
  }

  toString(): string {
    return this.#endpoint.describe("AnthropicProvider");
  }

  toJSON(): JsonObject {
    return { name: this.name, model: this.model, url: this.url };
  }

  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  #checkError(body: JsonObject): void {
    if (member(body, "type") === "error" || isJsonObject(member(body, "error"))) {
      throw errorInBody(body, { url: this.url, redact: this.#endpoint.redact });
    }
  }
}

function messagesPath(baseUrl: string): string {
  const base = baseUrl.trim().replace(/[?#].*$/s, "").replace(/\/+$/, "");
  return /\/v1(?:\/messages)?$/.test(base) ? "/messages" : "/v1/messages";
}
