/**
 * Answers in the form of Anthropic's Messages API, whole or in parts.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member, parseJson } from "../json/mod.ts";
import {
  type FinishReason,
  isTokenCount,
  type LlmResponse,
  type TokenUsage,
  type ToolCall,
} from "../llm/mod.ts";
import { filtered, stringOf } from "./openai_response.ts";
import { NO_REPORT, readBilled } from "./token_usage.ts";

/** What an answer says. */
export interface AnthropicAnswer {
  /** Its blocks in order. */
  readonly blocks: readonly JsonObject[];
  /** The endpoint's word for why the model stopped. */
  readonly stopReason: string | undefined;
  /** The counts. */
  readonly usage: TokenUsage;
  /** The model's name. */
  readonly model: string | undefined;
  /** The answer's id. */
  readonly id: string | undefined;
}

/** Reads the body of a whole answer; the error of one that cannot be read has the counts that it carries. */
export function readAnthropicAnswer(
  body: JsonObject,
  fail: (problem: string) => Error,
): AnthropicAnswer {
  const usage = readAnthropicUsage(member(body, "usage"));
  return readBilled(usage, () => {
    const content = member(body, "content");
    if (!Array.isArray(content)) throw fail("it has no list of content");
    return {
      blocks: content.filter(isJsonObject),
      stopReason: stringOf(member(body, "stop_reason")),
      usage,
      model: stringOf(member(body, "model")),
      id: stringOf(member(body, "id")),
    };
  });
}

/** Prompt tokens are split by whether they were cached; together they are what was read. */
export function readAnthropicUsage(usage: JsonValue | undefined): TokenUsage {
  if (!isJsonObject(usage)) return NO_REPORT;
  const input = countOf(member(usage, "input_tokens"));
  const output = countOf(member(usage, "output_tokens"));
  const written = countOf(member(usage, "cache_creation_input_tokens")) ?? 0;
  const read = countOf(member(usage, "cache_read_input_tokens")) ?? 0;
  const inputTokens = (input ?? 0) + written + read;
  const known = input !== undefined && output !== undefined && inputTokens + output > 0;
  return { inputTokens, outputTokens: output ?? 0, known };
}

function countOf(value: JsonValue | undefined): number | undefined {
  return isTokenCount(value) ? value : undefined;
}

const FINISH: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "refusal"],
  ["content_filter", "content_filter"],
]);

/** Makes the answer that callers see. */
export function interpretAnthropic(answer: AnthropicAnswer): LlmResponse {
  const finishReason = FINISH.get(answer.stopReason ?? "") ?? "unknown";
  const content = joined(answer.blocks, "text");
  if (finishReason === "content_filter") throw filtered(content, answer.usage);
  const reasoning = joined(answer.blocks, "thinking");
  const toolCalls = toolCallsOf(answer.blocks, finishReason);
  const thinking = answer.blocks.filter((block) =>
    ["thinking", "redacted_thinking"].includes(String(member(block, "type")))
  );
  const refused = finishReason === "refusal" && content !== "";
  return {
    content: refused ? "" : content,
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls,
    finishReason,
    ...(answer.stopReason === undefined ? {} : { rawFinishReason: answer.stopReason }),
    ...(refused ? { refusal: content } : {}),
    usage: answer.usage,
    warnings: answer.usage.known
      ? []
      : ["The endpoint gave no counts of tokens that can be believed"],
    ...(answer.model === undefined ? {} : { model: answer.model }),
    ...(answer.id === undefined ? {} : { id: answer.id }),
    ...(thinking.length === 0 || toolCalls.length === 0
      ? {}
      : { vendorData: { "thinking_blocks": thinking } }),
  };
}

function joined(blocks: readonly JsonObject[], type: "text" | "thinking"): string {
  return blocks.filter((block) => member(block, "type") === type)
    .map((block) => stringOf(member(block, type)) ?? "").join("").toWellFormed();
}

function toolCallsOf(
  blocks: readonly JsonObject[],
  finishReason: FinishReason,
): readonly ToolCall[] {
  const uses = blocks.filter((block) => member(block, "type") === "tool_use");
  return uses.map((block, index) => {
    const id = stringOf(member(block, "id")) ?? `call_${index + 1}`;
    const name = stringOf(member(block, "name")) ?? "";
    const input = member(block, "input") ?? {};
    const invalid = (problem: string): ToolCall => {
      const rawArguments = typeof input === "string" ? input : JSON.stringify(input);
      return { kind: "invalid", id, name, rawArguments, problem };
    };
    if (finishReason === "length") {
      return invalid("The answer was cut off at its length limit, so the call may be incomplete");
    }
    if (name === "") return invalid("The call names no tool");
    return isJsonObject(input)
      ? { kind: "ok", id, name, arguments: input }
      : invalid("The arguments are not a JSON object");
  });
}

/** Takes the events of a stream and becomes an answer. */
export class AnthropicAssembler {
  readonly #blocks: Map<number, Record<string, JsonValue>> = new Map();
  readonly #inputs: Map<number, string> = new Map();
  #usage: Record<string, JsonValue> = {};
  #stopReason: string | undefined;
  #model: string | undefined;
  #id: string | undefined;
  #stopped = false;

  /** Whether the end has come. */
  get finished(): boolean {
    return this.#stopped || this.#stopReason !== undefined;
  }

  /**
   * Takes one event.
   *
   * @param event Its data, parsed.
   * @returns What it added to the text and to the thinking.
   */
  push(event: JsonObject): { readonly text: string; readonly reasoning: string } {
    switch (member(event, "type")) {
      case "message_start":
        this.#start(member(event, "message"));
        break;
      case "content_block_start":
        this.#open(event);
        break;
      case "content_block_delta":
        return this.#add(event);
      case "message_delta":
        this.#finish(event);
        break;
      case "message_stop":
        this.#stopped = true;
    }
    return NOTHING_ADDED;
  }

  /** The answer so far. Arguments that are not JSON stay texts. */
  answer(): AnthropicAnswer {
    const blocks = [...this.#blocks].sort(([left], [right]) => left - right)
      .map(([index, block]) => {
        const input = this.#inputs.get(index);
        return input === undefined ? block : { ...block, input: parsedInput(input) };
      });
    return {
      blocks,
      stopReason: this.#stopReason,
      usage: readAnthropicUsage(this.#usage),
      model: this.#model,
      id: this.#id,
    };
  }

  #start(message: JsonValue | undefined): void {
    if (!isJsonObject(message)) return;
    this.#model = stringOf(member(message, "model"));
    this.#id = stringOf(member(message, "id"));
    this.#mergeUsage(member(message, "usage"));
  }

  #open(event: JsonObject): void {
    const block = member(event, "content_block");
    if (isJsonObject(block)) this.#blocks.set(indexOf(event), { ...block });
  }

  #add(event: JsonObject): { readonly text: string; readonly reasoning: string } {
    const index = indexOf(event);
    const delta = member(event, "delta");
    const block = this.#blocks.get(index);
    if (!isJsonObject(delta) || block === undefined) return NOTHING_ADDED;
    const append = (field: string, piece: string): void => {
      block[field] = `${stringOf(block[field]) ?? ""}${piece}`;
    };
    const text = stringOf(member(delta, "text")) ?? "";
    const thinking = stringOf(member(delta, "thinking")) ?? "";
    const signature = stringOf(member(delta, "signature")) ?? "";
    const input = stringOf(member(delta, "partial_json")) ?? "";
    if (text !== "") append("text", text);
    if (thinking !== "") append("thinking", thinking);
    if (signature !== "") append("signature", signature);
    if (input !== "") this.#inputs.set(index, (this.#inputs.get(index) ?? "") + input);
    return { text, reasoning: thinking };
  }

  #finish(event: JsonObject): void {
    const delta = member(event, "delta");
    if (isJsonObject(delta)) this.#stopReason = stringOf(member(delta, "stop_reason"));
    this.#mergeUsage(member(event, "usage"));
  }

  #mergeUsage(usage: JsonValue | undefined): void {
    if (isJsonObject(usage)) this.#usage = { ...this.#usage, ...usage };
  }
}

const NOTHING_ADDED = { text: "", reasoning: "" };

function indexOf(event: JsonObject): number {
  const index = member(event, "index");
  return typeof index === "number" ? index : 0;
}

function parsedInput(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
