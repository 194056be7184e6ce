/**
 * Several independent samples of one question, and a vote over them.
 *
 * Method: self-consistency ({@link https://arxiv.org/abs/2203.11171 | Wang et al. 2022}).
 *
 * @module
 */
import type { LlmProvider } from "../llm/mod.ts";
import {
  CONSENSUS_NAMES,
  type ConsensusMetadata,
  type ConsensusOptions,
  DEFAULT_SAMPLES,
  MAX_SAMPLES,
} from "./consensus_options.ts";
import {
  checkFunction,
  checkNames,
  checkNumber,
  checkProvider,
  checkText,
  checkWord,
  type PatternResult,
} from "./options.ts";
import { type Plan, Poll } from "./poll.ts";
import { runPattern } from "./run_pattern.ts";
import { checkNormalization } from "./vote.ts";

/**
 * Asks the same question several times and gives the answer most samples agree on.
 *
 * All samples go out together. Empty, refused, filtered, truncated and failed ones do not vote but count against the
 * agreement. Of equally common answers the one with the earliest sample wins, so the result depends on the answers
 * alone and not on their order of arrival.
 *
 * @example
 * ```ts
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const model = new MockProvider(["Paris", "Lyon", "paris."]);
 * const { value, score } = await consensus(model, "Capital of France?", { numSamples: 3 });
 * assertEquals(value, "Paris");
 * assertEquals(score, 2 / 3);
 * ```
 *
 * @param provider Whom to ask; of several, sample 0 goes to the first, sample 1 to the second, and so on in turn.
 * @param prompt The question, not blank.
 * @param options How the vote is held.
 * @returns The winner as first written, without thinking, trimmed; `score` is the agreement ratio.
 * @throws {ConfigError} If an option is out of range; nothing was spent.
 * @throws {PatternError} Code `no_consensus` if too few samples vote, a unanimous vote is broken, or a tie or the
 * agreement is not accepted; `details.tally` and `partial` hold the votes.
 * @throws {KitError} The first cause, if every sample failed; `budget` and `aborted` at once.
 */
export async function consensus(
  provider: LlmProvider | readonly LlmProvider[],
  prompt: string,
  options: ConsensusOptions = {},
): Promise<PatternResult<string, ConsensusMetadata>> {
  return await holdVote(planVote(provider, prompt, options));
}

/**
 * Holds a vote.
 *
 * @param plan As it was planned.
 * @returns The winner.
 * @throws {KitError} As {@linkcode consensus} does.
 */
export async function holdVote(plan: Plan): Promise<PatternResult<string, ConsensusMetadata>> {
  return await runPattern("consensus", plan.options, async (run) => {
    const poll = new Poll(plan, run);
    run.keep(() => ({ tally: poll.tallyFacts(), samples: poll.counts() }));
    await poll.hold();
    return poll.decide();
  });
}

/**
 * Checks how a vote is to be held; nothing is spent.
 *
 * @param provider As of {@linkcode consensus}.
 * @param prompt As of {@linkcode consensus}.
 * @param options As of {@linkcode consensus}.
 * @returns The vote, ready to be held.
 * @throws {ConfigError} Code `argument`, if it cannot be held.
 */
export function planVote(
  provider: LlmProvider | readonly LlmProvider[],
  prompt: string,
  options: ConsensusOptions,
): Plan {
  checkNames("consensus", options, CONSENSUS_NAMES);
  checkFunction("option onSample", options.onSample);
  const providers: readonly LlmProvider[] = isList(provider) ? provider : [provider];
  checkNumber("the number of providers", providers.length, { min: 1, max: MAX_SAMPLES });
  providers.forEach(checkProvider);
  const requested = checkNumber(
    "numSamples",
    options.numSamples ?? (providers.length > 1 ? providers.length : DEFAULT_SAMPLES),
    { min: 1, max: MAX_SAMPLES },
  );
  const strategy = checkWord("strategy", options.strategy ?? "majority", ["majority", "unanimous"]);
  checkWord("onTie", options.onTie ?? "first", ["first", "error"]);
  checkWord("onError", options.onError ?? "tolerate", ["tolerate", "strict"]);
  checkNormalization(options.normalize === undefined ? "text" : options.normalize);
  const { system } = options;
  return {
    providers,
    messages: Object.freeze([
      ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
      { role: "user", content: checkText("prompt", prompt) } as const,
    ]),
    requested,
    maxConcurrency: checkNumber("maxConcurrency", options.maxConcurrency ?? requested, { min: 1 }),
    minValid: strategy === "unanimous" ? requested : checkNumber(
      "minValid",
      options.minValid ?? Math.floor(requested / 2) + 1,
      { min: 1, max: requested },
    ),
    minAgreement: checkNumber("minAgreement", options.minAgreement ?? 0, {
      min: 0,
      max: 1,
      integer: false,
    }),
    options,
  };
}

function isList(
  provider: LlmProvider | readonly LlmProvider[],
): provider is readonly LlmProvider[] {
  return Array.isArray(provider);
}
