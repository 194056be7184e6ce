/**
 * One request and its answer over the Fetch port: one attempt, bounded in time and size.
 *
 * @module
 */
import { type JsonValue, MAX_JSON_DEPTH } from "../json/mod.ts";
import {
  AbortedError,
  classifyFetchError,
  cutText,
  type KitError,
  type LinkedSignal,
  linkSignals,
  LlmError,
  parseRetryAfter,
  type Redactor,
} from "../llm/mod.ts";
import type { Ports } from "../ports/mod.ts";
import { showUrl } from "./endpoint.ts";
import { MAX_ERROR_TEXT, refusalError } from "./status_error.ts";

/** The most of a refusal's body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;

/** How much of a body is read at once. */
const READ_BYTES = 8_192;

/** A request to be sent. */
export interface ExchangeRequest {
  /** Where to. */
  readonly url: URL;
  /** `POST` unless told otherwise. */
  readonly method?: "GET" | "POST";
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text to send; none with `GET`. */
  readonly body?: string;
  /** Most milliseconds from sending to the last byte. */
  readonly timeoutMs: number;
  /** Most bytes of the answer. */
  readonly maxResponseBytes: number;
  /** Ends it at once. */
  readonly signal?: AbortSignal | undefined;
  /** Masks secrets. */
  readonly redact: Redactor;
  /** Told when the request leaves. */
  readonly onSent?: () => void;
}

/** The ports that are needed. */
export type ExchangePorts = Pick<Ports, "fetch" | "clock">;

/** An answer with status 200 to 299 whose body is still to be read. Its owner disposes of it. */
export class Exchange implements Disposable {
  /** The response. */
  readonly response: Response;
  readonly #request: ExchangeRequest;
  readonly #scope: DisposableStack;
  readonly #link: LinkedSignal;
  readonly #timer: AbortSignal;
  #reader: ByteReader | undefined;
  #bytes = 0;

  private constructor(
    response: Response,
    request: ExchangeRequest,
    held: {
      readonly scope: DisposableStack;
      readonly link: LinkedSignal;
      readonly timer: AbortSignal;
    },
  ) {
    this.response = response;
    this.#request = request;
    this.#scope = held.scope;
    this.#link = held.link;
    this.#timer = held.timer;
  }

  /**
   * Sends a request.
   *
   * @param request The request.
   * @param ports The ports.
   * @returns The answer, if its status is 200 to 299.
   * @throws {LlmError} For every other status, and for what goes wrong on the way.
   * @throws {AbortedError} If the caller's signal fires.
   */
  static async open(request: ExchangeRequest, ports: ExchangePorts): Promise<Exchange> {
    if (request.signal?.aborted) {
      throw new AbortedError(undefined, {
        cause: request.signal.reason,
        details: { sent: false },
      });
    }
    using scope = new DisposableStack();
    const timer = scope.use(ports.clock.deadline(request.timeoutMs)).signal;
    const link = scope.use(linkSignals([request.signal, timer]));
    let response: Response;
    try {
      // A text or bytes would be sent again by the runtime, without a word, when a pooled connection has died.
      request.onSent?.();
      response = await ports.fetch(request.url, {
        method: request.method ?? "POST",
        headers: request.headers,
        redirect: "manual",
        signal: link.signal,
        ...(request.body === undefined ? {} : { body: new Blob([request.body]) }),
      });
    } catch (thrown) {
      throw explain(thrown, { request, timer });
    }
    const exchange = new Exchange(response, request, { scope: scope.move(), link, timer });
    if (response.status >= 200 && response.status <= 299) return exchange;
    using _ending = exchange;
    throw await exchange.#refused(ports.clock.now());
  }

  /**
   * Reads the whole body as text.
   *
   * @throws {LlmError} `bad_response` if it is too large or not UTF-8; `timeout`, `network`.
   */
  async text(): Promise<string> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    while (true) {
      const chunk = await this.chunk();
      if (chunk === undefined) break;
      chunks.push(chunk);
    }
    return this.#decode(new Uint8Array(await new Blob(chunks).arrayBuffer()));
  }

  /**
   * Reads the next part of the body.
   *
   * @param options `idleTimer`: fires when the part takes too long.
   * @returns The part, or `undefined` at the end.
   */
  async chunk(
    options: { readonly idleTimer?: AbortSignal } = {},
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { body } = this.response;
    if (body === null) return undefined;
    this.#reader ??= openReader(body);
    const { idleTimer } = options;
    const idle = (): void => this.#link.abort(idleTimer?.reason);
    idleTimer?.addEventListener("abort", idle, { once: true });
    try {
      const { done, value } = await this.#reader.read();
      if (done || value === undefined) return undefined;
      this.#bytes += value.byteLength;
      if (this.#bytes > this.#request.maxResponseBytes) {
        throw this.malformed(`it has more than ${this.#request.maxResponseBytes} bytes`);
      }
      return new Uint8Array(value);
    } catch (thrown) {
      throw explain(thrown, { request: this.#request, timer: this.#timer, idle: idleTimer });
    } finally {
      idleTimer?.removeEventListener("abort", idle);
    }
  }

  /** The error of an answer that cannot be read. */
  malformed(problem: string): LlmError {
    const url = showUrl(this.#request.url);
    return new LlmError("bad_response", `Cannot read the answer of ${url}: ${problem}`, {
      retryable: true,
      details: { url },
    });
  }

  /** Ends the request, wherever it is, and lets go of its timer. */
  [Symbol.dispose](): void {
    const body = this.#reader ?? this.response.body;
    body?.cancel().then(undefined, () => {});
    this.#link.abort(OVER);
    this.#scope.dispose();
  }

  #decode(bytes: Uint8Array<ArrayBuffer>): string {
    if (bytes[0] === GZIP[0] && bytes[1] === GZIP[1]) {
      throw this.malformed("the body is compressed (gzip), but its headers do not say so");
    }
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      throw this.malformed("it is not UTF-8");
    }
  }

  async #refused(now: number): Promise<KitError> {
    const { status, headers } = this.response;
    const { redact } = this.#request;
    const url = showUrl(this.#request.url);
    if (status >= 300 && status <= 399) return redirectError(this.response, this.#request);
    const text = await this.#errorText();
    if (this.#request.signal?.aborted) {
      return new AbortedError(undefined, { cause: this.#request.signal.reason });
    }
    const retryAfterMs = parseRetryAfter(headers, now);
    return refusalError({ status, body: parseLoosely(text), retryAfterMs, url, redact });
  }

  /** As much of a refusal's body as comes: the status alone says enough. */
  async #errorText(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      while (text.length < MAX_ERROR_BYTES) {
        const chunk = await this.chunk();
        if (chunk === undefined) break;
        text += decoder.decode(chunk, { stream: true });
      }
    } catch {
      // the status is known; what is left of the body would only explain it
    }
    return text.slice(0, MAX_ERROR_BYTES);
  }
}

/** What is asked of a reader of the body. */
interface ByteReader {
  /** Reads the next part. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Lets go of the body. */
  cancel(): Promise<void>;
}

/**
 * Reads into small buffers of ours where the body is a stream of bytes, as those of the runtime are: its own buffers
 * have 64 KiB, and answers of models a few.
 */
function openReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): ByteReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
  return {
    read: () => reader.read(new Uint8Array(READ_BYTES)),
    cancel: () => reader.cancel(),
  };
}

/** Made once: a reason of its own for each request would record a stack that nobody reads. */
const OVER = new DOMException("The exchange is over", "AbortError");

const GZIP = [0x1f, 0x8b] as const;

function redirectError(response: Response, { url: from, redact }: ExchangeRequest): LlmError {
  const location = response.headers.get("location");
  const target = location !== null && URL.canParse(location, from.href)
    ? new URL(location, from.href)
    : undefined;
  // its path is a text of the endpoint, which may hold what it was sent
  const where = target === undefined ? "elsewhere" : `to ${redact(showUrl(target))}`;
  return new LlmError(
    "redirect",
    `The endpoint ${
      showUrl(from)
    } redirects ${where}; redirects are not followed: set the base URL to where it leads, if you trust it`,
    { details: { status: response.status, url: showUrl(from) } },
  );
}

function parseLoosely(text: string): JsonValue {
  if (jsonDepthExceeds(text, MAX_JSON_DEPTH)) return "";
  try {
    return JSON.parse(text);
  } catch {
    return /^\s*</.test(text) ? "a web page instead of JSON" : text;
  }
}

/**
 * Tells whether brackets nest deeper than allowed, without recursion. Strings are skipped.
 *
 * @param text JSON text.
 * @param maxDepth The deepest nesting allowed.
 * @returns Whether it goes deeper.
 */
export function jsonDepthExceeds(text: string, maxDepth: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (quoted) {
      if (unit === 0x5c) at += 1;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}

function explain(
  thrown: unknown,
  known: {
    readonly request: ExchangeRequest;
    readonly timer: AbortSignal;
    readonly idle?: AbortSignal | undefined;
  },
): KitError {
  const { request, timer, idle } = known;
  const url = showUrl(request.url);
  if (request.signal?.aborted) {
    return new AbortedError(undefined, { cause: request.signal.reason });
  }
  if (timer.aborted || idle?.aborted === true) {
    const text = timer.aborted
      ? `The endpoint ${url} did not finish its answer within ${request.timeoutMs} ms`
      : `The endpoint ${url} stopped sending in the middle of its answer`;
    return new LlmError("timeout", text, { retryable: true, details: { url } });
  }
  const error = classifyFetchError(thrown);
  if (!(error instanceof LlmError) || error.code === "bad_response") return error;
  const code = error.code === "server" ? "network" : error.code;
  return new LlmError(code, `${error.message}: ${url}`, {
    retryable: true,
    cause: maskedCause(thrown, request),
    details: { ...error.details, url },
  });
}

/** What the runtime threw, without its stack and with secrets masked: it quotes the whole URL, query and all. */
function maskedCause(thrown: unknown, request: ExchangeRequest, depth = 0): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { search } = request.url;
  const plain = search === "" ? error.message : error.message.replaceAll(search, "");
  const cause = error.cause === undefined || depth >= MAX_CAUSES
    ? undefined
    : { cause: maskedCause(error.cause, request, depth + 1) };
  const masked = new Error(cutText(request.redact(plain), MAX_ERROR_TEXT), cause);
  masked.name = error.name;
  masked.stack = `${error.name}: ${masked.message}`;
  return masked;
}

const MAX_CAUSES = 4;
