/**
 * A model that says what it is told to.
 *
 * @module
 */
import {
  AbortedError,
  type CompleteOptions,
  ConfigError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  type StreamEvent,
  type TokenUsage,
  type ToolCall,
} from "../llm/mod.ts";
import { ambientPorts, type Clock } from "../ports/mod.ts";

/** Characters that count as one token where a reply names no usage. */
export const CHARACTERS_PER_MOCK_TOKEN = 4;

/** One request that a {@linkcode MockProvider} got: a deep copy, frozen. */
export interface MockCall {
  /** Which request it was, from 0. */
  readonly index: number;
  /** The conversation. */
  readonly messages: readonly Message[];
  /** How it was asked, without `signal` and `ledger`. */
  readonly options: Omit<CompleteOptions, "signal" | "ledger">;
}

/** A reply in parts; what is absent gets a plain default. A whole `LlmResponse` is one too. */
export interface MockReplyParts extends Partial<Omit<LlmResponse, "usage">> {
  /** Fails with this instead of answering. */
  readonly error?: Error;
  /** How long the model thinks, in milliseconds on the mock's clock; default 0. */
  readonly delayMs?: number;
  /** What it cost; default an estimate of four characters a token. */
  readonly usage?: Partial<TokenUsage>;
}

/** What the mock answers: a text, parts of an answer, an error to fail with, or a function that decides. */
export type MockReply =
  | string
  | Error
  | MockReplyParts
  | ((call: MockCall) => MockReply | Promise<MockReply>);

/** How a {@linkcode MockProvider} behaves. */
export interface MockProviderOptions {
  /** Starts over at the end of the script instead of failing; default false, because that hides extra calls. */
  readonly cycle?: boolean;
  /** Whether it takes tools; default true. */
  readonly supportsTools?: boolean;
  /** Whether it takes `responseFormat`; default false. */
  readonly supportsResponseFormat?: boolean;
  /** The model's name, default `mock`. */
  readonly model?: string;
  /** What `delayMs` is measured on; default the ambient clock. */
  readonly clock?: Clock;
}

/**
 * A provider that gives each reply of its script once, in order, and fails when asked again.
 *
 * Replies without usage cost an estimate, so budgets are exercised. It honours `signal` and records what it was asked.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const model = new MockProvider(["Paris"]);
 * const answer = await model.complete([{ role: "user", content: "Capital of France?" }]);
 * assertEquals(answer.content, "Paris");
 * assertEquals(model.callCount, 1);
 * await assertRejects(() => model.complete([{ role: "user", content: "And of Spain?" }]));
 * ```
 */
export class MockProvider implements LlmProvider {
  /** `mock`. */
  readonly name: string = "mock";
  /** The model's name. */
  readonly model: string;
  /** Whether it takes tools. */
  readonly supportsTools: boolean;
  /** Whether it takes `responseFormat`. */
  readonly supportsResponseFormat: boolean;
  readonly #script: readonly MockReply[];
  readonly #options: MockProviderOptions;
  readonly #calls: MockCall[] = [];
  #inFlight = 0;
  #peak = 0;

  /**
   * Makes a mock.
   *
   * @param script The replies, in the order of requests.
   * @param options How it behaves.
   */
  constructor(script: readonly MockReply[], options: MockProviderOptions = {}) {
    this.#script = [...script];
    this.#options = options;
    this.model = options.model ?? "mock";
    this.supportsTools = options.supportsTools ?? true;
    this.supportsResponseFormat = options.supportsResponseFormat ?? false;
  }

  /** What it was asked so far, in order, requests beyond the script included. */
  get calls(): readonly MockCall[] {
    return this.#calls;
  }

  /** How many requests it got. */
  get callCount(): number {
    return this.#calls.length;
  }

  /** The latest request. */
  get lastCall(): MockCall | undefined {
    return this.#calls.at(-1);
  }

  /** Replies not given yet; 0 with `cycle`. */
  get remaining(): number {
    return this.#options.cycle === true ? 0 : Math.max(0, this.#script.length - this.#calls.length);
  }

  /** Requests under way at this moment. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The most requests that were ever under way at once. */
  get peakConcurrency(): number {
    return this.#peak;
  }

  /**
   * Gives the next reply of the script.
   *
   * @param messages The conversation.
   * @param options How; `signal` ends a delay.
   * @returns The reply.
   * @throws {ConfigError} If the script has no more replies, or there are no messages.
   * @throws {AbortedError} If `signal` fires; before the request, nothing is recorded.
   */
  async complete(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): Promise<LlmResponse> {
    checkRequest(messages, options);
    const call = this.#record(messages, options);
    this.#inFlight += 1;
    this.#peak = Math.max(this.#peak, this.#inFlight);
    try {
      const parts = await resolveReply(this.#reply(call), call);
      await this.#pause(parts.delayMs ?? 0, options.signal);
      if (parts.error !== undefined) throw parts.error;
      return toResponse(parts, call);
    } finally {
      this.#inFlight -= 1;
    }
  }

  /**
   * Gives the next reply of the script in parts, a word at a time.
   *
   * @param messages The conversation.
   * @param options How.
   * @returns The parts; the last one is `done`.
   */
  async *stream(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): AsyncIterable<StreamEvent> {
    const response = await this.complete(messages, options);
    for (const text of response.content.match(/\S+\s*|\s+/g) ?? []) {
      checkRequest(messages, options);
      yield { type: "text", text };
    }
    yield { type: "done", response };
  }

  #record(messages: readonly Message[], options: CompleteOptions): MockCall {
    const { signal: _signal, ledger: _ledger, ...plain } = options;
    const call = deepFreeze(
      structuredClone({ index: this.#calls.length, messages, options: plain }),
    );
    this.#calls.push(call);
    return call;
  }

  #reply(call: MockCall): MockReply {
    const length = this.#script.length;
    const reply = this.#script[this.#options.cycle === true ? call.index % length : call.index];
    if (reply !== undefined) return reply;
    throw new ConfigError(
      `MockProvider is overdrawn: request ${call.index + 1} of a script of ${length}`,
    );
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (ms <= 0) return;
    const clock = this.#options.clock ?? ambientPorts().clock;
    try {
      await clock.sleep(ms, signal === undefined ? {} : { signal });
    } catch (error) {
      throw new AbortedError(undefined, { cause: error });
    }
  }
}

/**
 * Writes a tool call as a model would ask for it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider([{ toolCalls: [mockToolCall("calculator", { expression: "6*7" })] }]);
 * const answer = await model.complete([{ role: "user", content: "6*7?" }]);
 * assertEquals(answer.finishReason, "tool_calls");
 * ```
 *
 * @param name The tool.
 * @param args The arguments; default none.
 * @param id The call's id; default `call_1`.
 * @returns The call.
 */
export function mockToolCall(
  name: string,
  args: Extract<ToolCall, { kind: "ok" }>["arguments"] = {},
  id = "call_1",
): ToolCall {
  return { kind: "ok", id, name, arguments: args };
}

/** What every provider refuses before it sends anything. */
export function checkRequest(messages: readonly Message[], options: CompleteOptions): void {
  const { signal } = options;
  if (signal?.aborted === true) throw new AbortedError(undefined, { cause: signal.reason });
  if (messages.length === 0) {
    throw new ConfigError("Cannot ask a model: there are no messages", { code: "argument" });
  }
}

async function resolveReply(reply: MockReply, call: MockCall): Promise<MockReplyParts> {
  const value = typeof reply === "function" ? await reply(call) : reply;
  if (typeof value === "function") return resolveReply(value, call);
  if (typeof value === "string") return { content: value };
  return value instanceof Error ? { error: value } : value;
}

function toResponse(parts: MockReplyParts, call: MockCall): LlmResponse {
  const { error: _error, delayMs: _delayMs, usage, ...given } = parts;
  const content = given.content ?? "";
  const toolCalls = given.toolCalls ?? [];
  const estimated = {
    inputTokens: estimateTokens(JSON.stringify(call.messages)),
    outputTokens: estimateTokens(content + JSON.stringify(toolCalls).slice(2)),
    known: true,
  };
  return deepFreeze(structuredClone({
    finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
    warnings: [],
    ...given,
    content,
    toolCalls,
    usage: { ...estimated, ...usage },
  }));
}

function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_MOCK_TOKEN);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}
