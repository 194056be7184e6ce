/**
 * Requests in the form of chat completions.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { type CompleteOptions, ConfigError, type Message, type ToolCall } from "../llm/mod.ts";

/** How requests of one endpoint are written. */
export interface OpenAiDialect {
  /** The model. */
  readonly model: string;
  /** The temperature where the caller gives none; `undefined` leaves the field out. */
  readonly defaultTemperature: number | undefined;
  /** The limit where the caller gives none; `undefined` leaves the field out. */
  readonly defaultMaxTokens: number | undefined;
  /** The field of the limit. */
  readonly tokenLimitField: "max_tokens" | "max_completion_tokens";
  /** What is sent along where thinking is asked for. */
  readonly reasoningParameters: JsonObject | undefined;
  /** Optional fields that the endpoint has refused. */
  readonly dropped: ReadonlySet<string>;
  /** Whether thinking is sent back with the turns it belongs to. */
  readonly replayReasoning: boolean;
  /** Whether ids of tool calls must be nine letters or digits. */
  readonly shortToolCallIds: boolean;
}

/** Fields that the provider writes itself. */
const RESERVED = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "temperature",
  "max_tokens",
  "max_completion_tokens",
  "response_format",
  "seed",
  "stop",
  "n",
]);

/**
 * Writes the body of a request.
 *
 * @param messages The conversation.
 * @param options How it is asked, and whether in parts.
 * @param dialect How this endpoint wants it.
 * @returns The body.
 * @throws {ConfigError} If there is no message, a number is not finite, or `extra` has a field that the provider writes.
 */
export function openAiBody(
  messages: readonly Message[],
  options: CompleteOptions & { readonly streamed?: boolean },
  dialect: OpenAiDialect,
): JsonObject {
  if (messages.length === 0) throw new ConfigError("There is no message", { code: "argument" });
  checkExtra(options.extra, "extra");
  const maxTokens = options.maxTokens ?? dialect.defaultMaxTokens;
  const tools = options.tools ?? [];
  const body = compact({
    model: dialect.model,
    messages: messages.flatMap((message) => wireMessage(message, dialect)),
    temperature: thinkingIsOn(options.extra)
      ? undefined
      : options.temperature ?? dialect.defaultTemperature,
    [dialect.tokenLimitField]: maxTokens,
    tools: tools.length === 0 ? undefined : tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
    tool_choice: tools.length === 0 ? undefined : options.toolChoice,
    response_format: options.responseFormat,
    seed: options.seed,
    stop: options.stop === undefined || options.stop.length === 0 ? undefined : options.stop,
    ...(options.streamed === true ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...(options.reasoning === true ? dialect.reasoningParameters : {}),
    ...options.extra,
  });
  for (const field of dialect.dropped) Reflect.deleteProperty(body, field);
  checkNumbers(body, "");
  return body;
}

/**
 * Whether the vendor's own switch for thinking is on: endpoints that have it refuse a temperature beside it.
 *
 * @param extra The vendor fields of a call.
 * @returns Whether `thinking` is an object of another type than `disabled`.
 */
export function thinkingIsOn(extra: CompleteOptions["extra"]): boolean {
  const thinking = extra?.["thinking"];
  return isJsonObject(thinking) && member(thinking, "type") !== "disabled";
}

function compact(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const body: Record<string, JsonValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) body[name] = value;
  }
  return body;
}

/**
 * Checks fields that are sent beside those that the provider writes: they would get around the limits of the call.
 *
 * @param extra The fields.
 * @param option The option that they come from.
 * @throws {ConfigError} If the provider writes one of them itself; code `argument`.
 */
export function checkExtra(
  extra: CompleteOptions["extra"],
  option: "extra" | "reasoningParameters",
): void {
  for (const name of Object.keys(extra ?? {})) {
    if (RESERVED.has(name)) {
      throw new ConfigError(
        `Cannot send ${option} field "${name}": it is written from the options; use those`,
        { code: "argument" },
      );
    }
  }
}

/** JSON has no NaN and no Infinity: `JSON.stringify` would write null in their place without a word. */
export function checkNumbers(value: JsonValue, path: string): void {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) {
      throw new ConfigError(
        `Cannot send ${path.slice(1)}: it is ${value}, wanted a finite number`,
        {
          code: "argument",
        },
      );
    }
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => checkNumbers(item, `${path}.${index}`));
  } else if (isJsonObject(value)) {
    for (const [key, part] of Object.entries(value)) checkNumbers(part, `${path}.${key}`);
  }
}

function wireMessage(message: Message, dialect: OpenAiDialect): JsonObject {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content.toWellFormed() };
    case "tool":
      return {
        role: "tool",
        tool_call_id: wireId(message.toolCallId, dialect),
        content: message.content.toWellFormed(),
      };
    case "assistant":
      return wireAssistant(message, dialect);
  }
}

function wireAssistant(
  message: Extract<Message, { role: "assistant" }>,
  dialect: OpenAiDialect,
): JsonObject {
  const text = message.content?.toWellFormed() ?? "";
  const calls = message.toolCalls ?? [];
  const kept = isJsonObject(message.vendorData) ? message.vendorData : {};
  const reasoning = member(kept, "reasoning_content");
  const extras = member(kept, "tool_call_extras");
  return {
    role: "assistant",
    content: calls.length > 0 && text === "" ? null : text,
    ...(dialect.replayReasoning && typeof reasoning === "string"
      ? { reasoning_content: reasoning }
      : {}),
    ...(calls.length === 0 ? {} : {
      tool_calls: calls.map((call, index) => ({
        id: wireId(call.id, dialect),
        type: "function",
        function: { name: wireName(call.name), arguments: wireArguments(call) },
        ...extraOf(extras, index),
      })),
    }),
  };
}

function extraOf(extras: JsonValue | undefined, index: number): JsonObject {
  const extra = isJsonObject(extras) ? member(extras, String(index)) : undefined;
  return extra === undefined ? {} : { extra_content: extra };
}

const MAX_TOOL_NAME = 64;

/** A name that the model made up may be refused when it is sent back. */
export function wireName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_TOOL_NAME);
  return clean === "" ? "unnamed" : clean;
}

const MAX_RAW_ARGUMENTS = 2000;

/** Arguments that are no JSON are sent back within JSON, since many servers parse them. */
function wireArguments(call: ToolCall): string {
  return call.kind === "ok"
    ? JSON.stringify(call.arguments)
    : JSON.stringify({ unusable_arguments: call.rawArguments.slice(0, MAX_RAW_ARGUMENTS) });
}

const SHORT_ID = /^[A-Za-z0-9]{9}$/;
const SHORT_ID_LENGTH = 9;
const BASE = 36;

function wireId(id: string, dialect: OpenAiDialect): string {
  return dialect.shortToolCallIds && !SHORT_ID.test(id) ? shortId(id) : id;
}

/** Nine letters or digits that depend on the id alone, so that a call and its result keep their tie. */
function shortId(id: string): string {
  let first = 0x811c9dc5;
  let second = 0x1000193;
  for (const character of id) {
    const point = character.codePointAt(0) ?? 0;
    first = Math.imul(first ^ point, 0x01000193) >>> 0;
    second = Math.imul(second + point, 0x85ebca6b) >>> 0;
  }
  return (first.toString(BASE) + second.toString(BASE)).padEnd(SHORT_ID_LENGTH, "0")
    .slice(-SHORT_ID_LENGTH);
}
