/**
 * Models behind an endpoint of chat completions, which most vendors and local servers offer.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";
import {
  type CompleteOptions,
  copyError,
  type Limiter,
  LlmError,
  type LlmResponse,
  type Message,
  type Redactor,
  type StreamEvent,
} from "../llm/mod.ts";
import { cleanKey } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { HttpEndpoint, type HttpProvider, type HttpProviderOptions } from "./http_endpoint.ts";
import { ChunkAssembler } from "./openai_chunks.ts";
import { checkExtra, openAiBody, type OpenAiDialect } from "./openai_request.ts";
import { interpret, parseBody, type RawAnswer, readAnswer } from "./openai_response.ts";
import { type Adjustments, adjustTo } from "./refused_parameters.ts";
import { EventDecoder } from "./server_sent_events.ts";
import { errorInBody } from "./status_error.ts";
import { ThinkingFilter } from "./thinking_filter.ts";
import { promptCutWarning } from "./token_usage.ts";

/** How {@linkcode createOpenAiProvider} makes a provider. */
export interface OpenAiProviderOptions extends HttpProviderOptions {
  /** The field of the limit of tokens; default `max_tokens`. */
  readonly tokenLimitField?: "max_tokens" | "max_completion_tokens";
  /** What is sent along where a call asks for thinking, such as `{"reasoning_effort": "medium"}`; absent: no switch. */
  readonly reasoningParameters?: JsonObject;
  /** Whether the endpoint takes tools; default true. */
  readonly supportsTools?: boolean;
}

/**
 * Makes a provider of chat completions. It makes no request yet.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const provider = createOpenAiProvider({ baseUrl: "http://localhost:11434/v1", model: "gemma3" });
 * assertEquals(provider.url, "http://localhost:11434/v1/chat/completions");
 * assertEquals(provider.requestsSent, 0);
 * ```
 *
 * @param options Where and how.
 * @returns The provider. Each `complete` is one request; `callModel` repeats it where that helps. Optional parameters that
 * the endpoint refuses are remembered and left out from then on.
 * @throws {ConfigError} If the base URL, the key, the model, a header or a reasoning parameter cannot be used.
 */
export function createOpenAiProvider(options: OpenAiProviderOptions): HttpProvider {
  return new OpenAiProvider(options);
}

const PATH = "/chat/completions";
const MISTRAL_HOST = /(?:^|\.)mistral\.ai$/;

class OpenAiProvider implements HttpProvider {
  readonly name = "openai";
  readonly supportsTools: boolean;
  readonly supportsReasoning: boolean;
  readonly supportsResponseFormat = true;
  readonly #endpoint: HttpEndpoint;
  readonly #options: OpenAiProviderOptions;
  readonly #adjustments: Adjustments;

  constructor(options: OpenAiProviderOptions) {
    const apiKey = cleanKey(options.apiKey);
    checkExtra(options.reasoningParameters, "reasoningParameters");
    this.#endpoint = new HttpEndpoint(options, {
      path: PATH,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      apiKey,
    });
    this.#options = options;
    this.supportsTools = options.supportsTools ?? true;
    this.supportsReasoning = options.reasoningParameters !== undefined;
    this.#adjustments = {
      dropped: new Set(),
      tokenLimitField: options.tokenLimitField ?? "max_tokens",
      replayReasoning: false,
      shortToolCallIds: MISTRAL_HOST.test(this.#endpoint.url.hostname),
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
    const body = openAiBody(messages, options, this.#dialect());
    const sent = JSON.stringify(body);
    using exchange = await this.#open(body, { sent, options, accept: "application/json" });
    const fail = (problem: string): LlmError => exchange.malformed(problem);
    const text = await exchange.text();
    const raw = isEventStream(exchange.response, text)
      ? this.#assembled(text, fail)
      : this.#read(text, fail);
    return this.#interpret(raw, { sent, options });
  }

  async *stream(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): AsyncGenerator<StreamEvent, void, void> {
    const body = openAiBody(messages, { ...options, streamed: true }, this.#dialect());
    const sent = JSON.stringify(body);
    using exchange = await this.#open(body, { sent, options, accept: "text/event-stream" });
    const fail = (problem: string): LlmError => exchange.malformed(problem);
    if (/json/i.test(exchange.response.headers.get("content-type") ?? "")) {
      const response = this.#interpret(this.#read(await exchange.text(), fail), { sent, options });
      if (response.content !== "") yield { type: "text", text: response.content };
      yield { type: "done", response };
      return;
    }
    const assembler = new ChunkAssembler();
    const filter = new ThinkingFilter();
    let done = false;
    for await (const { data } of this.#endpoint.events(exchange)) {
      done = data === END_OF_STREAM;
      if (done) break;
      const delta = this.#push(assembler, { data, fail });
      if (delta.reasoning !== "") yield { type: "reasoning", text: delta.reasoning };
      if (delta.text !== "") yield* filter.push(delta.text);
    }
    yield* filter.end();
    if (!done && !assembler.finished) throw fail("the stream ended early");
    yield { type: "done", response: this.#interpret(assembler.answer(), { sent, options }) };
  }

  toString(): string {
    return this.#endpoint.describe("OpenAiProvider");
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

  async #open(
    body: JsonObject,
    call: { readonly sent: string; readonly options: CompleteOptions; readonly accept: string },
  ): Promise<Exchange> {
    try {
      return await this.#endpoint.open(call.sent, { ...call.options, accept: call.accept });
    } catch (error) {
      if (!(error instanceof LlmError)) throw error;
      const adjusted = adjustTo(error, body, this.#adjustments);
      throw adjusted === undefined ? error : copyError(error, { details: { adjusted } });
    }
  }

  #dialect(): OpenAiDialect {
    return {
      model: this.model,
      defaultTemperature: this.#options.defaultTemperature,
      defaultMaxTokens: this.#options.defaultMaxTokens,
      reasoningParameters: this.#options.reasoningParameters,
      ...this.#adjustments,
    };
  }

  #read(text: string, fail: (problem: string) => Error): RawAnswer {
    const body = parseBody(text, fail);
    this.#checkError(body);
    return readAnswer(body, fail);
  }

  #assembled(text: string, fail: (problem: string) => Error): RawAnswer {
    const decoder = new EventDecoder();
    const assembler = new ChunkAssembler();
    let done = false;
    for (const { data } of [...decoder.push(text), ...decoder.end()]) {
      if (data === END_OF_STREAM) done = true;
      else this.#push(assembler, { data, fail });
    }
    if (!done && !assembler.finished) throw fail("the stream ended early");
    return assembler.answer();
  }

  #push(
    assembler: ChunkAssembler,
    chunk: { readonly data: string; readonly fail: (problem: string) => Error },
  ): ReturnType<ChunkAssembler["push"]> {
    const body = parseBody(chunk.data, chunk.fail);
    this.#checkError(body);
    return assembler.push(body, chunk.fail);
  }

  #checkError(body: JsonObject): void {
    const error = member(body, "error");
    const isError = isJsonObject(error)
      ? Object.hasOwn(error, "message") || Object.hasOwn(error, "code")
      : typeof error === "string" && error !== "";
    if (isError) throw errorInBody(body, { url: this.url, redact: this.#endpoint.redact });
  }

  #interpret(
    raw: RawAnswer,
    call: { readonly sent: string; readonly options: CompleteOptions },
  ): LlmResponse {
    const cut = promptCutWarning(call.sent.length, raw.usage);
    const dropped = [...this.#adjustments.dropped].map((field) =>
      `The endpoint refuses "${field}": it is not sent any more`
    );
    return interpret(raw, {
      offered: (call.options.tools ?? []).map(({ name }) => name),
      warnings: cut === undefined ? dropped : [...dropped, cut],
    });
  }
}

const END_OF_STREAM = "[DONE]";
const SNIFFED_LENGTH = 200;

function isEventStream(response: Response, text: string): boolean {
  return /event-stream/i.test(response.headers.get("content-type") ?? "") ||
    /^\s*(?:data:|event:|: )/.test(text.slice(0, SNIFFED_LENGTH));
}
