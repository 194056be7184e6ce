/**
 * What the trace of a call tells.
 *
 * @module
 */
import type { Ledger } from "./ledger.ts";
import type { Message } from "./message.ts";
import type { CompleteOptions, LlmProvider } from "./provider.ts";
import { redact } from "./redact.ts";
import type { OpenSpan, TraceSink, TraceSpans } from "./trace.ts";

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

/** The spans of calls whose provider meters itself, by the account that it is given. */
const LOANS = new WeakMap<Ledger, Loan>();

/** A span that a call lends to the requests which are its work: to one that ends it, or to all if the call ends it. */
interface Loan {
  /** Gives the span to whoever asks next. */
  take(): OpenSpan<"llm-call"> | undefined;
  /** The span, without its end, while nobody has taken it. */
  share(): OpenSpan<"llm-call"> | undefined;
}

/**
 * Lends a call's span to the first request that is made on the call's account, which ends it.
 *
 * @param account The account of the call.
 * @param span Its span.
 */
export function lendSpan(account: Ledger, span: OpenSpan<"llm-call">): void {
  let left: OpenSpan<"llm-call"> | undefined = span;
  LOANS.set(account, {
    take: () => {
      const taken = left;
      left = undefined;
      return taken;
    },
    share: () => left === undefined ? undefined : { ...left, end: () => {} },
  });
}

/**
 * Lends what is lent to an account to the requests on another. They tell of themselves in the span, and the call that
 * has opened it ends it.
 *
 * @param from The account that the span was lent to.
 * @param account The account of an untraced call on that account.
 */
export function passSpanOn(from: Ledger, account: Ledger): void {
  const loan = LOANS.get(from);
  if (loan !== undefined) LOANS.set(account, { take: loan.share, share: loan.share });
}

/**
 * Takes the span of the call that an account was opened for. A traced call gives it once, to be ended: further requests
 * on the account need spans of their own.
 *
 * @param account What a provider with `metersItself` was given as `ledger`.
 * @returns The span; absent if the account is no call's, the call is not traced, or the span was taken.
 */
export function takeSpan(account: Ledger): OpenSpan<"llm-call"> | undefined {
  return LOANS.get(account)?.take();
}
