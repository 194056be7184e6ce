/**
 * The parts of a streamed chat completion, put together.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type { TokenUsage } from "../llm/mod.ts";
import { contentParts, type RawAnswer, reasoningField, stringOf } from "./openai_response.ts";
import { NO_REPORT, readTokenUsage } from "./token_usage.ts";

/** What a chunk added. */
export interface ChunkDelta {
  /** To the text. */
  readonly text: string;
  /** To the thinking. */
  readonly reasoning: string;
}

interface CallParts {
  id: string;
  name: string;
  arguments: string;
  whole: JsonValue | undefined;
  extra: JsonValue | undefined;
}

/** Takes chunks and becomes an answer. */
export class ChunkAssembler {
  #content = "";
  #reasoning = "";
  #refusal = "";
  #finish: string | undefined;
  #usage: TokenUsage = NO_REPORT;
  #model: string | undefined;
  #id: string | undefined;
  readonly #calls: Map<number, CallParts> = new Map();

  /** Whether the model has said why it stopped. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /**
   * Takes one chunk.
   *
   * @param chunk The parsed data of an event.
   * @param fail Makes the error of a problem.
   * @returns What it added.
   */
  push(chunk: JsonObject, fail: (problem: string) => Error): ChunkDelta {
    this.#model ??= stringOf(member(chunk, "model"));
    this.#id ??= stringOf(member(chunk, "id"));
    const usage = readTokenUsage(member(chunk, "usage"));
    if (usage.known) this.#usage = usage;
    const choices = member(chunk, "choices");
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return { text: "", reasoning: "" };
    this.#finish = stringOf(member(choice, "finish_reason")) ?? this.#finish;
    const delta = member(choice, "delta") ?? member(choice, "message");
    return isJsonObject(delta) ? this.#add(delta, fail) : { text: "", reasoning: "" };
  }

  /** The answer so far. */
  answer(): RawAnswer {
    return {
      content: this.#content,
      reasoning: this.#reasoning,
      toolCalls: [...this.#calls.values()].map((call) => ({
        id: call.id,
        name: call.name,
        arguments: call.arguments === "" ? call.whole : call.arguments,
        extra: call.extra,
      })),
      finishReason: this.#finish,
      refusal: this.#refusal === "" ? undefined : this.#refusal,
      usage: this.#usage,
      model: this.#model,
      id: this.#id,
    };
  }

  #add(delta: JsonObject, fail: (problem: string) => Error): ChunkDelta {
    const parts = contentParts(member(delta, "content"), fail);
    const reasoning = parts.reasoning + reasoningField(delta);
    this.#content += parts.text;
    this.#reasoning += reasoning;
    this.#refusal += stringOf(member(delta, "refusal")) ?? "";
    const calls = member(delta, "tool_calls");
    if (Array.isArray(calls)) { for (const call of calls) this.#addCall(call); }
    const legacy = member(delta, "function_call");
    if (isJsonObject(legacy)) this.#addCall({ index: 0, function: legacy });
    return { text: parts.text, reasoning };
  }

  #addCall(call: JsonValue): void {
    if (!isJsonObject(call)) return;
    const parts = this.#callParts(call);
    parts.id ||= stringOf(member(call, "id")) ?? "";
    parts.extra ??= member(call, "extra_content");
    const inner = member(call, "function");
    if (!isJsonObject(inner)) return;
    parts.name ||= stringOf(member(inner, "name")) ?? "";
    const piece = member(inner, "arguments");
    if (typeof piece === "string") parts.arguments += piece;
    else if (isJsonObject(piece)) parts.whole = piece;
  }

  /** The call that a piece belongs to: by its index; without one a new id begins a new call. */
  #callParts(call: JsonObject): CallParts {
    const index = member(call, "index");
    const id = stringOf(member(call, "id"));
    const last = this.#calls.size - 1;
    let place = typeof index === "number" ? index : Math.max(0, last);
    const there = this.#calls.get(place);
    const isOther = id !== undefined && there !== undefined && there.id !== "" && there.id !== id;
    if (isOther) place = last + 1;
    const known = this.#calls.get(place);
    if (known !== undefined) return known;
    const fresh: CallParts = {
      id: "",
      name: "",
      arguments: "",
      whole: undefined,
      extra: undefined,
    };
    this.#calls.set(place, fresh);
    return fresh;
  }
}
