/**
 * What the trace of a call tells.
 *
 * @module
 */
import type { Message } from "./message.ts";
import type { CompleteOptions, LlmProvider } from "./provider.ts";
import { redact } from "./redact.ts";
import type { TraceSink, TraceSpans } from "./trace.ts";

/** What of a call's options the trace tells. */
export interface TracedOptions
  extends Pick<CompleteOptions, "temperature" | "maxTokens" | "seed" | "responseFormat"> {
  /** Whether it is streamed; default false. */
  readonly streamed?: boolean;
  /** Which sample of a vote, from 0. */
  readonly sampleIndex?: number;
  /** Which round of a loop, from 1. */
  readonly round?: number;
  /** What the answer is read as; default `json` where a `responseFormat` is asked for. */
  readonly outputType?: "json";
  /** Where events go. */
  readonly trace?: TraceSink;
}

/** What the start of a call's span tells; next to nothing where nobody listens. */
export function startFacts(
  provider: LlmProvider,
  messages: readonly Message[],
  options: TracedOptions,
): TraceSpans["llm-call"]["start"] {
  if (options.trace === undefined) return { streamed: options.streamed === true };
  const { temperature, maxTokens, seed, sampleIndex, round, responseFormat } = options;
  const outputType = options.outputType ?? (responseFormat === undefined ? undefined : "json");
  return {
    streamed: options.streamed === true,
    ...(provider.name === undefined ? {} : { provider: provider.name }),
    ...(provider.model === undefined ? {} : { model: provider.model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(seed === undefined ? {} : { seed }),
    ...(sampleIndex === undefined ? {} : { sampleIndex }),
    ...(round === undefined ? {} : { round }),
    ...(outputType === undefined ? {} : { outputType }),
    ...serverFacts(provider.url),
    ...captured("input", () => JSON.stringify(messages), options.trace),
  };
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([["http:", 80], ["https:", 443]]);

function serverFacts(
  address: string | undefined,
): { readonly serverAddress?: string; readonly serverPort?: number } {
  const url = address === undefined ? null : URL.parse(address);
  if (url === null || url.hostname === "") return {};
  const serverPort = url.port === "" ? DEFAULT_PORTS.get(url.protocol) : Number(url.port);
  return { serverAddress: url.hostname, ...(serverPort === undefined ? {} : { serverPort }) };
}

/** A text for the trace, if the sink wants texts. */
export function captured<Name extends "input" | "output">(
  name: Name,
  text: () => string,
  trace: TraceSink | undefined,
): { readonly [key in Name]?: string } {
  const capture = trace?.captureContent ?? "none";
  const empty: { readonly [key in Name]?: string } = {};
  return capture === "none"
    ? empty
    : { ...empty, [name]: capture === "full" ? text() : redact(text()) };
}
