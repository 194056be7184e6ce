/**
 * Requests in the form of Anthropic's Messages API.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { type CompleteOptions, ConfigError, type Message } from "../llm/mod.ts";
import { checkNumbers, thinkingIsOn, wireName } from "./openai_request.ts";

/** How requests are written. */
export interface AnthropicDialect {
  /** The model. */
  readonly model: string;
  /** The temperature where the caller gives none. */
  readonly defaultTemperature: number | undefined;
  /** The limit where the caller gives none; the API wants one. */
  readonly defaultMaxTokens: number;
  /** What `thinking` is set to where thinking is asked for. */
  readonly thinking: JsonObject;
}

/** Fields that the provider writes itself. */
const RESERVED = new Set([
  "model",
  "messages",
  "system",
  "stream",
  "tools",
  "tool_choice",
  "temperature",
  "max_tokens",
  "stop_sequences",
]);

const TOOL_CHOICE: Readonly<Record<"auto" | "none" | "required", string>> = {
  auto: "auto",
  none: "none",
  required: "any",
};

/**
 * Writes the body of a request. Where thinking is on, no temperature is sent: the API refuses both together.
 *
 * @param messages The conversation.
 * @param options How it is asked, and whether in parts.
 * @param dialect How this endpoint wants it.
 * @returns The body.
 * @throws {ConfigError} If there is no message, a number is not finite, or `extra` has a field that the provider writes.
 */
export function anthropicBody(
  messages: readonly Message[],
  options: CompleteOptions & { readonly streamed?: boolean },
  dialect: AnthropicDialect,
): JsonObject {
  checkExtra(options.extra);
  const system = messages.map((message) => message.role === "system" ? message.content : "")
    .filter((text) => text !== "").join("\n\n").toWellFormed();
  const turns = wireTurns(messages);
  if (turns.length === 0) throw new ConfigError("There is no message", { code: "argument" });
  const tools = options.tools ?? [];
  const thinking = options.reasoning === true;
  const temperature = thinking || thinkingIsOn(options.extra)
    ? undefined
    : options.temperature ?? dialect.defaultTemperature;
  const maxTokens = options.maxTokens ?? dialect.defaultMaxTokens;
  const body: Record<string, JsonValue> = { model: dialect.model, messages: turns };
  const set = (field: string, value: JsonValue | undefined): void => {
    if (value !== undefined) body[field] = value;
  };
  set("max_tokens", maxTokens);
  set("system", system === "" ? undefined : system);
  set("temperature", temperature);
  set("stop_sequences", options.stop === undefined ? undefined : [...options.stop]);
  set("stream", options.streamed === true ? options.streamed : undefined);
  set("thinking", thinking ? dialect.thinking : undefined);
  if (tools.length > 0) {
    set(
      "tools",
      tools.map(({ name, description, parameters }) => ({
        name,
        description,
        "input_schema": parameters,
      })),
    );
    const choice = options.toolChoice;
    set("tool_choice", choice === undefined ? undefined : { type: TOOL_CHOICE[choice] });
  }
  Object.assign(body, options.extra);
  checkNumbers(body, "");
  return body;
}

function checkExtra(extra: CompleteOptions["extra"]): void {
  for (const name of Object.keys(extra ?? {})) {
    if (RESERVED.has(name)) {
      throw new ConfigError(
        `Cannot send extra field "${name}": it is written from the options; use those`,
        { code: "argument" },
      );
    }
  }
}

/** Turns of user and assistant; what belongs to one side in a row is one turn, as the API wants it. */
function wireTurns(messages: readonly Message[]): JsonObject[] {
  const turns: { role: "user" | "assistant"; content: JsonObject[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = wireBlocks(message);
    const last = turns.at(-1);
    if (blocks.length === 0) continue;
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns.map(({ role, content }) => ({ role, content }));
}

function wireBlocks(message: Exclude<Message, { role: "system" }>): JsonObject[] {
  switch (message.role) {
    case "user":
      return textBlocks(message.content);
    case "system":
      return [];
    case "tool":
      return [{
        type: "tool_result",
        "tool_use_id": wireId(message.toolCallId),
        content: message.content.toWellFormed(),
      }];
    case "assistant":
      return [
        ...thinkingBlocks(message.vendorData),
        ...textBlocks(message.content ?? ""),
        ...(message.toolCalls ?? []).map((call) => ({
          type: "tool_use",
          id: wireId(call.id),
          name: wireName(call.name),
          input: call.kind === "ok" ? call.arguments : { "unusable_arguments": call.rawArguments },
        })),
      ];
  }
}

/** The API refuses blocks of empty text. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

function thinkingBlocks(vendorData: JsonValue | undefined): JsonObject[] {
  const blocks = isJsonObject(vendorData) ? member(vendorData, "thinking_blocks") : undefined;
  return Array.isArray(blocks) ? blocks.filter(isJsonObject) : [];
}

function wireId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_");
}
