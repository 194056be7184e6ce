/**
 * Streamed calls of a model, with the same limits, budget, retries and trace as whole ones.
 *
 * @module
 */
import { type Attempt, Call, type CallOptions } from "./call.ts";
import { LlmError } from "./errors.ts";
import type { LlmResponse, Message } from "./message.ts";
import type { LlmProvider, StreamEvent } from "./provider.ts";
import { readResponse } from "./read_response.ts";

/**
 * Asks a model and gives the answer in parts.
 *
 * A failure is retried only before the first part has been given: text that somebody has read is not taken back. Leaving
 * the loop early ends the request at once; it is charged by estimate. A provider that cannot stream answers in one part.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { createLedger, createScriptedProvider } from "@kit/mcp";
 *
 * const provider = createScriptedProvider({ script: { produce: ["It is Paris"] } });
 * const messages = [{ role: "user", content: "Capital of France?" }] as const;
 * let text = "";
 * for await (const event of streamModel(provider, messages, { ledger: createLedger() })) {
 *   if (event.type === "text") text += event.text;
 * }
 * assertEquals(text, "It is Paris");
 * ```
 *
 * @param provider Whom to ask.
 * @param messages The conversation.
 * @param options How, and on whose account.
 * @returns Texts as they come, then one `done`.
 * @throws {KitError} As `callModel` does.
 */
export async function* streamModel(
  provider: LlmProvider,
  messages: readonly Message[],
  options: CallOptions,
): AsyncGenerator<StreamEvent, void, void> {
  using call = new Call(provider, messages, { ...options, streamed: true });
  const opened = await call.run(async (request) => {
    const parts = (provider.stream?.(messages, request) ??
      wholeAsStream(provider.complete(messages, request)))[Symbol.asyncIterator]();
    return { parts, first: await nextOf(parts) };
  });
  yield* passOn(call, opened);
}

interface Opened {
  readonly parts: AsyncIterator<StreamEvent>;
  readonly first: StreamEvent;
}

async function* passOn(
  call: Call,
  attempt: Attempt<Opened>,
): AsyncGenerator<StreamEvent, void, void> {
  using _held = attempt;
  const { parts, first } = attempt.value;
  let over = false;
  try {
    let part = first;
    while (part.type !== "done") {
      yield part;
      part = await call.follow(nextOf(parts), attempt);
    }
    over = true;
    call.charge(part.response, attempt);
    yield part;
  } finally {
    if (!over) {
      const left = parts.return?.() ?? Promise.resolve();
      left.catch(() => {});
      call.abandon(attempt, left);
    }
  }
}

async function nextOf(parts: AsyncIterator<StreamEvent>): Promise<StreamEvent> {
  const { done, value } = await parts.next();
  if (done === true) {
    throw new LlmError("bad_response", "The stream ended before the answer did", {
      retryable: true,
    });
  }
  return value.type === "done" ? { ...value, response: readResponse(value.response) } : value;
}

async function* wholeAsStream(answer: Promise<LlmResponse>): AsyncGenerator<StreamEvent> {
  const response = readResponse(await answer);
  if (response.reasoning !== undefined) yield { type: "reasoning", text: response.reasoning };
  if (response.content !== "") yield { type: "text", text: response.content };
  yield { type: "done", response };
}
