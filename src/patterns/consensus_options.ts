/**
 * What a vote takes and gives.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { KitErrorCode } from "../llm/mod.ts";
import { COMMON_NAMES, type PatternOptions } from "./options.ts";
import type { VoteNormalization } from "./vote.ts";

/** Most samples of one vote. */
export const MAX_SAMPLES = 1000;
/** Samples of a vote where the caller names no number. */
export const DEFAULT_SAMPLES = 5;
/** Sampling temperature of a vote where the caller names none: samples that are all alike prove nothing. */
export const CONSENSUS_TEMPERATURE = 0.9;

/**
 * What became of a sample. `counted` voted; the next five are answers that do not vote; `failed` gave no answer;
 * `cancelled` was not wanted any more.
 */
export type SampleOutcome =
  | "counted"
  | "empty"
  | "refused"
  | "filtered"
  | "truncated"
  | "unusable"
  | "failed"
  | "cancelled";

/** One finished sample, as it is reported while the vote goes on. */
export interface SampleReport {
  /** Which sample, from 0. */
  readonly index: number;
  /** How many are finished, this one included. */
  readonly done: number;
  /** How many were asked for. */
  readonly requested: number;
  /** What became of it. */
  readonly outcome: SampleOutcome;
}

/** One sample, as `includeSamples` shows it. */
export interface ConsensusSample {
  /** Which sample, from 0. */
  readonly index: number;
  /** What became of it. */
  readonly outcome: SampleOutcome;
  /** The model asked. */
  readonly model?: string;
  /** The answer, if there was one. */
  readonly text?: string;
  /** What went wrong, if there was none. */
  readonly errorCode?: KitErrorCode;
}

/** How a vote is held. */
export interface ConsensusOptions extends PatternOptions {
  /** How many samples, from 1 to 1000; default 5, of several providers one each. */
  readonly numSamples?: number;
  /** `majority` (default): the largest group wins. `unanimous`: every sample must vote, and for the same. */
  readonly strategy?: "majority" | "unanimous";
  /** When two answers are the same vote; default `text`. */
  readonly normalize?: VoteNormalization;
  /** Most samples under way at once, at least 1; default all. */
  readonly maxConcurrency?: number;
  /** The fewest valid votes for the vote to stand; default more than half of those asked, all if unanimous. */
  readonly minValid?: number;
  /** The least share of the winner, from 0 to 1; default 0. */
  readonly minAgreement?: number;
  /** What a tie does: `first` (default) lets the group with the earliest sample win, `error` fails. */
  readonly onTie?: "first" | "error";
  /** `tolerate` (default): a failed sample does not vote. `strict`: the first failure ends the vote. */
  readonly onError?: "tolerate" | "strict";
  /** Aborts the rest once they cannot change the winner; majority only, default false. */
  readonly earlyStop?: boolean;
  /** Puts every sample's text into the metadata; default false. */
  readonly includeSamples?: boolean;
  /** Told about each finished sample; what it throws is swallowed. */
  readonly onSample?: (report: SampleReport) => void;
}

/** The names of the options. */
export const CONSENSUS_NAMES = {
  ...COMMON_NAMES,
  numSamples: true,
  strategy: true,
  normalize: true,
  maxConcurrency: true,
  minValid: true,
  minAgreement: true,
  onTie: true,
  onError: true,
  earlyStop: true,
  includeSamples: true,
  onSample: true,
} satisfies Record<keyof ConsensusOptions, true>;

/** How many samples ended how. */
export type SampleCounts =
  & {
    /** How many were asked for. */
    readonly requested: number;
  }
  & {
    readonly [
      /** How many ended so. */
      Outcome in SampleOutcome
    ]: number;
  };

/** How a vote came about. */
export interface ConsensusMetadata {
  /** The winner's votes by the samples asked for, less those cancelled by `earlyStop`. */
  readonly agreementRatio: number;
  /** How many different answers there were. */
  readonly uniqueResponses: number;
  /** How many of them share the highest count: 1 is a clear win. */
  readonly tieCount: number;
  /** How it was decided. */
  readonly strategy: "majority" | "unanimous";
  /** How many samples ended how. */
  readonly samples: SampleCounts;
  /** The answers and their votes, largest first. */
  readonly tally: readonly { readonly value: string; readonly count: number }[];
  /** The samples that gave no answer, and why. */
  readonly failures: readonly {
    readonly index: number;
    readonly code: KitErrorCode;
    readonly message: string;
  }[];
  /** Whether `earlyStop` cut the vote short. */
  readonly earlyStopped: boolean;
  /** For `number` and `json`: the winner's value. */
  readonly parsed?: JsonValue;
  /** With `includeSamples`: every sample, in order. */
  readonly answers?: readonly ConsensusSample[];
}
