/**
 * What every provider over HTTP has: an address, headers, secrets, bounds, and the count of requests.
 *
 * @module
 */
import {
  type CompleteOptions,
  ConfigError,
  createLimiter,
  type Limiter,
  type LlmProvider,
  type Message,
  type Redactor,
  type StreamEvent,
} from "../llm/mod.ts";
import { ambientPorts, type Ports } from "../ports/mod.ts";
import { checkHeaders, endpointRedactor, endpointUrl, showUrl } from "./endpoint.ts";
import { Exchange, type ExchangePorts } from "./exchange.ts";
import { EventDecoder, type ServerSentEvent } from "./server_sent_events.ts";

/** Most milliseconds of an attempt, body included. */
export const DEFAULT_TIMEOUT_MS = 120_000;

/** Most milliseconds between two parts of a stream. */
export const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/** Most bytes of an answer: 16 MiB. */
export const DEFAULT_MAX_RESPONSE_BYTES = 16_777_216;

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

/** What one vendor adds. */
export interface HttpFlavour {
  /** The path of its calls. */
  readonly path: string;
  /** Its headers, that of the key included; configured ones come first. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key, for masking. */
  readonly apiKey: string | undefined;
}

/** An endpoint and how it is spoken to. */
export class HttpEndpoint {
  /** Where calls go. */
  readonly url: URL;
  /** The same as it may be shown. */
  readonly shownUrl: string;
  /** The model's name. */
  readonly model: string;
  /** Masks this endpoint's secrets. */
  readonly redact: Redactor;
  /** Bounds for all callers. */
  readonly limiter: Limiter;
  /** Requests that have left. */
  requestsSent = 0;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: HttpProviderOptions;

  /**
   * Checks what is configured.
   *
   * @throws {ConfigError} If it cannot be used.
   */
  constructor(options: HttpProviderOptions, flavour: HttpFlavour) {
    const headers = options.headers ?? {};
    this.model = checkModel(options.model);
    this.url = endpointUrl({
      baseUrl: options.baseUrl,
      path: flavour.path,
      query: options.query ?? {},
    });
    this.shownUrl = showUrl(this.url);
    checkHeaders(headers);
    checkBounds(options);
    this.#headers = {
      "content-type": "application/json",
      ...flavour.headers,
      ...lowerCaseKeys(headers),
    };
    this.redact = endpointRedactor({ apiKey: flavour.apiKey, headers, url: this.url });
    this.limiter = options.limiter ??
      createLimiter(options.ports === undefined ? {} : { clock: options.ports.clock });
    this.#options = options;
  }

  /**
   * Sends one request.
   *
   * @param body JSON text.
   * @param options Of the call.
   * @returns The answer, its body still to be read.
   */
  open(body: string, options: CompleteOptions & { readonly accept: string }): Promise<Exchange> {
    const key = options.idempotencyKey;
    return Exchange.open({
      url: this.url,
      headers: {
        accept: options.accept,
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...this.#headers,
      },
      body,
      timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxResponseBytes: this.#options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      signal: options.signal,
      redact: this.redact,
      onSent: () => this.requestsSent += 1,
    }, this.#ports());
  }

  /**
   * Reads the events of an answer as they come.
   *
   * @param exchange The answer.
   * @throws {LlmError} `timeout` if nothing comes for too long.
   */
  async *events(exchange: Exchange): AsyncGenerator<ServerSentEvent> {
    const { clock } = this.#ports();
    const idleMs = this.#options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS;
    const decoder = new EventDecoder();
    const utf8 = new TextDecoder("utf-8", { fatal: true });
    while (true) {
      using timer = clock.deadline(idleMs);
      const chunk = await exchange.chunk({ idleTimer: timer.signal });
      if (chunk === undefined) break;
      yield* decoder.push(decodeChunk(chunk, { utf8, exchange }));
    }
    yield* decoder.end();
  }

  /** A provider's text form: the key is never in it. */
  describe(kind: string): string {
    return `${kind}(${this.model} at ${this.shownUrl}, key ***)`;
  }

  #ports(): ExchangePorts {
    return this.#options.ports ?? ambientPorts();
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

function checkModel(model: string): string {
  const name = model.trim();
  if (name === "") throw new ConfigError("The model's name is empty");
  return name;
}

function checkBounds(options: HttpProviderOptions): void {
  for (const field of ["timeoutMs", "idleTimeoutMs", "maxResponseBytes"] as const) {
    const value = options[field];
    if (value !== undefined && !(value > 0 && value <= MAX_TIMEOUT_MS)) {
      throw new ConfigError(`Cannot use ${field} ${value}: wanted above 0 and at most 2^31-1`);
    }
  }
}

/** By lower-case names, so that a configured header replaces ours. */
function lowerCaseKeys(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
