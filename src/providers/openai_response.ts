/**
 * Answers in the form of chat completions, and what different servers make of it.
 *
 * @module
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  member,
} from "../json/mod.ts";
import {
  type FinishReason,
  LlmError,
  type LlmResponse,
  readToolArguments,
  splitReasoning,
  type TokenUsage,
  type ToolCall,
  toolCallsInText,
} from "../llm/mod.ts";
import { jsonDepthExceeds } from "./exchange.ts";
import { readBilled, readTokenUsage } from "./token_usage.ts";

/** What an answer said, before it is interpreted. Streams and whole answers meet here. */
export interface RawAnswer {
  /** The text. */
  readonly content: string;
  /** The thinking that came in a field of its own. */
  readonly reasoning: string;
  /** The calls, as they came. */
  readonly toolCalls: readonly RawToolCall[];
  /** The endpoint's word. */
  readonly finishReason: string | undefined;
  /** The refusal's text. */
  readonly refusal: string | undefined;
  /** The counts. */
  readonly usage: TokenUsage;
  /** The model's name. */
  readonly model: string | undefined;
  /** The answer's id. */
  readonly id: string | undefined;
}

/** A call, as it came. */
export interface RawToolCall {
  /** Its id, or `""`. */
  readonly id: string;
  /** Its name, or `""`. */
  readonly name: string;
  /** Its arguments. */
  readonly arguments: JsonValue | undefined;
  /** What the vendor wants back with it. */
  readonly extra: JsonValue | undefined;
}

/** Parses the body of an answer. Throws the problem as a text. */
export function parseBody(text: string, fail: (problem: string) => Error): JsonObject {
  const trimmed = text.trim();
  if (trimmed === "") throw fail("the body is empty");
  if (/^<(?:!doctype|html|head|body|\?xml)/i.test(trimmed)) {
    throw fail("it is a web page instead of JSON; check the base URL");
  }
  if (jsonDepthExceeds(trimmed, MAX_JSON_DEPTH)) {
    throw fail(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
  let body: JsonValue;
  try {
    body = JSON.parse(trimmed);
  } catch {
    throw fail("it is not JSON");
  }
  if (!isJsonObject(body)) throw fail("it is JSON, but not an object");
  return body;
}

/** Reads the body of a whole answer; the error of one that cannot be read has the counts that it carries. */
export function readAnswer(body: JsonObject, fail: (problem: string) => Error): RawAnswer {
  const usage = readTokenUsage(member(body, "usage"));
  return readBilled(usage, () => ({ ...readChoice(body, fail), usage }));
}

function readChoice(
  body: JsonObject,
  fail: (problem: string) => Error,
): Omit<RawAnswer, "usage"> {
  const choices = member(body, "choices");
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  if (choice === undefined) throw fail("it has no choices");
  const message = isJsonObject(choice) ? member(choice, "message") : undefined;
  if (!isJsonObject(choice) || !isJsonObject(message)) throw fail("its choice has no message");
  const parts = contentParts(member(message, "content"), fail);
  return {
    content: parts.text,
    reasoning: parts.reasoning || reasoningField(message),
    toolCalls: rawToolCalls(message, fail),
    finishReason: stringOf(member(choice, "finish_reason")),
    refusal: stringOf(member(message, "refusal")),
    model: stringOf(member(body, "model")),
    id: stringOf(member(body, "id")),
  };
}

/** A string that is not empty, or `undefined`. */
export function stringOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The thinking that servers put beside the text, by either name. */
export function reasoningField(message: JsonObject): string {
  for (const name of ["reasoning_content", "reasoning", "thinking"]) {
    const value = member(message, name);
    if (typeof value === "string") return value;
  }
  return "";
}

/** The text and the thinking of a content, which is a text, a list of parts, or absent. */
export function contentParts(
  content: JsonValue | undefined,
  fail: (problem: string) => Error,
): { readonly text: string; readonly reasoning: string } {
  if (content === undefined || content === null) return { text: "", reasoning: "" };
  if (typeof content === "string") return { text: content, reasoning: "" };
  if (!Array.isArray(content)) throw fail("its content is neither a text nor a list of parts");
  let text = "";
  let reasoning = "";
  for (const part of content) {
    if (isJsonObject(part) && member(part, "type") === "thinking") {
      reasoning += thinkingOf(member(part, "thinking"));
    } else text += textOfPart(part);
  }
  return { text, reasoning };
}

function thinkingOf(thinking: JsonValue | undefined): string {
  if (typeof thinking === "string") return thinking;
  return Array.isArray(thinking) ? thinking.map(textOfPart).join("") : "";
}

function textOfPart(part: JsonValue): string {
  if (typeof part === "string") return part;
  if (!isJsonObject(part)) return "";
  const type = member(part, "type");
  const text = member(part, "text");
  if (type === "text" || type === "output_text") {
    if (typeof text === "string") return text;
    return isJsonObject(text) ? stringOf(member(text, "value")) ?? "" : "";
  }
  return stringOf(member(part, "value")) ?? "";
}

function rawToolCalls(
  message: JsonObject,
  fail: (problem: string) => Error,
): readonly RawToolCall[] {
  const calls = member(message, "tool_calls");
  if (calls !== undefined && calls !== null) {
    if (!Array.isArray(calls)) throw fail("its tool_calls are not a list");
    if (calls.length > 0) return calls.map((call) => rawToolCall(call, fail));
  }
  const legacy = member(message, "function_call");
  return isJsonObject(legacy) ? [rawToolCall({ function: legacy }, fail)] : [];
}

function rawToolCall(call: JsonValue, fail: (problem: string) => Error): RawToolCall {
  const inner = isJsonObject(call) ? member(call, "function") : undefined;
  if (!isJsonObject(call) || !isJsonObject(inner)) throw fail("a tool call has no function");
  return {
    id: stringOf(member(call, "id")) ?? "",
    name: stringOf(member(inner, "name")) ?? "",
    arguments: member(inner, "arguments"),
    extra: member(call, "extra_content"),
  };
}

/** What interpreting needs to know. */
export interface Interpretation {
  /** The tools that were offered. */
  readonly offered: readonly string[];
  /** What was odd so far. */
  readonly warnings: readonly string[];
}

/**
 * Makes the answer that callers see.
 *
 * @throws {LlmError} `content_filter`, with the text so far as `partial` and what it cost as `usage`.
 */
export function interpret(raw: RawAnswer, context: Interpretation): LlmResponse {
  const finish = finishOf(raw);
  const split = splitReasoning(raw.content.toWellFormed());
  const reasoning = raw.reasoning === "" ? split.reasoning : raw.reasoning.toWellFormed();
  if (finish === "content_filter") throw filtered(split.content, raw.usage);
  const truncated = finish === "length";
  const named = namedCalls(raw.toolCalls, { truncated });
  const written = named.length === 0 && !truncated
    ? toolCallsInText(split.content, context.offered)
    : undefined;
  const toolCalls = written ?? named;
  const vendorData = vendorDataOf(raw, reasoning);
  return {
    content: written === undefined ? split.content : "",
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls,
    finishReason: written === undefined ? finish : "tool_calls",
    ...(raw.finishReason === undefined ? {} : { rawFinishReason: raw.finishReason }),
    ...(raw.refusal === undefined ? {} : { refusal: raw.refusal }),
    usage: raw.usage,
    warnings: [
      ...context.warnings,
      ...(written === undefined ? [] : ["The model wrote its tool calls as text"]),
      ...(raw.usage.known ? [] : ["The endpoint gave no counts of tokens that can be believed"]),
    ],
    ...(raw.model === undefined ? {} : { model: raw.model }),
    ...(raw.id === undefined ? {} : { id: raw.id }),
    ...(vendorData === undefined ? {} : { vendorData }),
  };
}

/** The error of an answer that a filter stopped. */
export function filtered(content: string, usage: TokenUsage): LlmError {
  return new LlmError("content_filter", "The answer was stopped by the endpoint's content filter", {
    partial: content,
    usage: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      llmCalls: 1,
      uncertainTokens: 0,
    },
    details: { usageKnown: usage.known },
  });
}

const FINISH: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "content_filter"],
  ["refusal", "refusal"],
]);

function finishOf(raw: RawAnswer): FinishReason {
  const finish = FINISH.get(raw.finishReason?.toLowerCase() ?? "") ?? "unknown";
  const refused = raw.refusal !== undefined && raw.content === "" && raw.toolCalls.length === 0;
  return refused && finish !== "content_filter" ? "refusal" : finish;
}

function namedCalls(
  calls: readonly RawToolCall[],
  options: { readonly truncated: boolean },
): readonly ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call, index) => {
    const id = uniqueId(call.id, { index, taken });
    const raw = typeof call.arguments === "string"
      ? call.arguments
      : JSON.stringify(call.arguments ?? {});
    const invalid = (problem: string): ToolCall => {
      return { kind: "invalid", id, name: call.name, rawArguments: raw, problem };
    };
    if (call.name === "") return invalid("The call names no tool");
    if (options.truncated) {
      return invalid("The answer was cut off at its length limit, so the call may be incomplete");
    }
    const read = readToolArguments(call.arguments);
    if (read.kind === "invalid") return invalid(read.problem);
    const repaired = read.repaired ? { repaired: true as const } : {};
    return { kind: "ok", id, name: call.name, arguments: read.arguments, ...repaired };
  });
}

function uniqueId(
  id: string,
  place: { readonly index: number; readonly taken: Set<string> },
): string {
  let unique = id;
  for (let number = place.index + 1; unique === "" || place.taken.has(unique); number += 1) {
    unique = `call_${number}`;
  }
  place.taken.add(unique);
  return unique;
}

/** Thinking and per-call data of the vendor, kept for turns that call tools: only those are sent back with it. */
function vendorDataOf(raw: RawAnswer, reasoning: string): JsonObject | undefined {
  if (raw.toolCalls.length === 0) return undefined;
  const extras: Record<string, JsonValue> = {};
  raw.toolCalls.forEach((call, index) => {
    if (call.extra !== undefined && call.extra !== null) extras[index] = call.extra;
  });
  const data = {
    ...(reasoning === "" ? {} : { "reasoning_content": reasoning }),
    ...(Object.keys(extras).length === 0 ? {} : { "tool_call_extras": extras }),
  };
  return Object.keys(data).length === 0 ? undefined : data;
}
