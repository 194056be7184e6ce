/**
 * Answers of a real model, recorded once and replayed offline.
 *
 * @module
 */
import {
  canonicalJson,
  deepFreeze,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../json/mod.ts";
import {
  type CompleteOptions,
  ConfigError,
  createRedactor,
  KitError,
  type KitErrorCode,
  LlmError,
  type LlmProvider,
  type LlmResponse,
  MAX_WHOLE_REDACT_LENGTH,
  type Message,
  redact,
  redactData,
  type Redactor,
  type StreamEvent,
} from "../llm/mod.ts";

import { checkRequest } from "./mock_provider.ts";

/** What came of a recorded request. */
export type RecordedOutcome =
  | {
    /** It was answered. */
    readonly response: LlmResponse;
  }
  | {
    /** It failed. */
    readonly error: {
      /** How. */
      readonly code: KitErrorCode;
      /** The same for people. */
      readonly message: string;
      /** Whether it might succeed later. */
      readonly retryable: boolean;
    };
  };

/** One recorded request. */
export interface RecordedExchange {
  /** What was asked: messages and options as JSON. */
  readonly request: JsonObject;
  /** What came of it. */
  readonly outcome: RecordedOutcome;
}

/** A recording. Plain data with secrets masked: keep it as a JSON file beside the test. */
export interface Recording {
  /** The form of this record. */
  readonly version: 1;
  /** The recorded model. */
  readonly model?: string;
  /** The vendor's flavour of the recorded provider. */
  readonly provider?: string;
  /** Whether the recorded provider took tools. */
  readonly supportsTools?: boolean;
  /** Every request, in the order in which they ended. */
  readonly exchanges: readonly RecordedExchange[];
}

/** How something is recorded or replayed. */
export interface RecordingOptions {
  /**
   * Masks secrets in every text that is kept or compared; default Kit's own rules, and what the provider masks. Members
   * named as secrets are masked anyway.
   */
  readonly redact?: (text: string) => string;
  /** Further secrets by their value, such as keys; those of fewer than 8 characters are not masked by value. */
  readonly secrets?: readonly string[];
}

/** A provider that keeps what is asked through it. */
export interface RecordingProvider extends LlmProvider {
  /** What was kept so far. */
  recording(): Recording;
}

/**
 * Passes requests on to a real provider and keeps them with their answers. What a provider itself masks, its own key, is
 * masked in what is kept of it, too.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const recorder = recordProvider(new MockProvider(["Paris"]));
 * const question = [{ role: "user", content: "Capital of France? My key is sk-0123456789abcdef" }] as const;
 * await recorder.complete(question);
 * const file = JSON.stringify(recorder.recording());
 * assertEquals(file.includes("sk-0123456789abcdef"), false);
 *
 * const replayed = replayProvider(JSON.parse(file));
 * assertEquals((await replayed.complete(question)).content, "Paris");
 * ```
 *
 * @param provider Whom to ask.
 * @param options How secrets are masked.
 * @returns The provider that keeps.
 */
export function recordProvider(
  provider: LlmProvider,
  options: RecordingOptions = {},
): RecordingProvider {
  const exchanges: RecordedExchange[] = [];
  const { name, model, supportsTools, supportsReasoning, supportsResponseFormat } = provider;
  const mask = createMask(options, provider.redact);
  return {
    ...(provider.redact === undefined ? {} : { redact: provider.redact }),
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { model }),
    ...(supportsTools === undefined ? {} : { supportsTools }),
    ...(supportsReasoning === undefined ? {} : { supportsReasoning }),
    ...(supportsResponseFormat === undefined ? {} : { supportsResponseFormat }),
    ...(provider.limiter === undefined ? {} : { limiter: provider.limiter }),
    complete: async (messages, request = {}) => {
      const asked = describeRequest(messages, request, mask);
      try {
        const response = await provider.complete(messages, request);
        exchanges.push({ request: asked, outcome: answered(response, mask) });
        return response;
      } catch (error) {
        exchanges.push(...failures(asked, error, mask));
        throw error;
      }
    },
    ...(provider.stream === undefined ? {} : {
      async *stream(
        messages: readonly Message[],
        request: CompleteOptions = {},
      ): AsyncGenerator<StreamEvent> {
        const asked = describeRequest(messages, request, mask);
        try {
          for await (const event of provider.stream?.(messages, request) ?? []) {
            if (event.type === "done") {
              exchanges.push({ request: asked, outcome: answered(event.response, mask) });
            }
            yield event;
          }
        } catch (error) {
          exchanges.push(...failures(asked, error, mask));
          throw error;
        }
      },
    }),
    recording: () =>
      deepFreeze(structuredClone({
        version: 1 as const,
        ...(model === undefined ? {} : { model }),
        ...(name === undefined ? {} : { provider: name }),
        ...(supportsTools === undefined ? {} : { supportsTools }),
        exchanges,
      })),
  };
}

function answered(response: LlmResponse, mask: (text: string) => string): RecordedOutcome {
  return { response: maskTexts({ ...response }, mask) };
}

/** A failure as it is kept; one that the caller wanted is not. */
function failures(
  request: JsonObject,
  error: unknown,
  mask: (text: string) => string,
): readonly RecordedExchange[] {
  if (!(error instanceof KitError) || error.code === "aborted") return [];
  const { code, message, retryable } = error;
  return [{ request, outcome: { error: { code, message: mask(message), retryable } } }];
}

/**
 * Gives recorded answers. A request that was not recorded, or was used up, fails: equal requests are answered in the order
 * in which they were recorded, each once.
 *
 * @example
 * ```ts
 * import { assertRejects } from "@std/assert";
 *
 * const replayed = replayProvider({ version: 1, exchanges: [] });
 * await assertRejects(() => replayed.complete([{ role: "user", content: "Anything new?" }]));
 * ```
 *
 * @param recording The recording, possibly read back from JSON.
 * @param options How secrets are masked; must be as when it was recorded. A key that the recorded provider masked belongs to
 * `secrets` if it is in a prompt.
 * @returns The provider.
 * @throws {ConfigError} If the recording has another form.
 */
export function replayProvider(recording: Recording, options: RecordingOptions = {}): LlmProvider {
  const mask = createMask(options);
  const left = indexExchanges(recording);
  return {
    name: recording.provider ?? "recorded",
    model: recording.model ?? "recorded",
    supportsTools: recording.supportsTools === true,
    complete: async (messages, request = {}) => {
      checkRequest(messages, request);
      const key = canonicalJson(describeRequest(messages, request, mask));
      const outcome = left.get(key)?.shift();
      if (outcome === undefined) {
        throw new ConfigError(
          "Cannot replay a request: it was not recorded, or not as often, or it holds a key of the recorded provider, " +
            "which belongs to the option secrets; record it again",
        );
      }
      if ("response" in outcome) return await Promise.resolve(outcome.response);
      const { code, message, retryable } = outcome.error;
      throw new LlmError(code, message, { retryable });
    },
  };
}

function indexExchanges(recording: Recording): Map<string, RecordedOutcome[]> {
  const given: Partial<Recording> | null | undefined = recording;
  if (given?.version !== 1 || !Array.isArray(given.exchanges)) {
    throw new ConfigError("Cannot replay: this is not a recording of version 1");
  }
  const left = new Map<string, RecordedOutcome[]>();
  for (const { request, outcome } of recording.exchanges) {
    const key = canonicalJson(request);
    const list = left.get(key);
    if (list === undefined) left.set(key, [deepFreeze(structuredClone(outcome))]);
    else list.push(deepFreeze(structuredClone(outcome)));
  }
  return left;
}

/** What tells one request from another. Limits that a budget sets, time-outs and keys of resending do not. */
function describeRequest(
  messages: readonly Message[],
  options: CompleteOptions,
  mask: (text: string) => string,
): JsonObject {
  const { temperature, tools, toolChoice, responseFormat, seed, stop, extra } = options;
  const given = { temperature, tools, toolChoice, responseFormat, seed, stop, extra };
  const plain: JsonValue = JSON.parse(JSON.stringify({ ...given, messages }));
  const masked = maskTexts(plain, mask);
  if (isJsonObject(masked)) return masked;
  throw new TypeError("A request is an object");
}

function createMask(
  options: RecordingOptions,
  own: Redactor = redact,
): (text: string) => string {
  const whole = { maxLength: MAX_WHOLE_REDACT_LENGTH };
  const rules = options.redact ?? ((text: string) => own(text, whole));
  if (options.secrets === undefined) return rules;
  const byValue = createRedactor({ secrets: options.secrets });
  return (text) => rules(byValue(text, whole));
}

/** Masks every secret in a value, names of members excepted. */
function maskTexts<T>(value: T, mask: (text: string) => string): T {
  return JSON.parse(JSON.stringify(redactData(JSON.parse(JSON.stringify(value)), mask)));
}
