/**
 * Providers whose requests are charged to somebody's account, whoever makes them.
 *
 * @module
 */
import {
  callModel,
  type CallOptions,
  KitError,
  type Ledger,
  type LlmProvider,
  type LlmResponse,
  type Message,
  NO_USAGE,
  type Usage,
} from "../llm/mod.ts";

/**
 * Wraps a provider so that every request is charged to an account and kept within its budget.
 *
 * What is asked through a ledger below that account is charged there once. What is asked through any other ledger is
 * charged to the account first and then told to that ledger too, so that nobody can get around the account.
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
      const { ledger: theirs, ...request } = options;
      const whole = { ...defaults, ...request };
      if (theirs === undefined) return await callModel(provider, messages, whole);
      if (isBelow(theirs, defaults.ledger)) {
        return await callModel(provider, messages, { ...whole, ledger: theirs });
      }
      return await callForBoth(provider, messages, { ...whole, theirs });
    },
  };
}

/** What is known about a provider, so that a wrapper never claims more than what it wraps. */
function copyFacts(provider: LlmProvider): Omit<LlmProvider, "complete"> {
  const { name, model, supportsTools, supportsReasoning, supportsResponseFormat } = provider;
  return {
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { model }),
    ...(supportsTools === undefined ? {} : { supportsTools }),
    ...(supportsReasoning === undefined ? {} : { supportsReasoning }),
    ...(supportsResponseFormat === undefined ? {} : { supportsResponseFormat }),
  };
}

/** Whether what is reserved in one ledger is reserved in the other too. Reserving is synchronous, so nobody else is seen. */
function isBelow(ledger: Ledger, above: Ledger): boolean {
  if (ledger === above) return true;
  const before = above.outstanding.llmCalls;
  try {
    const reservation = ledger.reserve({ inputTokens: 0, outputTokens: 0 });
    const linked = above.outstanding.llmCalls > before;
    reservation.release();
    return linked;
  } catch {
    // the ledger is used up: asking through it fails with the right error
    return true;
  }
}

async function callForBoth(
  provider: LlmProvider,
  messages: readonly Message[],
  options: CallOptions & { readonly theirs: Ledger },
): Promise<LlmResponse> {
  const { theirs, ...rest } = options;
  const own = rest.ledger.child();
  try {
    return await callModel(provider, messages, { ...rest, ledger: own });
  } finally {
    tell(theirs, own.spent);
  }
}

/** Charges what was spent elsewhere, call by call; the first one carries the tokens. */
function tell(ledger: Ledger, spent: Usage): void {
  let left = spent;
  for (let call = 0; call < spent.llmCalls; call += 1) {
    try {
      ledger.reserve({ inputTokens: 0, outputTokens: 0 }).settle(left);
    } catch (error) {
      if (error instanceof KitError) return;
      throw error;
    }
    left = NO_USAGE;
  }
}
