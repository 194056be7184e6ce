/**
 * Answers as JSON values that fit a schema.
 *
 * @module
 */
import {
  type CompiledSchema,
  compileSchema,
  type JsonObject,
  type JsonValue,
} from "../json/mod.ts";
import {
  ConfigError,
  DEFAULT_MAX_TOKENS,
  extractJson,
  type LlmProvider,
  type LlmResponse,
  type Message,
  PatternError,
} from "../llm/mod.ts";
import {
  checkFunction,
  checkNames,
  checkNumber,
  checkProvider,
  checkText,
  checkWord,
  COMMON_NAMES,
  type PatternResult,
} from "./options.ts";
import { type PatternRun, runPattern } from "./run_pattern.ts";
import type { StructuredMetadata, StructuredOptions, Validator } from "./structured_options.ts";
import { delimit, truncateText } from "./text_limits.ts";

const DEFAULT_MAX_REPAIRS = 3;
const STRUCTURED_NAMES = {
  ...COMMON_NAMES,
  schema: true,
  validator: true,
  maxRepairs: true,
  pick: true,
  mend: true,
} satisfies Record<keyof StructuredOptions, true>;
/** Most characters of a previous answer that are shown when it is to be corrected. */
const MAX_QUOTED_REPLY = 8000;
const MAX_QUOTED_PROBLEM = 2000;

/**
 * Asks for a JSON value, and asks again with the reason when the answer cannot be used.
 *
 * The value is found wherever the answer has it: by itself, in a fence, in prose. Thinking before the answer does not
 * count. An answer that was cut off is never completed: it is asked for again with twice the room.
 *
 * @example
 * ```ts
 * import { structured } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider(['Sure: {"city": "Paris"}', '{"city": "Paris", "people": 2100000}']);
 * const { value, metadata } = await structured(model, "Which is the capital of France?", {
 *   schema: {
 *     type: "object",
 *     properties: { city: { type: "string" }, people: { type: "integer" } },
 *     required: ["city", "people"],
 *   },
 * });
 * assertEquals(value, { city: "Paris", people: 2100000 });
 * assertEquals(metadata.repairAttempts, 1);
 * ```
 *
 * @param provider Whom to ask.
 * @param prompt What is wanted, not blank.
 * @param options The schema, and how often to ask again.
 * @returns The value: an object or array; any JSON value where a schema is given.
 * @throws {ConfigError} Before anything is spent: code `argument`, also for a schema that cannot be used.
 * @throws {PatternError} Code `structured`, if no answer could be used or the model refused; `details.errors` says what
 * was wrong with each answer, `partial` is the last answer's text.
 */
export async function structured(
  provider: LlmProvider,
  prompt: string,
  options: StructuredOptions = {},
): Promise<PatternResult<JsonValue, StructuredMetadata>> {
  checkNames("structured", options, STRUCTURED_NAMES);
  checkFunction("option validator", options.validator);
  checkProvider(provider);
  checkText("prompt", prompt);
  checkNumber("maxRepairs", options.maxRepairs ?? DEFAULT_MAX_REPAIRS, { min: 0 });
  checkWord("pick", options.pick ?? "only", ["only", "first", "last"]);
  const schema = options.schema === undefined ? undefined : await prepareSchema(options.schema);
  return await runPattern("structured", options, async (run) => {
    const request = new StructuredRequest({ provider, prompt, options, schema, run });
    run.keep(() => request.lastText);
    return await request.ask();
  });
}

async function prepareSchema(schema: JsonObject): Promise<CompiledSchema> {
  try {
    return await compileSchema(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`Cannot use option schema: ${problem}`, {
      code: "argument",
      cause: error,
    });
  }
}

/** What one answer came to. */
type Reading =
  | { readonly kind: "value"; readonly value: JsonValue; readonly mended: boolean }
  | { readonly kind: "unusable"; readonly problem: string; readonly cutOff: boolean };

class StructuredRequest {
  readonly #provider: LlmProvider;
  readonly #prompt: string;
  readonly #options: StructuredOptions;
  readonly #schema: CompiledSchema | undefined;
  readonly #run: PatternRun;
  readonly #errors: string[] = [];
  #lastText = "";

  constructor(parts: {
    readonly provider: LlmProvider;
    readonly prompt: string;
    readonly options: StructuredOptions;
    readonly schema: CompiledSchema | undefined;
    readonly run: PatternRun;
  }) {
    this.#provider = parts.provider;
    this.#prompt = parts.prompt;
    this.#options = parts.options;
    this.#schema = parts.schema;
    this.#run = parts.run;
  }

  get lastText(): string {
    return this.#lastText;
  }

  async ask(): Promise<PatternResult<JsonValue, StructuredMetadata>> {
    const attempts = (this.#options.maxRepairs ?? DEFAULT_MAX_REPAIRS) + 1;
    let maxTokens = this.#options.maxTokens ?? DEFAULT_MAX_TOKENS;
    let messages = this.#messages(this.#task());
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const response = await this.#send(messages, { maxTokens, round: attempt });
      const reading = await this.#read(response);
      if (reading.kind === "value") return this.#result(reading, response, attempt);
      this.#errors.push(reading.problem);
      if (reading.cutOff) maxTokens *= 2;
      else messages = this.#messages(this.#repairTask(reading.problem));
    }
    throw this.#failure(
      `Cannot get a usable answer in ${attempts} attempts: ${this.#errors.at(-1)}`,
    );
  }

  async #send(
    messages: readonly Message[],
    { maxTokens, round }: { readonly maxTokens: number; readonly round: number },
  ): Promise<LlmResponse> {
    const { schema, temperature } = this.#options;
    const response = await this.#run.call(this.#provider, messages, {
      temperature: temperature ?? 0,
      maxTokens,
      round,
      outputType: "json",
      ...(schema !== undefined && this.#provider.supportsResponseFormat === true
        ? {
          responseFormat: { type: "json_schema", json_schema: { name: "answer", schema } },
        }
        : {}),
    });
    this.#lastText = response.content;
    if (response.finishReason === "refusal") {
      throw this.#failure("Cannot get an answer: the model refused");
    }
    return response;
  }

  async #read(response: LlmResponse): Promise<Reading> {
    const schema = this.#schema;
    const cutOff = response.finishReason === "length";
    const found = extractJson(response.content, {
      truncated: cutOff,
      scalars: schema !== undefined,
      repair: this.#options.mend ?? true,
      pick: this.#options.pick ?? "only",
      ...(schema === undefined ? {} : { accept: (value) => schema.validate(value) }),
    });
    if (found.kind === "error") return { kind: "unusable", problem: found.message, cutOff };
    const rejection = await this.#validate(found.value);
    return rejection === undefined
      ? { kind: "value", value: found.value, mended: found.repaired }
      : { kind: "unusable", problem: rejection, cutOff: false };
  }

  async #validate(value: JsonValue): Promise<string | undefined> {
    const validator: Validator | undefined = this.#options.validator;
    if (validator === undefined) return undefined;
    const verdict = await validator(value);
    if (verdict === undefined || verdict === null || verdict === true || verdict === "") {
      return undefined;
    }
    if (verdict === false) return "The value was rejected";
    if (typeof verdict === "string") return verdict;
    throw new TypeError(
      `The validator gave ${typeof verdict}, wanted null, a boolean or a text`,
    );
  }

  #result(
    reading: Extract<Reading, { kind: "value" }>,
    response: LlmResponse,
    attempts: number,
  ): PatternResult<JsonValue, StructuredMetadata> {
    const { reasoning } = response;
    return this.#run.result({
      value: reading.value,
      metadata: {
        parseAttempts: attempts,
        repairAttempts: attempts - 1,
        validated: this.#schema !== undefined || this.#options.validator !== undefined,
        mended: reading.mended,
        ...(reasoning === undefined ? {} : { reasoning }),
      },
    });
  }

  #failure(message: string): PatternError {
    return new PatternError("structured", message, {
      details: {
        errors: [...this.#errors],
        lastText: truncateText(this.#lastText, MAX_QUOTED_REPLY).text,
      },
    });
  }

  #messages(content: string): readonly Message[] {
    const { system } = this.#options;
    return [
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content },
    ];
  }

  #task(): string {
    const { schema } = this.#options;
    const form = schema === undefined
      ? "Answer with nothing but one JSON object or array: no code fence, no comment."
      : "Answer with nothing but JSON that fits this JSON Schema, no code fence, no comment:\n" +
        JSON.stringify(schema);
    return `${form}\n\n${this.#prompt}`;
  }

  /** Only the latest answer is shown: earlier ones cost tokens and mislead. */
  #repairTask(problem: string): string {
    const { random } = this.#run.ports;
    const quoted = this.#lastText.trim() === ""
      ? "Your previous answer was empty."
      : `Your previous answer, as data:\n${
        delimit("previous", truncateText(this.#lastText, MAX_QUOTED_REPLY).text, random)
      }`;
    const reason = truncateText(problem, MAX_QUOTED_PROBLEM).text;
    return `${this.#task()}\n\n${quoted}\n\nIt cannot be used: ${reason}\n` +
      "Answer again with the corrected JSON alone.";
  }
}
