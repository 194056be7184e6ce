/**
 * The same question about many items, and one answer out of all the answers.
 *
 * @module
 */
import {
  chooseError,
  ConfigError,
  KitError,
  type LlmProvider,
  notify,
  PatternError,
} from "../llm/mod.ts";
import type { KitErrorCode, LlmResponse, Message } from "../llm/mod.ts";
import {
  checkFunction,
  checkNames,
  checkNumber,
  checkProvider,
  checkText,
  checkWord,
  COMMON_NAMES,
  type PatternOptions,
  type PatternResult,
} from "./options.ts";
import { forEachIndex } from "./pool.ts";
import { type PatternRun, type RequestOptions, runPattern } from "./run_pattern.ts";
import { delimit } from "./text_limits.ts";

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_TEMPERATURE = 0.3;
const DEFAULT_MAX_REDUCE_CHARS = 60_000;
/** Most items of one run. */
export const MAX_MAP_ITEMS = 1_000_000;
/** Most numbers of missing items that the reducing model is told. */
const MAX_MISSING_TOLD = 50;
const MAP_REDUCE_NAMES = {
  ...COMMON_NAMES,
  mapPrompt: true,
  reducePrompt: true,
  maxConcurrency: true,
  maxReduceChars: true,
  onItemError: true,
  includeMapped: true,
  onItem: true,
} satisfies Record<keyof MapReduceOptions, true>;
const ITEM = "{item}";
const OUTPUTS = "{mapped_outputs}";

/** One finished item, as it is reported while the run goes on. */
export interface MapItemReport {
  /** Which item, from 0. */
  readonly index: number;
  /** How many are finished, this one included. */
  readonly done: number;
  /** How many there are. */
  readonly total: number;
  /** Whether it gave an output. */
  readonly ok: boolean;
}

/** How a map-reduce runs. */
export interface MapReduceOptions extends PatternOptions {
  /** What is asked about each item; contains `{item}`. */
  readonly mapPrompt: string;
  /** What is asked about the outputs; contains `{mapped_outputs}`. With many outputs also asked about partial answers. */
  readonly reducePrompt: string;
  /** Most requests under way at once, at least 1; default 10. */
  readonly maxConcurrency?: number;
  /** Most characters of outputs in one reducing request, at least 1; default 60000. More are reduced in a tree. */
  readonly maxReduceChars?: number;
  /** What a failed item does: `fail` (default) ends the run, `skip` leaves it out and tells the reducing model. */
  readonly onItemError?: "fail" | "skip";
  /** Puts every output into the metadata; default false. */
  readonly includeMapped?: boolean;
  /** Told about each finished item; what it throws is swallowed. */
  readonly onItem?: (report: MapItemReport) => void;
}

/** An item that gave no output. */
export interface MapFailure {
  /** Which item, from 0. */
  readonly index: number;
  /** What went wrong. */
  readonly code: KitErrorCode;
  /** The same for people. */
  readonly message: string;
}

/** How a map-reduce came about. */
export interface MapReduceMetadata {
  /** Items that gave an output. */
  readonly mapCount: number;
  /** Reducing requests that were answered. */
  readonly reduceCalls: number;
  /** All requests, each attempt counted. */
  readonly totalCalls: number;
  /** Answers that were cut off. */
  readonly truncatedResponses: number;
  /** Items without output, in order. */
  readonly failures: readonly MapFailure[];
  /** With `includeMapped`: the outputs in order; `null` for an item that gave none. */
  readonly mapped?: readonly (string | null)[];
}

/**
 * Asks about each item, then asks for one answer out of all the outputs.
 *
 * Items and outputs are data to the model: each stands between tags that nobody can guess. Outputs keep the order of the
 * items. Where they are too long for one request, groups of them are reduced first, and the partial answers after that.
 *
 * @example
 * ```ts
 * import { mapReduce } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider(["likes it", "hates it", "One likes it, one hates it."]);
 * const { value, metadata } = await mapReduce(model, ["Great!", "Awful!"], {
 *   mapPrompt: "What does this review say?\n{item}",
 *   reducePrompt: "Sum these up:\n{mapped_outputs}",
 * });
 * assertEquals(value, "One likes it, one hates it.");
 * assertEquals([metadata.mapCount, metadata.reduceCalls], [2, 1]);
 * ```
 *
 * @param provider Whom to ask.
 * @param items The items; may be empty, then only the reducing request is made.
 * @param options The prompts, and how the run goes.
 * @returns The answer.
 * @throws {ConfigError} Code `argument`, before anything is spent: a prompt without its placeholder, items that are no
 * array of texts.
 * @throws {KitError} What failed first; `partial` holds the outputs there are, by item.
 */
export async function mapReduce(
  provider: LlmProvider,
  items: readonly string[],
  options: MapReduceOptions,
): Promise<PatternResult<string, MapReduceMetadata>> {
  checkNames("mapReduce", options, MAP_REDUCE_NAMES);
  checkFunction("option onItem", options.onItem);
  checkProvider(provider);
  checkItems(items);
  checkTemplate("mapPrompt", options.mapPrompt, ITEM);
  checkTemplate("reducePrompt", options.reducePrompt, OUTPUTS);
  checkNumber("maxConcurrency", options.maxConcurrency ?? 1, { min: 1 });
  checkNumber("maxReduceChars", options.maxReduceChars ?? 1, { min: 1 });
  checkWord("onItemError", options.onItemError ?? "fail", ["fail", "skip"]);
  return await runPattern("map_reduce", options, async (run) => {
    const work = new MapReduce(provider, items, { options, run });
    run.keep(() => ({ mapped: work.outputs() }));
    await work.map();
    const value = await work.reduce();
    return run.result({ value, metadata: work.facts() });
  });
}

function checkItems(items: unknown): void {
  if (Array.isArray(items) && items.every((item) => typeof item === "string")) {
    checkNumber("the number of items", items.length, { min: 0, max: MAX_MAP_ITEMS });
    return;
  }
  throw new ConfigError("Cannot use items: wanted an array of texts, not a single text", {
    code: "argument",
  });
}

function checkTemplate(name: string, template: string, placeholder: string): void {
  if (checkText(name, template).includes(placeholder)) return;
  throw new ConfigError(`Cannot use option ${name}: it does not contain ${placeholder}`, {
    code: "argument",
  });
}

class MapReduce {
  readonly #provider: LlmProvider;
  readonly #items: readonly string[];
  readonly #options: MapReduceOptions;
  readonly #run: PatternRun;
  readonly #outputs: (string | undefined)[];
  readonly #failures = new Map<number, KitError>();
  #done = 0;
  #reduceCalls = 0;
  #truncated = 0;

  constructor(
    provider: LlmProvider,
    items: readonly string[],
    parts: { readonly options: MapReduceOptions; readonly run: PatternRun },
  ) {
    this.#provider = provider;
    this.#items = items;
    this.#options = parts.options;
    this.#run = parts.run;
    this.#outputs = new Array(items.length).fill(undefined);
  }

  outputs(): (string | null)[] {
    return this.#outputs.map((output) => output ?? null);
  }

  facts(): MapReduceMetadata {
    const failures = [...this.#failures].sort(([left], [right]) => left - right);
    return {
      mapCount: this.#items.length - failures.length,
      reduceCalls: this.#reduceCalls,
      totalCalls: this.#run.ledger.spent.llmCalls,
      truncatedResponses: this.#truncated,
      failures: failures.map(([index, { code, message }]) => ({ index, code, message })),
      ...(this.#options.includeMapped === true ? { mapped: this.outputs() } : {}),
    };
  }

  async map(): Promise<void> {
    await forEachIndex(this.#items.length, this.#concurrency(), (index) => this.#mapOne(index));
  }

  async reduce(): Promise<string> {
    let level = this.#outputs.filter((output) => output !== undefined);
    if (this.#items.length > 0 && level.length === 0) {
      throw chooseError([...this.#failures.values()]);
    }
    for (;;) {
      const groups = groupOutputs(level, this.#options.maxReduceChars ?? DEFAULT_MAX_REDUCE_CHARS);
      const answers: string[] = [];
      await forEachIndex(groups.length, this.#concurrency(), async (index) => {
        answers[index] = await this.#reduceGroup(groups[index] ?? [], {
          isLast: groups.length === 1,
        });
      });
      const [only] = answers;
      if (answers.length === 1 && only !== undefined) return only;
      level = answers;
    }
  }

  async #mapOne(index: number): Promise<void> {
    const { mapPrompt, onItemError = "fail" } = this.#options;
    const item = delimit("item", this.#items[index] ?? "", this.#run.ports.random);
    try {
      this.#outputs[index] = await this.#ask(mapPrompt.replaceAll(ITEM, () => item), {
        sampleIndex: index,
      });
    } catch (error) {
      const spent = error instanceof KitError && ["aborted", "budget"].includes(error.code);
      if (!(error instanceof KitError) || spent || onItemError === "fail") throw error;
      this.#failures.set(index, error);
    }
    this.#report(index);
  }

  async #reduceGroup(
    outputs: readonly string[],
    { isLast }: { readonly isLast: boolean },
  ): Promise<string> {
    const { random } = this.#run.ports;
    const shown = outputs.map((output) => delimit("output", output, random)).join("\n\n");
    const prompt = this.#options.reducePrompt.replaceAll(OUTPUTS, () => shown);
    const answer = await this.#ask(isLast ? prompt + this.#missing() : prompt, {});
    this.#reduceCalls += 1;
    return answer;
  }

  #missing(): string {
    if (this.#failures.size === 0) return "";
    const numbers = [...this.#failures.keys()].sort((left, right) => left - right);
    const told = numbers.slice(0, MAX_MISSING_TOLD).map((index) => index + 1).join(", ");
    const more = numbers.length > MAX_MISSING_TOLD ? ", and more" : "";
    return `\n\n${numbers.length} of ${this.#items.length} items are missing because they failed: ` +
      `numbers ${told}${more}.`;
  }

  async #ask(content: string, request: RequestOptions): Promise<string> {
    const { system, temperature } = this.#options;
    const messages: readonly Message[] = [
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content },
    ];
    const response = await this.#run.call(this.#provider, messages, {
      temperature: temperature ?? DEFAULT_TEMPERATURE,
      ...request,
    });
    if (response.finishReason === "length") this.#truncated += 1;
    return checkedText(response);
  }

  #concurrency(): number {
    return this.#options.maxConcurrency ?? DEFAULT_CONCURRENCY;
  }

  #report(index: number): void {
    this.#done += 1;
    notify(this.#options.onItem, {
      index,
      done: this.#done,
      total: this.#items.length,
      ok: !this.#failures.has(index),
    });
  }
}

function checkedText(response: LlmResponse): string {
  if (response.finishReason === "refusal") {
    throw new PatternError("pattern", "The model refused");
  }
  if (response.content.trim() === "") {
    throw new PatternError("pattern", "The model gave an answer without text");
  }
  return response.content;
}

/** Groups neighbours so that each group fits; at least two in a group, so that every level is shorter than the last. */
function groupOutputs(outputs: readonly string[], maxChars: number): readonly string[][] {
  const groups: string[][] = [[]];
  let chars = 0;
  for (const output of outputs) {
    const open = groups.at(-1) ?? [];
    if (open.length >= 2 && chars + output.length > maxChars) {
      groups.push([output]);
      chars = output.length;
    } else {
      open.push(output);
      chars += output.length;
    }
  }
  const last = groups.at(-1);
  // A single one at the end joins its neighbours: alone it would be reduced for nothing.
  if (groups.length > 1 && last?.length === 1) {
    groups.pop();
    groups.at(-1)?.push(...last);
  }
  return groups;
}
