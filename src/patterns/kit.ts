/**
 * A conversation with a model: its history, its account, its patterns.
 *
 * @module
 */
import {
  ConfigError,
  createLedger,
  type Ledger,
  linkSignals,
  type LlmProvider,
  type Message,
  raceSignal,
  streamModel,
  type Usage,
} from "../llm/mod.ts";
import { ambientPorts } from "../ports/mod.ts";
import { consensus } from "./consensus.ts";
import type { ConsensusMetadata, ConsensusOptions } from "./consensus_options.ts";
import { mapReduce, type MapReduceMetadata, type MapReduceOptions } from "./map_reduce.ts";
import {
  checkCommon,
  checkNames,
  checkProvider,
  checkText,
  COMMON_NAMES,
  type PatternOptions,
  type PatternResult,
} from "./options.ts";
import { pipe, type PipeMetadata, type PipeOptions } from "./pipe.ts";
import { reactLoop } from "./react_loop.ts";
import type { ReactLoopOptions, ReactMetadata } from "./react_options.ts";
import { refineLoop } from "./refine_loop.ts";
import type { RefineMetadata, RefineOptions } from "./refine_options.ts";
import { withDeadline } from "./run_pattern.ts";
import { structured } from "./structured.ts";
import type { StructuredMetadata, StructuredOptions } from "./structured_options.ts";
import { copyTranscript } from "./transcript.ts";
import type { JsonValue } from "../json/mod.ts";

/** What a session is opened with. What is common to its patterns is given once. */
export interface KitOptions extends Omit<PatternOptions, "deadlineMs"> {
  /** The conversation so far; copied. Default none. */
  readonly messages?: readonly Message[];
  /** Whether the end of the session ends the provider too, where it can be disposed; default false. */
  readonly closeProvider?: boolean;
}

const { deadlineMs: _deadlineMs, ...SESSION_NAMES } = COMMON_NAMES;
const KIT_NAMES = {
  ...SESSION_NAMES,
  messages: true,
  closeProvider: true,
} satisfies Record<keyof KitOptions, true>;

/** What a pattern of a session takes: account and ports are the session's. */
export type SessionOptions<Options> = Omit<Options, "ledger" | "ports" | "prices">;

/**
 * A session: everything asked through it is charged to one account and ends with it. Turns of the conversation wait for
 * each other; patterns do not touch the history.
 *
 * @example
 * ```ts
 * import { calculatorTool, Kit } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using kit = new Kit(new MockProvider(["Hello!", "You said hi."]), { budget: { maxCalls: 5 } });
 * await kit.turn("hi", { tools: [calculatorTool] });
 * const { value } = await kit.turn("What did I say?");
 * assertEquals(value, "You said hi.");
 * assertEquals(kit.messages.length, 4);
 * assertEquals(kit.usage.llmCalls, 2);
 * ```
 */
export class Kit implements AsyncDisposable {
  /** Whom the session asks. */
  readonly provider: LlmProvider;
  readonly #options: KitOptions;
  readonly #ledger: Ledger;
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #messages: readonly Message[];
  #turns: Promise<unknown> = Promise.resolve();

  /**
   * Opens a session.
   *
   * @param provider Whom it asks.
   * @param options What is common to its patterns; `budget` holds for the whole session.
   * @throws {ConfigError} Code `argument`, if the provider is none, an option cannot be used, or the conversation so far cannot be gone on with.
   */
  constructor(provider: LlmProvider, options: KitOptions = {}) {
    checkNames("a session", options, KIT_NAMES);
    checkCommon(options);
    checkProvider(provider);
    this.provider = provider;
    this.#options = options;
    const clock = (options.ports ?? ambientPorts()).clock;
    this.#ledger = options.ledger?.child(options.budget) ?? createLedger(options.budget, {
      clock,
      ...(options.prices === undefined ? {} : { prices: options.prices }),
    });
    const { messages = [] } = options;
    this.#messages = messages.length === 0 ? [] : copyTranscript(messages, undefined);
  }

  /** What the session and its forks have spent. */
  get usage(): Usage {
    return { ...this.#ledger.spent };
  }

  /** The conversation so far; frozen messages. */
  get messages(): readonly Message[] {
    return [...this.#messages];
  }

  /** The session's account, for patterns called by themselves. */
  get ledger(): Ledger {
    return this.#ledger;
  }

  /**
   * Says something and gives the answer; both become part of the history. Turns run one after another in the order in
   * which they were called. A turn that fails leaves the history as it was.
   *
   * @param text What the user says, not blank.
   * @param options Tools, and how the loop runs.
   * @returns The answer.
   * @throws {KitError} As {@linkcode reactLoop} does.
   */
  turn(
    text: string,
    options: SessionOptions<ReactLoopOptions> = {},
  ): Promise<PatternResult<string, ReactMetadata>> {
    const earlier = this.#turns;
    const work = this.#track(async (common) => {
      if (common.signal !== undefined) await raceSignal(earlier, common.signal).catch(() => {});
      checkText("text", text);
      const messages: readonly Message[] = [...this.#messages, { role: "user", content: text }];
      const result = await reactLoop(this.provider, messages, {
        ...this.#defaults(),
        ...options,
        ...common,
      });
      this.#messages = result.metadata.messages;
      return result;
    }, options.signal);
    // without their results: each would keep those of all turns before it
    this.#turns = Promise.allSettled([earlier, work]).then(() => undefined);
    return work;
  }

  /** {@linkcode consensus} on the session's account. */
  consensus(
    prompt: string,
    options: SessionOptions<ConsensusOptions> = {},
  ): Promise<PatternResult<string, ConsensusMetadata>> {
    return this.#track(
      (common) => consensus(this.provider, prompt, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /** {@linkcode refineLoop} on the session's account. */
  refine(
    prompt: string,
    options: SessionOptions<RefineOptions> = {},
  ): Promise<PatternResult<string, RefineMetadata>> {
    return this.#track(
      (common) => refineLoop(this.provider, prompt, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /** {@linkcode reactLoop} on the session's account, apart from its history. */
  react(
    prompt: string,
    options: SessionOptions<ReactLoopOptions> = {},
  ): Promise<PatternResult<string, ReactMetadata>> {
    return this.#track(
      (common) => reactLoop(this.provider, prompt, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /** {@linkcode structured} on the session's account. */
  structured(
    prompt: string,
    options: SessionOptions<StructuredOptions> = {},
  ): Promise<PatternResult<JsonValue, StructuredMetadata>> {
    return this.#track(
      (common) => structured(this.provider, prompt, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /** {@linkcode mapReduce} on the session's account. */
  mapReduce(
    items: readonly string[],
    options: SessionOptions<MapReduceOptions>,
  ): Promise<PatternResult<string, MapReduceMetadata>> {
    return this.#track(
      (common) => mapReduce(this.provider, items, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /** {@linkcode pipe} on the session's account. */
  pipe(
    input: string,
    options: SessionOptions<PipeOptions>,
  ): Promise<PatternResult<unknown, PipeMetadata>> {
    return this.#track(
      (common) => pipe(this.provider, input, { ...this.#defaults(), ...options, ...common }),
      options.signal,
    );
  }

  /**
   * Gives one answer in parts, apart from the history: no vote and no tools. Leaving the loop ends the request.
   *
   * @param prompt The question, not blank.
   * @param options How.
   * @returns Texts as they come.
   * @throws {KitError} As a whole call does.
   */
  async *streamText(
    prompt: string,
    options: SessionOptions<PatternOptions> = {},
  ): AsyncGenerator<string, void, void> {
    this.#checkOpen();
    checkNames("streamText", options, COMMON_NAMES);
    checkCommon(options);
    checkText("prompt", prompt);
    using linked = linkSignals([this.#end.signal, this.#options.signal, options.signal]);
    const { clock } = this.#options.ports ?? ambientPorts();
    const { system, budget: _budget, deadlineMs: _deadlineMs, ...request } = {
      ...this.#defaults(),
      ...options,
    };
    const messages: readonly Message[] = [
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content: prompt },
    ];
    const { ports } = this.#options;
    const parts = streamModel(this.provider, messages, {
      ...request,
      signal: linked.signal,
      ledger: this.#ledger.child(withDeadline(options, clock)),
      ...(ports === undefined ? {} : { ports }),
    });
    for await (const part of parts) if (part.type === "text") yield part.text;
  }

  /**
   * Opens a branch: it starts with this conversation and goes its own way. Its spending counts here too.
   *
   * @returns The branch; it ends by itself or with this session's signal, not with this session.
   */
  fork(): Kit {
    this.#checkOpen();
    const { budget: _budget, closeProvider: _close, ...common } = this.#options;
    return new Kit(this.provider, { ...common, ledger: this.#ledger, messages: this.#messages });
  }

  /** Ends the session: what is under way is aborted and awaited. Later calls are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#end.abort(new DOMException("The session has ended", "AbortError"));
    await Promise.allSettled([...this.#running]);
    if (this.#options.closeProvider === true) await closeProvider(this.provider);
  }

  /** What the session was opened with, for every pattern that does not say otherwise. */
  #defaults(): Omit<PatternOptions, "ledger" | "budget" | "prices" | "signal"> {
    const {
      messages: _messages,
      closeProvider: _close,
      ledger: _ledger,
      budget: _budget,
      prices: _prices,
      signal: _signal,
      ...common
    } = this.#options;
    return common;
  }

  async #track<T>(
    work: (common: PatternOptions) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    this.#checkOpen();
    using linked = linkSignals([this.#end.signal, this.#options.signal, signal]);
    const { ports } = this.#options;
    const running = work({
      ledger: this.#ledger,
      signal: linked.signal,
      ...(ports === undefined ? {} : { ports }),
    });
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  #checkOpen(): void {
    if (!this.#end.signal.aborted) return;
    throw new ConfigError("Cannot use a session after its end", { code: "argument" });
  }
}

async function closeProvider(provider: LlmProvider): Promise<void> {
  for (const symbol of [Symbol.asyncDispose, Symbol.dispose]) {
    const close: unknown = Reflect.get(provider, symbol);
    if (typeof close === "function") return void await close.call(provider);
  }
}
