/**
 * Models behind an endpoint of chat completions, which most vendors and local servers offer.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";
import {
  type CompleteOptions,
  ConfigError,
  copyError,
  createLimiter,
  type Limiter,
  LlmError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  type Redactor,
  type StreamEvent,
} from "../llm/mod.ts";
import { ambientPorts, type Ports } from "../ports/mod.ts";
import { checkHeaders, cleanKey, endpointRedactor, endpointUrl, showUrl } from "./endpoint.ts";
import { Exchange, type ExchangePorts } from "./exchange.ts";
import { ChunkAssembler } from "./openai_chunks.ts";
import { openAiBody, type OpenAiDialect } from "./openai_request.ts";
import { interpret, parseBody, type RawAnswer, readAnswer } from "./openai_response.ts";
import { type Adjustments, adjustTo } from "./refused_parameters.ts";
import { EventDecoder, type ServerSentEvent } from "./server_sent_events.ts";
import { errorInBody } from "./status_error.ts";
import { ThinkingFilter } from "./thinking_filter.ts";
import { promptCutWarning } from "./token_usage.ts";

/** Most milliseconds of an attempt, body included. */
export const DEFAULT_TIMEOUT_MS = 120_000;

/** Most milliseconds between two parts of a stream. */
export const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/** Most bytes of an answer. */
export const DEFAULT_MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The longest time-out that a timer can hold, 2^31-1 ms. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** How an HTTP provider is made, whatever the vendor. */
export interface HttpProviderOptions {
  /** The base URL, such as `https://api.openai.com/v1`. A query string in it is kept. */
  readonly baseUrl: string;
  /** The model's name, not empty. */
  readonly model: string;
  /** The key; absent or blank sends none. */
  readonly apiKey?: string;
  /** The temperature where a call gives none; absent leaves the field out. */
  readonly defaultTemperature?: number;
  /** The limit of tokens where a call gives none. */
  readonly defaultMaxTokens?: number;
  /** Most milliseconds of an attempt, body included; default 120000. */
  readonly timeoutMs?: number;
  /** Most milliseconds between two parts of a stream; default 30000. */
  readonly idleTimeoutMs?: number;
  /** Further headers, such as a gateway wants them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further query parameters. */
  readonly query?: Readonly<Record<string, string>>;
  /** Most bytes of an answer; default 16 MiB. */
  readonly maxResponseBytes?: number;
  /** Bounds for all callers; default none, until the endpoint asks to slow down. */
  readonly limiter?: Limiter;
  /** Network and time; default the ambient ports. */
  readonly ports?: Pick<Ports, "fetch" | "clock">;
}

/** How {@linkcode createOpenAiProvider} makes a provider. */
export interface OpenAiProviderOptions extends HttpProviderOptions {
  /** The field of the limit of tokens; default `max_tokens`. */
  readonly tokenLimitField?: "max_tokens" | "max_completion_tokens";
  /** What is sent along where a call asks for thinking, such as `{"reasoning_effort": "medium"}`; absent: no switch. */
  readonly reasoningParameters?: JsonObject;
  /** Whether the endpoint takes tools; default true. */
  readonly supportsTools?: boolean;
}

/** A provider that speaks HTTP. */
export interface HttpProvider extends LlmProvider {
  /** The model's name. */
  readonly model: string;
  /** Where it is, without query: for logs. */
  readonly url: string;
  /** Requests that have left for the endpoint. */
  readonly requestsSent: number;
  /** As `complete`, in parts. */
  stream(messages: readonly Message[], options?: CompleteOptions): AsyncIterable<StreamEvent>;
}

/**
 * Makes a provider of chat completions. It makes no request yet.
 *
 * @param options Where and how.
 * @returns The provider. Each `complete` is one request; `callModel` repeats it where that helps. Optional parameters that the
 * endpoint refuses are remembered and left out from then on.
 * @throws {ConfigError} If the base URL, the key, the model or a header cannot be used.
 */
export function createOpenAiProvider(options: OpenAiProviderOptions): HttpProvider {
  return new OpenAiProvider(options);
}

const PATH = "/chat/completions";
const MISTRAL_HOST = /(?:^|\.)mistral\.ai$/;

class OpenAiProvider implements HttpProvider {
  readonly name = "openai";
  readonly model: string;
  readonly url: string;
  readonly supportsTools: boolean;
  readonly supportsReasoning: boolean;
  readonly supportsResponseFormat = true;
  readonly limiter: Limiter;
  requestsSent = 0;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: OpenAiProviderOptions;
  readonly #redact: Redactor;
  readonly #adjustments: Adjustments;

  constructor(options: OpenAiProviderOptions) {
    const apiKey = cleanKey(options.apiKey);
    this.model = checkModel(options.model);
    this.#url = endpointUrl({ baseUrl: options.baseUrl, path: PATH, query: options.query ?? {} });
    this.url = showUrl(this.#url);
    checkHeaders(options.headers ?? {});
    checkTimeouts(options);
    this.#headers = {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...lowerCaseKeys(options.headers ?? {}),
    };
    this.#redact = endpointRedactor({ apiKey, headers: options.headers ?? {}, url: this.#url });
    this.#options = options;
    this.supportsTools = options.supportsTools ?? true;
    this.supportsReasoning = options.reasoningParameters !== undefined;
    this.limiter = options.limiter ??
      createLimiter(options.ports === undefined ? {} : { clock: options.ports.clock });
    this.#adjustments = {
      dropped: new Set(),
      tokenLimitField: options.tokenLimitField ?? "max_tokens",
      replayReasoning: false,
      shortToolCallIds: MISTRAL_HOST.test(this.#url.hostname),
    };
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
      const raw = this.#read(await exchange.text(), fail);
      yield { type: "done", response: this.#interpret(raw, { sent, options }) };
      return;
    }
    const assembler = new ChunkAssembler();
    const filter = new ThinkingFilter();
    let done = false;
    for await (const { data } of readEvents(exchange, this.#idlePorts())) {
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
    return `OpenAiProvider(${this.model} at ${this.url}, key ***)`;
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
    const { sent, options, accept } = call;
    const key = options.idempotencyKey;
    try {
      return await Exchange.open({
        url: this.#url,
        headers: {
          "content-type": "application/json",
          accept,
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...this.#headers,
        },
        body: sent,
        timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxResponseBytes: this.#options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
        signal: options.signal,
        redact: this.#redact,
        onSent: () => this.requestsSent += 1,
      }, this.#ports());
    } catch (error) {
      if (!(error instanceof LlmError)) throw error;
      const adjusted = adjustTo(error, body, this.#adjustments);
      throw adjusted === undefined ? error : copyError(error, { details: { adjusted } });
    }
  }

  #ports(): ExchangePorts {
    return this.#options.ports ?? ambientPorts();
  }

  #idlePorts(): { readonly clock: ExchangePorts["clock"]; readonly idleTimeoutMs: number } {
    const idleTimeoutMs = this.#options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS;
    return { clock: this.#ports().clock, idleTimeoutMs };
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
    if (isError) throw errorInBody(body, { url: this.url, redact: this.#redact });
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

function isEventStream(response: Response, text: string): boolean {
  return /event-stream/i.test(response.headers.get("content-type") ?? "") ||
    /^\s*(?:data:|event:|: )/.test(text.slice(0, 200));
}

/** The events of an answer as they come. */
export async function* readEvents(
  exchange: Exchange,
  options: { readonly clock: ExchangePorts["clock"]; readonly idleTimeoutMs: number },
): AsyncGenerator<ServerSentEvent> {
  const decoder = new EventDecoder();
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  while (true) {
    using timer = options.clock.deadline(options.idleTimeoutMs);
    const chunk = await exchange.chunk({ idleTimer: timer.signal });
    if (chunk === undefined) {
      yield* decoder.end();
      return;
    }
    yield* decoder.push(decodeChunk(chunk, { utf8, exchange }));
  }
}

function decodeChunk(
  chunk: Uint8Array<ArrayBuffer>,
  { utf8, exchange }: { readonly utf8: TextDecoder; readonly exchange: Exchange },
): string {
  try {
    return utf8.decode(chunk, { stream: true });
  } catch {
    throw exchange.malformed("it is not UTF-8");
  }
}

/** Checks the name of a model. */
export function checkModel(model: string): string {
  const name = model.trim();
  if (name === "") throw new ConfigError("The model's name is empty");
  return name;
}

/** Checks the bounds of an HTTP provider. */
export function checkTimeouts(options: HttpProviderOptions): void {
  for (const field of ["timeoutMs", "idleTimeoutMs", "maxResponseBytes"] as const) {
    const value = options[field];
    if (value !== undefined && !(value > 0 && value <= MAX_TIMEOUT_MS)) {
      throw new ConfigError(`Cannot use ${field} ${value}: wanted above 0 and at most 2^31-1`);
    }
  }
}

/** Headers by lower-case names, so that a configured one replaces ours. */
export function lowerCaseKeys(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
