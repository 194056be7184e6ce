/**
 * What a batch takes and gives.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { Budget, Ledger, PriceTable } from "../llm/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { ConsensusMetadata } from "./consensus_options.ts";
import type { VoteNormalization } from "./vote.ts";

/** How far a batch has come. */
export interface BatchProgress {
  /** The batch. */
  readonly batchId: string;
  /** Entries that are done, in whatever way. */
  readonly done: number;
  /** Entries in all. */
  readonly total: number;
}

/** How the Message Batches endpoint is used. */
export interface BatchEndpoint {
  /** The key; sent to the origin of `baseUrl` and nowhere else. */
  readonly apiKey: string;
  /** The model. */
  readonly model: string;
  /** Where the endpoint is; default `https://api.anthropic.com`. */
  readonly baseUrl?: string;
  /** Value of the header `anthropic-version`; default `2023-06-01`. */
  readonly version?: string;
  /** Most milliseconds for one request; default 60000. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds between two looks; default 5000. */
  readonly pollMs?: number;
  /** Most milliseconds until the batch is done; default 1800000. The batch goes on when they are over. */
  readonly timeoutMs?: number;
  /** Network, time and chance; default the ambient ports. */
  readonly ports?: Pick<Ports, "fetch" | "clock" | "random">;
  /** Ends the waiting; the batch itself goes on until it is cancelled. */
  readonly signal?: AbortSignal;
  /** Told about each look; what it throws is swallowed. */
  readonly onProgress?: (progress: BatchProgress) => void;
}

/** How prompts are sent in a batch. */
export interface BatchOptions extends BatchEndpoint {
  /** Most tokens of one answer, at least 1; default 4096. */
  readonly maxTokens?: number;
  /** Sampling temperature; default the endpoint's, for a vote 0.9. */
  readonly temperature?: number;
  /** System message; default none. */
  readonly system?: string;
  /** Further members of the request's `params`; those that Kit writes win. */
  readonly extra?: JsonObject;
  /** Caps; every entry is reserved before the batch is sent. */
  readonly budget?: Budget;
  /** The account that the batch is charged to. Default a new one. */
  readonly ledger?: Ledger;
  /** Prices, needed for `budget.maxCostUsd`. Only used where no `ledger` is given. */
  readonly prices?: PriceTable;
}

/** How a vote by batch is held. */
export interface ConsensusBatchOptions extends BatchOptions {
  /** How many samples, from 1 to 1000; default 5. */
  readonly numSamples?: number;
  /** `majority` (default) or `unanimous`. */
  readonly strategy?: "majority" | "unanimous";
  /** When two answers are the same vote; default `text`. */
  readonly normalize?: VoteNormalization;
  /** The fewest valid votes; default more than half, all if unanimous. */
  readonly minValid?: number;
  /** The least share of the winner, from 0 to 1; default 0. */
  readonly minAgreement?: number;
  /** What a tie does: `first` (default) or `error`. */
  readonly onTie?: "first" | "error";
  /** Goes on with a batch that was sent before, with the same prompt and samples, instead of sending one. */
  readonly batchId?: string;
}

/** How a map by batch runs. */
export interface MapBatchOptions extends BatchOptions {
  /** Goes on with a batch that was sent before, with the same prompts, instead of sending one. */
  readonly batchId?: string;
}

/** The names of the options of a map by batch. */
export const MAP_BATCH_NAMES = {
  apiKey: true,
  model: true,
  baseUrl: true,
  version: true,
  requestTimeoutMs: true,
  pollMs: true,
  timeoutMs: true,
  ports: true,
  signal: true,
  onProgress: true,
  maxTokens: true,
  temperature: true,
  system: true,
  extra: true,
  budget: true,
  ledger: true,
  prices: true,
  batchId: true,
} satisfies Record<keyof MapBatchOptions, true>;

/** The names of the options of a vote by batch. */
export const CONSENSUS_BATCH_NAMES = {
  ...MAP_BATCH_NAMES,
  numSamples: true,
  strategy: true,
  normalize: true,
  minValid: true,
  minAgreement: true,
  onTie: true,
} satisfies Record<keyof ConsensusBatchOptions, true>;

/** How a vote by batch came about. */
export interface ConsensusBatchMetadata extends ConsensusMetadata {
  /** The batch. */
  readonly batchId: string;
}

/** How a map by batch came about. */
export interface MapBatchMetadata {
  /** The batch. */
  readonly batchId: string;
  /** How many prompts there were. */
  readonly numRequests: number;
  /** Answers that were cut off, by index. */
  readonly truncated: readonly number[];
}
