/**
 * Consensus, refine, react, structured, map-reduce, and what composes them.
 *
 * @module
 */
export { consensus } from "./consensus.ts";
export {
  CONSENSUS_TEMPERATURE,
  type ConsensusMetadata,
  type ConsensusOptions,
  type ConsensusSample,
  DEFAULT_SAMPLES,
  MAX_SAMPLES,
  type SampleCounts,
  type SampleOutcome,
  type SampleReport,
} from "./consensus_options.ts";
export type { PatternOptions, PatternResult, SpendFacts } from "./options.ts";
export {
  castVote,
  tallyVotes,
  type Vote,
  type VoteGroup,
  type VoteNormalization,
  type VoteTally,
} from "./vote.ts";
