/**
 * Patterns over the Message Batches API of Anthropic: slower and cheaper than one request after another.
 *
 * @module
 */
import { deepFreeze, type JsonObject } from "../json/mod.ts";
import {
  ConfigError,
  copyError,
  createLedger,
  DEFAULT_MAX_TOKENS,
  estimateInputTokens,
  KitError,
  type Ledger,
  type LlmProvider,
  type Message,
  PatternError,
  type Reservation,
} from "../llm/mod.ts";
import { ambientPorts } from "../ports/mod.ts";
import { BatchClient, type BatchStatus } from "./batch_client.ts";
import {
  type BatchEndpoint,
  type BatchOptions,
  CONSENSUS_BATCH_NAMES,
  type ConsensusBatchMetadata,
  type ConsensusBatchOptions,
  MAP_BATCH_NAMES,
  type MapBatchMetadata,
  type MapBatchOptions,
} from "./batch_options.ts";
import { type BatchEntry, readEntries } from "./batch_results.ts";
import { holdVote, planVote } from "./consensus.ts";
import {
  CONSENSUS_TEMPERATURE,
  type ConsensusOptions,
  DEFAULT_SAMPLES,
} from "./consensus_options.ts";
import { checkCommon, checkNames, checkNumber, checkText, type PatternResult } from "./options.ts";

/** Most entries of one batch, by the endpoint's own limit. */
export const MAX_BATCH_ENTRIES = 100_000;
const MAX_PROBLEMS_TOLD = 20;

/**
 * Sends one prompt many times in one batch and votes over the answers, exactly as {@linkcode consensus} does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const answer = (id: string, text: string) =>
 *   JSON.stringify({
 *     custom_id: id,
 *     result: { type: "succeeded", message: { content: [{ type: "text", text }], stop_reason: "end_turn" } },
 *   });
 * const fetch = (url: string | URL) =>
 *   Promise.resolve(
 *     String(url).endsWith("/results")
 *       ? new Response(`${answer("consensus-0", "Paris")}\n${answer("consensus-1", "paris.")}`)
 *       : Response.json({
 *         id: "batch_1",
 *         processing_status: "ended",
 *         results_url: "https://api.anthropic.com/v1/messages/batches/batch_1/results",
 *       }),
 *   );
 * const { value, score, metadata } = await consensusBatch("Capital of France?", {
 *   apiKey: "key-from-the-environment",
 *   model: "a-model",
 *   numSamples: 2,
 *   ports: { ...manualPorts(), fetch },
 * });
 * assertEquals([value, score, metadata.batchId], ["Paris", 1, "batch_1"]);
 * ```
 *
 * @param prompt The question, not blank.
 * @param options The endpoint, and how the vote is held. With `batchId` nothing is sent: the batch is gone on with.
 * @returns The winner.
 * @throws {KitError} As `consensus` does, before anything is sent where the vote cannot be held; `partial.values` holds the
 * answers there are, in order, `null` for entries without one. `timeout` with `details.batchId` when the waiting is over,
 * to go on with later.
 */
export async function consensusBatch(
  prompt: string,
  options: ConsensusBatchOptions,
): Promise<PatternResult<string, ConsensusBatchMetadata>> {
  checkNames("consensusBatch", options, CONSENSUS_BATCH_NAMES);
  const entries: BatchEntry[] = [];
  const plan = planVote(playEntries(entries), prompt, voteOptions(options));
  const batch = new Batch("consensus", new Array(plan.requested).fill(prompt), {
    ...options,
    temperature: options.temperature ?? CONSENSUS_TEMPERATURE,
  });
  entries.push(...await batch.finish());
  const values = entries.map((entry) => entry.kind === "answer" ? entry.text : null);
  const voted = await batch.telling(() => holdVote({ ...plan, prepaid: true }), { values });
  return deepFreeze({
    ...voted,
    usage: { ...batch.ledger.spent },
    metadata: { ...voted.metadata, batchId: batch.id },
  });
}

/**
 * Sends many prompts in one batch.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const fetch = (url: string | URL) =>
 *   Promise.resolve(
 *     String(url).endsWith("/results")
 *       ? Response.json({
 *         custom_id: "map-0",
 *         result: {
 *           type: "succeeded",
 *           message: { content: [{ type: "text", text: "Bonjour" }], stop_reason: "end_turn" },
 *         },
 *       })
 *       : Response.json({ id: "batch_1", processing_status: "ended", results_url: "/results" }),
 *   );
 * const { value } = await mapBatch(["Hello in French?"], {
 *   apiKey: "key-from-the-environment",
 *   model: "a-model",
 *   ports: { ...manualPorts(), fetch },
 * });
 * assertEquals(value, ["Bonjour"]);
 * ```
 *
 * @param prompts The prompts, from 1 to 100000, none blank.
 * @param options The endpoint. With `batchId` nothing is sent: the batch is gone on with.
 * @returns The answers, in the order of the prompts.
 * @throws {PatternError} Code `pattern`, if an entry was not answered, was refused, or has no text in its answer;
 * `details.problems` names them, `partial.values` holds the answers there are, `null` for the others.
 * @throws {KitError} `timeout` with `details.batchId` when the waiting is over, to go on with later.
 */
export async function mapBatch(
  prompts: readonly string[],
  options: MapBatchOptions,
): Promise<PatternResult<readonly string[], MapBatchMetadata>> {
  checkNames("mapBatch", options, MAP_BATCH_NAMES);
  checkPrompts(prompts);
  const batch = new Batch("map", prompts, options);
  const entries = (await batch.finish()).map(withText);
  const values = entries.map((entry) => entry.kind === "answer" ? entry.text : null);
  const problems = entries.flatMap((entry, index) =>
    entry.kind === "problem" ? [{ id: batch.ids[index], problem: entry.problem }] : []
  );
  if (problems.length > 0) {
    const named = problems.slice(0, MAX_PROBLEMS_TOLD).map(({ id, problem }) =>
      `${id} (${problem})`
    );
    throw new PatternError("pattern", `Entries were not answered: ${named.join(", ")}`, {
      usage: { ...batch.ledger.spent },
      details: { batchId: batch.id, problems },
      partial: { values },
    });
  }
  return deepFreeze({
    value: values.filter((value) => value !== null),
    usage: { ...batch.ledger.spent },
    metadata: {
      batchId: batch.id,
      numRequests: prompts.length,
      truncated: entries.flatMap((entry, index) =>
        entry.kind === "answer" && entry.finishReason === "length" ? [index] : []
      ),
    },
  });
}

function checkPrompts(prompts: unknown): void {
  if (!Array.isArray(prompts)) {
    throw new ConfigError("Cannot use prompts: wanted an array of texts, not a single text", {
      code: "argument",
    });
  }
  checkNumber("the number of prompts", prompts.length, { min: 1, max: MAX_BATCH_ENTRIES });
  for (const prompt of prompts) checkText("prompt", prompt);
}

/** An answer that does not answer is a problem; what it cost is charged all the same. */
function withText(entry: BatchEntry): BatchEntry {
  if (entry.kind === "problem") return entry;
  if (entry.finishReason === "refusal") return { kind: "problem", problem: "the model refused" };
  return entry.text.trim() === "" ? { kind: "problem", problem: "the answer has no text" } : entry;
}

/**
 * Looks at a batch.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const fetch = () => Promise.resolve(Response.json({ id: "batch_1", processing_status: "in_progress" }));
 * const status = await lookAtBatch("batch_1", {
 *   apiKey: "key-from-the-environment",
 *   model: "a-model",
 *   ports: { ...manualPorts(), fetch },
 * });
 * assertEquals([status.id, status.ended], ["batch_1", false]);
 * ```
 *
 * @param batchId The batch.
 * @param endpoint The endpoint.
 * @returns How far it has come. When `ended`, go on with it by giving `batchId` to `consensusBatch` or `mapBatch`.
 * @throws {KitError} If the endpoint refuses or cannot be reached.
 */
export async function lookAtBatch(batchId: string, endpoint: BatchEndpoint): Promise<BatchStatus> {
  return await new BatchClient(endpoint).look(batchId);
}

/**
 * Asks the endpoint to stop a batch. Entries that are under way may still be finished, and charged.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const fetch = () => Promise.resolve(Response.json({ id: "batch_1", processing_status: "canceling" }));
 * const status = await cancelBatch("batch_1", {
 *   apiKey: "key-from-the-environment",
 *   model: "a-model",
 *   ports: { ...manualPorts(), fetch },
 * });
 * assertEquals([status.id, status.ended], ["batch_1", false]);
 * ```
 *
 * @param batchId The batch.
 * @param endpoint The endpoint.
 * @returns How far it has come.
 * @throws {KitError} If the endpoint refuses or cannot be reached.
 */
export async function cancelBatch(batchId: string, endpoint: BatchEndpoint): Promise<BatchStatus> {
  return await new BatchClient(endpoint).cancel(batchId);
}

/** One batch: reserved, sent, waited for, charged. */
class Batch {
  readonly ids: readonly string[];
  readonly ledger: Ledger;
  readonly #prompts: readonly string[];
  readonly #options: BatchOptions & { readonly batchId?: string };
  readonly #client: BatchClient;
  #id: string;

  constructor(
    kind: "consensus" | "map",
    prompts: readonly string[],
    options: BatchOptions & { readonly batchId?: string },
  ) {
    const { timeoutMs: _batchTimeoutMs, ...common } = options;
    checkCommon(common);
    if (options.batchId !== undefined) checkText("option batchId", options.batchId);
    this.#prompts = prompts;
    this.#options = options;
    this.ids = prompts.map((_prompt, index) => `${kind}-${index}`);
    this.#client = new BatchClient(options);
    this.#id = options.batchId ?? "";
    this.ledger = options.ledger?.child(options.budget) ?? createLedger(options.budget, {
      clock: (options.ports ?? ambientPorts()).clock,
      ...(options.prices === undefined ? {} : { prices: options.prices }),
    });
  }

  get id(): string {
    return this.#id;
  }

  async finish(): Promise<readonly BatchEntry[]> {
    const held = this.#reserve();
    let sent = this.#id !== "";
    try {
      if (!sent) this.#id = (await this.#client.create(this.#requests())).id;
      sent = true;
      const status = await this.#client.wait(this.#id, this.ids.length);
      const results = await this.#client.results(status);
      const entries = readEntries(results, this.ids, this.#client.redact);
      for (const [index, reservation] of held.entries()) charge(reservation, entries[index]);
      return entries;
    } catch (error) {
      const unsure = sent || !(error instanceof KitError) || error.details["status"] === undefined;
      for (const reservation of held) unsure ? reservation.abandon() : reservation.release();
      throw this.#told(error);
    }
  }

  /** Runs what follows, and tells the spending when it fails, and what is left beside its own `partial`. */
  async telling<T>(work: () => Promise<T>, left: object): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#told(error, left);
    }
  }

  #told(error: unknown, left?: object): unknown {
    if (!(error instanceof KitError)) return error;
    const details = this.#id === "" ? error.details : { ...error.details, batchId: this.#id };
    const partial = left === undefined ? error.partial : deepFreeze({ ...own(error), ...left });
    return copyError(error, { usage: { ...this.ledger.spent }, details, partial });
  }

  /** Everything at once, before anything is sent: a batch that does not fit is not sent in part. */
  #reserve(): readonly Reservation[] {
    const held: Reservation[] = [];
    const { maxTokens = DEFAULT_MAX_TOKENS, model } = this.#options;
    try {
      for (const prompt of this.#prompts) {
        const estimate = {
          inputTokens: estimateInputTokens(this.#messages(prompt)),
          outputTokens: maxTokens,
          minOutputTokens: maxTokens,
          model,
        };
        held.push(this.ledger.reserve(estimate));
      }
      return held;
    } catch (error) {
      for (const reservation of held) reservation.release();
      throw error;
    }
  }

  #messages(prompt: string): readonly Message[] {
    const { system } = this.#options;
    return [
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content: prompt },
    ];
  }

  #requests(): readonly JsonObject[] {
    const { system, temperature, maxTokens = DEFAULT_MAX_TOKENS, model, extra } = this.#options;
    return this.#prompts.map((prompt, index) => ({
      custom_id: this.ids[index] ?? "",
      params: {
        ...extra,
        model,
        max_tokens: maxTokens,
        messages: [{ role: "user", content: prompt }],
        ...(system === undefined ? {} : { system }),
        ...(temperature === undefined ? {} : { temperature }),
      },
    }));
  }
}

function own({ partial }: KitError): object {
  return typeof partial === "object" && partial !== null ? partial : {};
}

function charge(reservation: Reservation, entry: BatchEntry | undefined): void {
  if (entry?.kind !== "answer") reservation.refuse();
  else reservation.settle(entry.usage.known ? entry.usage : undefined);
}

/** The same vote as everywhere: the samples are played to it as a provider. */
function voteOptions(options: ConsensusBatchOptions): ConsensusOptions {
  const { numSamples = DEFAULT_SAMPLES, strategy, normalize, minValid, minAgreement } = options;
  const { onTie, signal, ports } = options;
  const given = { strategy, normalize, minValid, minAgreement, onTie, signal, ports };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    numSamples,
    maxConcurrency: 1,
    retry: { maxAttempts: 1 },
  };
}

function playEntries(entries: readonly BatchEntry[]): LlmProvider {
  let next = 0;
  return {
    complete: () => {
      const entry = entries[next];
      next += 1;
      if (entry?.kind !== "answer") {
        return Promise.reject(
          new PatternError("pattern", `Entry was not answered: ${entry?.problem ?? "missing"}`),
        );
      }
      const { text, finishReason, usage } = entry;
      return Promise.resolve({ content: text, toolCalls: [], finishReason, usage, warnings: [] });
    },
  };
}
