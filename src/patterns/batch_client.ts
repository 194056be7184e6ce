/**
 * The Message Batches API of Anthropic, as far as patterns need it: send, look, fetch, cancel.
 *
 * The key goes to the configured origin alone: the server names the address of the results, and an address elsewhere is
 * refused. Looks are repeated when they fail for a passing reason; sending is not, since nobody knows whether a batch was
 * taken.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member, parseJson } from "../json/mod.ts";
import {
  AbortedError,
  classifyFetchError,
  ConfigError,
  createRedactor,
  KitError,
  type KitErrorCode,
  linkSignals,
  LlmError,
  notify,
  parseRetryAfter,
  raceSignal,
  type Redactor,
} from "../llm/mod.ts";
import { ambientPorts, type Ports } from "../ports/mod.ts";
import { type BatchEndpoint, CONSENSUS_BATCH_NAMES } from "./batch_options.ts";
import { checkNames, checkNumber, checkText } from "./options.ts";
import { truncateText } from "./text_limits.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";
const DEFAULT_VERSION = "2023-06-01";
const DEFAULT_REQUEST_TIMEOUT_MS = 60_000;
const DEFAULT_POLL_MS = 5000;
const DEFAULT_TIMEOUT_MS = 1_800_000;
/** Failed looks in a row after which the waiting ends. */
const MAX_FAILED_LOOKS = 5;
/** Longest wait that an endpoint may ask for between two looks. */
const MAX_LOOK_DELAY_MS = 60_000;
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_PREVIEW_CHARACTERS = 500;

/** A batch as the endpoint describes it. */
export interface BatchStatus {
  /** Its id. */
  readonly id: string;
  /** Whether every entry is done. */
  readonly ended: boolean;
  /** Where the results are, once it has ended. */
  readonly resultsUrl: string | undefined;
  /** Entries that are done. */
  readonly done: number;
}

/** Speaks to one endpoint. */
export class BatchClient {
  readonly #endpoint: BatchEndpoint;
  readonly #ports: Pick<Ports, "fetch" | "clock" | "random">;
  readonly #base: URL;
  readonly #apiKey: string;
  /** Masks the key. */
  readonly redact: Redactor;

  /**
   * Checks the configuration; nothing is sent.
   *
   * @throws {ConfigError} If the address, the key or an option cannot be used.
   */
  constructor(endpoint: BatchEndpoint) {
    checkNames("a batch", endpoint, CONSENSUS_BATCH_NAMES);
    checkText("model", endpoint.model);
    const { requestTimeoutMs, pollMs, timeoutMs } = endpoint;
    for (const [name, ms] of Object.entries({ requestTimeoutMs, pollMs, timeoutMs })) {
      if (ms !== undefined) checkNumber(name, ms, { min: 0, integer: false });
    }
    this.#endpoint = endpoint;
    this.#ports = endpoint.ports ?? ambientPorts();
    this.#base = readBase(endpoint.baseUrl ?? DEFAULT_BASE_URL);
    this.#apiKey = readKey(endpoint.apiKey);
    this.redact = createRedactor({ secrets: [this.#apiKey] });
  }

  /** Sends a batch. */
  async create(requests: readonly JsonObject[]): Promise<BatchStatus> {
    const body = JSON.stringify({ requests });
    return readStatus(await this.#json("POST", this.#url("v1/messages/batches"), body));
  }

  /** Looks at a batch. An empty id is refused: it would be the address of the list. */
  async look(batchId: string): Promise<BatchStatus> {
    return readStatus(await this.#json("GET", this.#batchUrl(batchId)));
  }

  /** Asks the endpoint to stop a batch. Entries that are under way may still be finished, and charged. */
  async cancel(batchId: string): Promise<BatchStatus> {
    return readStatus(await this.#json("POST", new URL(`${this.#batchUrl(batchId)}/cancel`)));
  }

  /**
   * Waits until a batch has ended.
   *
   * @throws {LlmError} Code `timeout` with `details.batchId` when the time is over, or what went wrong too often.
   */
  async wait(batchId: string, total: number): Promise<BatchStatus> {
    const { clock } = this.#ports;
    const timeoutMs = this.#endpoint.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const deadline = clock.monotonic() + timeoutMs;
    for (let failures = 0;;) {
      const seen = await this.#tryLook(batchId, failures);
      failures = seen.status === undefined ? failures + 1 : 0;
      if (seen.status?.ended === true) return seen.status;
      if (seen.status !== undefined) this.#report(batchId, seen.status, total);
      const left = deadline - clock.monotonic();
      if (left <= 0) {
        throw new LlmError("timeout", `The batch "${batchId}" has not ended in ${timeoutMs} ms`, {
          details: { batchId },
        });
      }
      await this.#pause(Math.min(seen.delayMs, left));
    }
  }

  /** Fetches the results of a batch that has ended, one object for each entry. */
  async results(status: BatchStatus): Promise<readonly JsonObject[]> {
    if (status.resultsUrl === undefined) {
      throw new LlmError(
        "bad_response",
        `Cannot fetch the results of batch "${status.id}": it has ended without "results_url"`,
        { details: { batchId: status.id } },
      );
    }
    const url = URL.parse(status.resultsUrl, this.#base);
    if (url === null || url.origin !== this.#base.origin || url.username !== "") {
      const origin = url === null ? "none" : url.origin;
      throw new LlmError(
        "bad_response",
        `Cannot fetch the results of batch "${status.id}": their origin is ${origin}, wanted ` +
          `${this.#base.origin}`,
        { details: { batchId: status.id } },
      );
    }
    const text = await this.#text("GET", url);
    return text.split("\n").filter((line) => line.trim() !== "").map((line) => {
      const entry = readJson(line);
      if (isJsonObject(entry)) return entry;
      throw badResponse("a line of the results is no JSON object");
    });
  }

  async #tryLook(
    batchId: string,
    failures: number,
  ): Promise<{ readonly status: BatchStatus | undefined; readonly delayMs: number }> {
    const pollMs = this.#endpoint.pollMs ?? DEFAULT_POLL_MS;
    try {
      return { status: await this.look(batchId), delayMs: pollMs };
    } catch (error) {
      if (!(error instanceof KitError) || !error.retryable || failures + 1 >= MAX_FAILED_LOOKS) {
        throw error;
      }
      const asked = error instanceof LlmError ? error.retryAfterMs ?? 0 : 0;
      if (asked > MAX_LOOK_DELAY_MS) throw error;
      return { status: undefined, delayMs: Math.max(pollMs, asked) };
    }
  }

  #report(batchId: string, status: BatchStatus, total: number): void {
    notify(this.#endpoint.onProgress, { batchId, done: status.done, total });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#endpoint;
    try {
      await this.#ports.clock.sleep(ms, signal === undefined ? {} : { signal });
    } catch (error) {
      throw new AbortedError(undefined, { cause: error });
    }
  }

  #url(path: string): URL {
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
    return url;
  }

  #batchUrl(batchId: string): URL {
    checkText("batchId", batchId);
    return this.#url(`v1/messages/batches/${encodeURIComponent(batchId)}`);
  }

  async #json(method: string, url: URL, body?: string): Promise<JsonObject> {
    const value = readJson(await this.#text(method, url, body));
    if (isJsonObject(value)) return value;
    throw badResponse("the answer is no JSON object");
  }

  /** One request, its body included, under one time-out. Redirects are not followed. */
  async #text(method: string, url: URL, body?: string): Promise<string> {
    const { version = DEFAULT_VERSION, signal } = this.#endpoint;
    const timeoutMs = this.#endpoint.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
    using timer = this.#ports.clock.deadline(timeoutMs);
    using linked = linkSignals([signal, timer.signal]);
    try {
      const response = await this.#ports.fetch(url, {
        method,
        headers: {
          "x-api-key": this.#apiKey,
          "anthropic-version": version,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        redirect: "manual",
        signal: linked.signal,
        // as a Blob: a text would be sent again, unasked, when a connection that was kept has died
        ...(body === undefined ? {} : { body: new Blob([body]) }),
      });
      const text = await raceSignal(readBounded(response), linked.signal);
      if (response.ok) return text;
      throw this.#statusError(response, text);
    } catch (error) {
      if (signal?.aborted === true) throw new AbortedError(undefined, { cause: signal.reason });
      if (timer.signal.aborted) {
        throw new LlmError("timeout", `No answer from ${url.origin} in ${timeoutMs} ms`, {
          retryable: true,
          cause: error,
        });
      }
      throw classifyFetchError(error);
    }
  }

  #statusError(response: Response, text: string): LlmError {
    const { status } = response;
    const preview = truncateText(this.redact(errorText(text)), MAX_PREVIEW_CHARACTERS).text;
    const retryAfterMs = parseRetryAfter(response.headers, this.#ports.clock.now());
    return new LlmError(codeOf(status), `HTTP ${status}: ${preview}`, {
      retryable: status === 408 || status === 409 || status === 429 || status >= 500,
      details: { status },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
}

/** A key that no header can hold would be quoted whole by the runtime's error. */
function readKey(apiKey: string): string {
  const given: unknown = apiKey;
  const key = typeof given === "string" ? given.trim() : "";
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ConfigError(
    "Cannot use batches: apiKey is blank, or has a space, a line break or a character outside of ASCII",
  );
}

function readBase(text: string): URL {
  const url = URL.parse(text);
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" &&
    url.username === "" && url.password === "" && url.hash === "";
  if (fits) return url;
  throw new ConfigError(
    "Cannot use baseUrl: wanted an http or https address with a host, without user and fragment",
  );
}

function readStatus(value: JsonObject): BatchStatus {
  const id = member(value, "id");
  const status = member(value, "processing_status");
  if (typeof id !== "string" || typeof status !== "string") {
    throw badResponse('the batch has no "id" or "processing_status"');
  }
  const url = member(value, "results_url");
  const counts = member(value, "request_counts");
  const count = (name: string): number => {
    const found = isJsonObject(counts) ? member(counts, name) : undefined;
    return typeof found === "number" ? found : 0;
  };
  return {
    id,
    ended: status === "ended",
    resultsUrl: typeof url === "string" ? url : undefined,
    done: count("succeeded") + count("errored") + count("canceled") + count("expired"),
  };
}

function codeOf(status: number): KitErrorCode {
  if (status === 429) return "rate_limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "not_found";
  if (status === 413) return "too_large";
  if (status === 529) return "overloaded";
  if (status >= 300 && status < 400) return "redirect";
  return status >= 500 ? "server" : "bad_request";
}

function errorText(text: string): string {
  try {
    const value = parseJson(text);
    const error = isJsonObject(value) ? member(value, "error") : undefined;
    const message = isJsonObject(error) ? member(error, "message") : undefined;
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}

function readJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw badResponse("the answer is no JSON", error);
  }
}

function badResponse(problem: string, cause?: unknown): LlmError {
  return new LlmError("bad_response", `Cannot read the batch: ${problem}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) throw badResponse(`it has more than ${MAX_BODY_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
