/**
 * A provider that asks no model: it plays a script, or gives short answers made of the prompt. For trying Kit without a key
 * and without a network.
 *
 * @module
 */
import { isJsonObject, type JsonValue, parseJson } from "../json/mod.ts";
import {
  AbortedError,
  type CompleteOptions,
  ConfigError,
  cutText,
  evaluateArithmetic,
  LlmError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  type StreamEvent,
  type ToolCall,
} from "../llm/mod.ts";

/** What a scripted model answers; the form of the scenario files of machines. */
export interface ProviderScript {
  /** Texts in order, `ok` after the last; or texts by a part of the last message, the first in order that occurs. */
  readonly produce?: readonly JsonValue[] | Readonly<Record<string, JsonValue>>;
  /** What a judge picks, in order, the last one for ever: an index among the conditions from 0, or `none`. */
  readonly judge?: readonly JsonValue[];
}

/** How {@linkcode createScriptedProvider} makes a provider. */
export interface ScriptedProviderOptions {
  /** What it plays; absent: answers made of the prompt, and the first condition of a judge is true. */
  readonly script?: ProviderScript;
  /** The model's name in results; default `scripted`. */
  readonly model?: string;
}

/** What every scripted answer says of itself. */
export const SCRIPTED_WARNING = "The answer is scripted: no model was asked";

/** Characters that count as one token. */
const CHARACTERS_PER_TOKEN = 4;

const EXCERPT_LENGTH = 60;

/** How much of a prompt is searched for something to do. */
const MAX_LOOKED_AT = 4000;

/**
 * Makes a provider that asks no model. Its answers depend on the script and the prompt alone.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const provider = createScriptedProvider({ script: { produce: ["Paris"] } });
 * const answer = await provider.complete([{ role: "user", content: "Capital of France?" }]);
 * assertEquals(answer.content, "Paris");
 * assertEquals(answer.model, "scripted");
 * ```
 *
 * @param options What it plays.
 * @returns The provider. Every answer has the warning that no model was asked.
 */
export function createScriptedProvider(options: ScriptedProviderOptions = {}): LlmProvider {
  return new ScriptedProvider(options);
}

class ScriptedProvider implements LlmProvider {
  readonly name = "scripted";
  readonly model: string;
  readonly supportsTools = true;
  readonly supportsResponseFormat = true;
  readonly #script: ProviderScript | undefined;
  #produced = 0;
  #judged = 0;

  constructor(options: ScriptedProviderOptions) {
    this.model = options.model ?? "scripted";
    this.#script = options.script;
  }

  // deno-lint-ignore require-await -- failures are rejections, as with every provider
  async complete(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): Promise<LlmResponse> {
    if (options.signal?.aborted) {
      throw new AbortedError(undefined, {
        cause: options.signal.reason,
        details: { sent: false },
      });
    }
    const last = messages.at(-1);
    if (last === undefined) throw new ConfigError("There is no message", { code: "argument" });
    const conditions = judgeConditions(messages);
    if (conditions !== undefined) return this.#respond(this.#judge(conditions), messages);
    if (this.#script !== undefined) return this.#respond(this.#play(last), messages);
    const call = toolCallFor(messages, options);
    if (call !== undefined) return this.#respond("", messages, call);
    return this.#respond(plainAnswer(messages, options), messages);
  }

  async *stream(
    messages: readonly Message[],
    options: CompleteOptions = {},
  ): AsyncGenerator<StreamEvent, void, void> {
    const response = await this.complete(messages, options);
    for (const word of response.content.match(/\S+\s*/g) ?? []) yield { type: "text", text: word };
    yield { type: "done", response };
  }

  #play(last: Message): string {
    const produce = this.#script?.produce ?? [];
    if (isList(produce)) {
      const value = produce[this.#produced];
      this.#produced += 1;
      return value === undefined ? "ok" : scriptText(value);
    }
    const prompt = last.content ?? "";
    for (const [part, value] of Object.entries(produce)) {
      if (prompt.includes(part)) return scriptText(value);
    }
    throw new LlmError(
      "bad_request",
      `The script has no answer to the prompt "${cutText(prompt, EXCERPT_LENGTH)}"`,
    );
  }

  #judge(conditions: number): string {
    const picks = this.#script?.judge;
    if (picks === undefined || picks.length === 0) {
      return choiceText(this.#script === undefined ? 1 : conditions);
    }
    const pick = picks[Math.min(this.#judged, picks.length - 1)];
    this.#judged += 1;
    if (typeof pick === "number") return choiceText(pick + 1);
    if (pick === "none") return choiceText(conditions + 1);
    throw new LlmError(
      "bad_request",
      `The script's judge picks ${JSON.stringify(pick)}: wanted an index or "none"`,
    );
  }

  #respond(content: string, messages: readonly Message[], call?: ToolCall): LlmResponse {
    return {
      content,
      toolCalls: call === undefined ? [] : [call],
      finishReason: call === undefined ? "stop" : "tool_calls",
      usage: {
        inputTokens: tokensOf(JSON.stringify(messages)),
        outputTokens: tokensOf(content),
        known: true,
      },
      warnings: [SCRIPTED_WARNING],
      model: this.model,
    };
  }
}

function isList(
  produce: readonly JsonValue[] | Readonly<Record<string, JsonValue>>,
): produce is readonly JsonValue[] {
  return Array.isArray(produce);
}

function scriptText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function choiceText(choice: number): string {
  return `{"choice": ${choice}}`;
}

function tokensOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_TOKEN));
}

/** How many conditions a judge is shown beside "none of them", or `undefined` if nobody is asked to judge. */
function judgeConditions(messages: readonly Message[]): number | undefined {
  const system = messages[0]?.role === "system" ? messages[0].content : "";
  if (!/\{"choice":/.test(system)) return undefined;
  const user = messages.at(-1)?.content ?? "";
  const numbers = [...user.matchAll(/^(\d{1,4})[.)]\s/gm)].map((match) => Number(match[1]));
  return Math.max(1, (numbers.at(-1) ?? 2) - 1);
}

/** A calculation in the prompt goes to the calculator if there is one, a text in quotes to `echo`; once. */
function toolCallFor(messages: readonly Message[], options: CompleteOptions): ToolCall | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user" || options.toolChoice === "none") return undefined;
  const offered = new Set((options.tools ?? []).map((tool) => tool.name));
  const expression = calculationIn(last.content);
  if (offered.has("calculator") && expression !== undefined) {
    return { kind: "ok", id: "call_1", name: "calculator", arguments: { expression } };
  }
  const quoted = /\becho\b.*?"([^"]{1,200})"/is.exec(last.content.slice(0, MAX_LOOKED_AT))
    ?.[1];
  return offered.has("echo") && quoted !== undefined
    ? { kind: "ok", id: "call_1", name: "echo", arguments: { text: quoted } }
    : undefined;
}

function calculationIn(prompt: string): string | undefined {
  for (const match of prompt.slice(0, MAX_LOOKED_AT).matchAll(/[\d(][\d\s.()+*/%-]*[\d)]/g)) {
    const expression = match[0].trim();
    if (/\d\s*[-+*/%]/.test(expression) && evaluateArithmetic(expression).ok) return expression;
  }
  return undefined;
}

function plainAnswer(messages: readonly Message[], options: CompleteOptions): string {
  const last = messages.at(-1);
  if (last?.role === "tool") return `The tool says ${toolOutput(last.content)}.`;
  const prompt = last?.content ?? "";
  if (/"score"\s*:/.test(prompt)) return '{"score": 7}';
  const plain = prompt.replace(/<\/?data-[0-9a-f]{1,32}>/g, " ").trim().replace(/\s+/g, " ");
  const excerpt = cutText(plain, EXCERPT_LENGTH);
  return options.responseFormat === undefined
    ? `Scripted answer to: ${excerpt}`
    : JSON.stringify({ answer: `Scripted answer to: ${excerpt}` });
}

function toolOutput(observation: string): string {
  try {
    const value = parseJson(observation);
    const output = isJsonObject(value) ? value["output"] : undefined;
    return typeof output === "string" ? output : cutText(observation, EXCERPT_LENGTH);
  } catch {
    return cutText(observation, EXCERPT_LENGTH);
  }
}
