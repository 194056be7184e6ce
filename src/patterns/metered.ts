/**
 * Providers whose requests are charged to somebody's account, whoever makes them.
 *
 * @module
 */
import {
  callModel,
  type CallOptions,
  type CompleteOptions,
  DEFAULT_MAX_TOKENS,
  estimateInputTokens,
  isLedgerWithin,
  KitError,
  type Ledger,
  type LlmProvider,
  type Message,
  NO_USAGE,
  type Reservation,
  streamModel,
  takeSpan,
  type Usage,
} from "../llm/mod.ts";

/**
 * Wraps a provider so that every request is charged to an account and kept within its budget.
 *
 * What is asked through a ledger below that account is charged there once. What is asked through any other ledger must fit
 * both and is charged to both, so that nobody can get around the account. The first request that a traced call
 * makes is that call's span; any other has a span of its own, as `defaults` say.
 *
 * @param provider The provider.
 * @param defaults The account, and what requests are sent with where they do not say.
 * @returns The same provider on that account; it retries and reserves on its own.
 */
export function meterProvider(provider: LlmProvider, defaults: CallOptions): LlmProvider {
  return {
    ...copyFacts(provider),
    metersItself: true,
    complete: async (messages, options = {}) => {
      using charged = await openCharge({ provider, messages, options, defaults });
      return await callModel(provider, messages, charged.options);
    },
    stream: async function* (messages, options = {}) {
      using charged = await openCharge({ provider, messages, options, defaults });
      yield* streamModel(provider, messages, charged.options);
    },
  };
}

/** What is known about a provider, so that a wrapper never claims more than what it wraps. */
function copyFacts(provider: LlmProvider): Omit<LlmProvider, "complete"> {
  const { name, model, supportsTools, supportsReasoning, supportsResponseFormat, redact } =
    provider;
  return {
    ...(redact === undefined ? {} : { redact }),
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { model }),
    ...(supportsTools === undefined ? {} : { supportsTools }),
    ...(supportsReasoning === undefined ? {} : { supportsReasoning }),
    ...(supportsResponseFormat === undefined ? {} : { supportsResponseFormat }),
  };
}

/** How a request is made, and what is told to another ledger at its end. */
interface Charge extends Disposable {
  readonly options: CallOptions;
}

async function openCharge(request: {
  readonly provider: LlmProvider;
  readonly messages: readonly Message[];
  readonly options: CompleteOptions;
  readonly defaults: CallOptions;
}): Promise<Charge> {
  const { provider, messages, defaults } = request;
  const { ledger: theirs, ...given } = request.options;
  const asked: CallOptions = { ...defaults, ...given };
  if (theirs === undefined) return { options: asked, [Symbol.dispose]: () => {} };
  const within = takeSpan(theirs);
  const options = within === undefined ? asked : { ...asked, within };
  if (isLedgerWithin(theirs, defaults.ledger)) {
    return { options: { ...options, ledger: theirs }, [Symbol.dispose]: () => {} };
  }
  const ledger = defaults.ledger.child();
  const held = await theirs.acquire({
    inputTokens: estimateInputTokens(messages, options),
    outputTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(provider.model === undefined ? {} : { model: provider.model }),
  }, options.signal === undefined ? {} : { signal: options.signal });
  return {
    options: { ...options, ledger, maxTokens: held.outputTokens },
    [Symbol.dispose]: () => tell(theirs, held, { spent: ledger.spent, model: provider.model }),
  };
}

/** Charges what was spent elsewhere: the first call carries the tokens, further attempts count as calls. */
function tell(
  ledger: Ledger,
  held: Reservation,
  facts: { readonly spent: Usage; readonly model: string | undefined },
): void {
  const { spent, model } = facts;
  if (spent.llmCalls === 0) return held.release();
  held.settle(spent);
  for (let call = 1; call < spent.llmCalls; call += 1) {
    try {
      const named = model === undefined ? {} : { model };
      ledger.reserve({ inputTokens: 0, outputTokens: 0, ...named }).settle(NO_USAGE);
    } catch (error) {
      if (error instanceof KitError) return;
      throw error;
    }
  }
}
