/**
 * How many tokens a request may cost, from its bytes.
 *
 * @module
 */
import type { CompleteOptions } from "./provider.ts";
import type { Message } from "./message.ts";

/** Bytes of JSON for one token: on the safe side for every tokenizer in use. */
const BYTES_PER_TOKEN = 3;

/**
 * Estimates the prompt tokens of a request: the bytes of its messages and tools as JSON, by three.
 *
 * @param messages The conversation.
 * @param options What is sent beside it.
 * @returns Tokens, an integer.
 */
export function estimateInputTokens(
  messages: readonly Message[],
  options: Pick<CompleteOptions, "tools" | "responseFormat"> = {},
): number {
  let bytes = utf8Length(JSON.stringify(messages));
  if (options.tools !== undefined) bytes += utf8Length(JSON.stringify(options.tools));
  if (options.responseFormat !== undefined) {
    bytes += utf8Length(JSON.stringify(options.responseFormat));
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

const ENCODER = new TextEncoder();

function utf8Length(text: string): number {
  return ENCODER.encode(text).length;
}
