/**
 * Conversations as they may be sent: every call of a tool answered, nothing answered that was not asked.
 *
 * @module
 */
import { deepFreeze } from "../json/mod.ts";
import { ConfigError, type Message } from "../llm/mod.ts";

/**
 * Copies a conversation and checks that it can be gone on with.
 *
 * @param messages The conversation.
 * @param system Put in front unless the conversation has a system message of its own there.
 * @returns A frozen copy.
 * @throws {ConfigError} Code `argument`, if it is empty, or calls of tools and their results do not fit together.
 */
export function copyTranscript(
  messages: readonly Message[],
  system: string | undefined,
): readonly Message[] {
  if (!Array.isArray(messages)) throw badTranscript("it is neither a text nor a list of messages");
  if (messages.length === 0) throw badTranscript("it has no messages");
  checkToolMessages(messages);
  const copy = messages.map(ownMessage);
  if (system === undefined || copy[0]?.role === "system") return copy;
  return [ownMessage({ role: "system", content: system }), ...copy];
}

const OWN = new WeakSet<Message>();

/**
 * A message that nobody can change: a frozen copy, or the message itself if it is one of these already, so that a long
 * conversation is copied once and not in every turn.
 *
 * @param message The message.
 * @returns The same in content.
 */
export function ownMessage(message: Message): Message {
  if (OWN.has(message)) return message;
  const copy = deepFreeze(structuredClone(message));
  OWN.add(copy);
  return copy;
}

function checkToolMessages(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.delete(message.toolCallId)) {
        throw badTranscript(`message ${index} answers a call that was not made just before it`);
      }
      continue;
    }
    if (open.size > 0) {
      throw badTranscript(`${open.size} calls before message ${index} have no result`);
    }
    if (message.role === "assistant") {
      open = new Set((message.toolCalls ?? []).map((call) => call.id));
    }
  }
  if (open.size > 0) throw badTranscript(`${open.size} calls at its end have no result`);
}

function badTranscript(problem: string): ConfigError {
  return new ConfigError(`Cannot go on with the conversation: ${problem}`, { code: "argument" });
}
