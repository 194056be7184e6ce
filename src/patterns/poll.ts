/**
 * One vote under way: takes the samples, stops when the end is known, decides.
 *
 * @module
 */
import {
  chooseError,
  KitError,
  type KitErrorCode,
  linkSignals,
  type LlmProvider,
  type LlmResponse,
  type Message,
  notify,
  PatternError,
} from "../llm/mod.ts";
import {
  CONSENSUS_TEMPERATURE,
  type ConsensusMetadata,
  type ConsensusOptions,
  type ConsensusSample,
  type SampleCounts,
  type SampleOutcome,
} from "./consensus_options.ts";
import type { PatternResult } from "./options.ts";
import { forEachIndex } from "./pool.ts";
import type { PatternRun } from "./run_pattern.ts";
import { castVote, countVotes, type Vote, type VoteTally } from "./vote.ts";

/** A vote as it is to be held. */
export interface Plan {
  readonly providers: readonly LlmProvider[];
  readonly messages: readonly Message[];
  readonly requested: number;
  readonly maxConcurrency: number;
  readonly minValid: number;
  readonly minAgreement: number;
  /** Every sample is paid for already, so all are counted, whatever the others say. Default false. */
  readonly prepaid?: boolean;
  readonly options: ConsensusOptions;
}

interface Sample {
  readonly outcome: SampleOutcome;
  readonly text?: string;
  readonly vote?: Vote;
  readonly error?: KitError;
}

/** Codes that end a vote at once: they say that the caller, not a sample, is at its end. */
const FATAL: ReadonlySet<KitErrorCode> = new Set([
  "aborted",
  "budget",
  "config",
  "argument",
  "tool_definition",
]);

/** One vote under way. */
export class Poll {
  readonly #plan: Plan;
  readonly #run: PatternRun;
  readonly #samples: (Sample | undefined)[];
  #done = 0;
  #valid = 0;
  #closed: "early-stop" | "hopeless" | "fatal" | undefined;

  constructor(plan: Plan, run: PatternRun) {
    this.#plan = plan;
    this.#run = run;
    this.#samples = new Array(plan.requested).fill(undefined);
  }

  /** Takes every sample, or as many as are needed to know the end. */
  async hold(): Promise<void> {
    using group = linkSignals([this.#run.signal]);
    await forEachIndex(this.#plan.requested, this.#plan.maxConcurrency, async (index) => {
      const sample = this.#closed === undefined
        ? await this.#take(index, group.signal)
        : { outcome: "cancelled" } as const;
      this.#samples[index] = sample;
      this.#done += 1;
      if (sample.outcome === "counted") this.#valid += 1;
      this.#report(index, sample.outcome);
      if (this.#closed !== undefined) return;
      this.#closed = this.#reasonToClose(sample);
      if (this.#closed !== undefined) {
        group.abort(new DOMException("Vote is decided", "AbortError"));
      }
    });
  }

  /** Who wins, or why nobody does. */
  decide(): PatternResult<string, ConsensusMetadata> {
    const tally = this.#tally();
    this.#refuse(tally);
    const [winner] = tally.groups;
    if (winner === undefined) throw new RangeError("A vote that stands has a winner");
    const agreementRatio = this.#agreement(tally);
    return this.#run.result({
      value: winner.value,
      score: agreementRatio,
      metadata: {
        agreementRatio,
        uniqueResponses: tally.groups.length,
        tieCount: tally.tieCount,
        strategy: this.#plan.options.strategy ?? "majority",
        samples: this.counts(),
        tally: this.tallyFacts(),
        failures: this.#failures(),
        earlyStopped: this.#closed === "early-stop",
        ...(winner.parsed === undefined ? {} : { parsed: winner.parsed }),
        ...(this.#plan.options.includeSamples === true ? { answers: this.#answers() } : {}),
      },
    });
  }

  /** How many samples ended how, so far. */
  counts(): SampleCounts {
    const counts = {
      requested: this.#plan.requested,
      counted: 0,
      empty: 0,
      refused: 0,
      filtered: 0,
      truncated: 0,
      unusable: 0,
      failed: 0,
      cancelled: 0,
    };
    for (const sample of this.#samples) counts[sample?.outcome ?? "cancelled"] += 1;
    return counts;
  }

  /** The answers and their votes, so far. */
  tallyFacts(): { readonly value: string; readonly count: number }[] {
    return this.#tally().groups.map(({ value, count }) => ({ value, count }));
  }

  async #take(index: number, signal: AbortSignal): Promise<Sample> {
    const { providers, messages, options } = this.#plan;
    const provider = providers[index % providers.length];
    if (provider === undefined) throw new RangeError("A vote has at least one provider");
    try {
      const response = await this.#run.call(provider, messages, {
        temperature: options.temperature ?? CONSENSUS_TEMPERATURE,
        ...(options.seed === undefined ? {} : { seed: options.seed + index }),
        signal,
        sampleIndex: index,
      });
      return this.#judge(response);
    } catch (thrown) {
      if (!(thrown instanceof KitError)) throw thrown;
      if (thrown.code === "aborted" && this.#closed !== undefined) return { outcome: "cancelled" };
      if (thrown.code === "content_filter") return { outcome: "filtered" };
      return { outcome: "failed", error: thrown };
    }
  }

  #judge(response: LlmResponse): Sample {
    const text = response.content;
    if (response.finishReason === "content_filter") return { outcome: "filtered", text };
    if (response.finishReason === "refusal") return { outcome: "refused", text };
    if (response.finishReason === "length") return { outcome: "truncated", text };
    if (castVote(text, "text") === undefined) return { outcome: "empty", text };
    const vote = castVote(text, this.#plan.options.normalize);
    return vote === undefined ? { outcome: "unusable", text } : { outcome: "counted", text, vote };
  }

  #reasonToClose(latest: Sample): "early-stop" | "hopeless" | "fatal" | undefined {
    const { options, requested, minValid, prepaid = false } = this.#plan;
    const { error } = latest;
    if (prepaid) return undefined;
    if (error !== undefined && (FATAL.has(error.code) || options.onError === "strict")) {
      return "fatal";
    }
    const pending = requested - this.#done;
    if (this.#valid + pending < minValid) return "hopeless";
    if (options.earlyStop !== true || options.strategy === "unanimous" || pending === 0) {
      return undefined;
    }
    const [top = 0, second = 0] = this.#tally().groups.map((group) => group.count);
    return this.#valid >= minValid && top - second > pending ? "early-stop" : undefined;
  }

  /** Throws if the vote does not stand. */
  #refuse(tally: VoteTally): void {
    const { options, minValid, minAgreement, requested } = this.#plan;
    const errors = this.#samples.flatMap((sample) => sample?.error ?? []);
    const fatal = errors.filter((error) => FATAL.has(error.code));
    if (fatal.length > 0) throw chooseError([...fatal, ...without(errors, fatal)]);
    if (errors.length > 0 && options.onError === "strict") throw chooseError(errors);
    const answered = this.#samples.some((sample) =>
      sample !== undefined && sample.outcome !== "failed" && sample.outcome !== "cancelled"
    );
    if (errors.length > 0 && !answered) throw chooseError(errors);
    if (options.strategy === "unanimous" && tally.groups.length > 1) {
      throw this.#failure(
        `Cannot agree: ${tally.groups.length} distinct answers from ${requested} samples`,
      );
    }
    if (tally.valid < minValid) {
      throw this.#failure(
        `Cannot hold a vote: ${tally.valid} of ${requested} samples voted, wanted at least ${minValid}` +
          this.#whyNot(),
        errors,
      );
    }
    if (options.onTie === "error" && tally.tieCount > 1) {
      throw this.#failure(`Cannot agree: ${tally.tieCount} answers have the same number of votes`);
    }
    const agreement = this.#agreement(tally);
    if (agreement < minAgreement) {
      throw this.#failure(`Cannot agree: the agreement is ${agreement}, wanted ${minAgreement}`);
    }
  }

  /** What became of the samples that did not vote: `" (2 truncated, 1 failed)"`. */
  #whyNot(): string {
    const { requested: _requested, counted: _counted, ...others } = this.counts();
    const named = Object.entries(others).filter(([, count]) => count > 0);
    if (named.length === 0) return "";
    return ` (${named.map(([outcome, count]) => `${count} ${outcome}`).join(", ")})`;
  }

  #failure(message: string, errors: readonly KitError[] = []): PatternError {
    const [cause] = errors;
    return new PatternError("no_consensus", message, {
      details: {
        tally: this.tallyFacts(),
        samples: this.counts(),
        failures: this.#failures(),
        distinct: this.#tally().groups.length,
      },
      ...(cause === undefined ? {} : { cause, others: errors }),
    });
  }

  #tally(): VoteTally {
    return countVotes(this.#samples.map((sample) => sample?.vote));
  }

  #agreement(tally: VoteTally): number {
    return (tally.groups[0]?.count ?? 0) / (this.#plan.requested - this.counts().cancelled);
  }

  #failures(): ConsensusMetadata["failures"] {
    return this.#samples.flatMap((sample, index) =>
      sample?.error === undefined
        ? []
        : [{ index, code: sample.error.code, message: sample.error.message }]
    );
  }

  #answers(): readonly ConsensusSample[] {
    const { providers } = this.#plan;
    return this.#samples.map((sample, index) => {
      const model = providers[index % providers.length]?.model;
      return {
        index,
        outcome: sample?.outcome ?? "cancelled",
        ...(model === undefined ? {} : { model }),
        ...(sample?.text === undefined ? {} : { text: sample.text }),
        ...(sample?.error === undefined ? {} : { errorCode: sample.error.code }),
      };
    });
  }

  #report(index: number, outcome: SampleOutcome): void {
    const { options, requested } = this.#plan;
    notify(options.onSample, { index, done: this.#done, requested, outcome });
  }
}

function without(errors: readonly KitError[], taken: readonly KitError[]): KitError[] {
  return errors.filter((error) => !taken.includes(error));
}
