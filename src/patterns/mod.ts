/**
 * Consensus, refine, react, structured, map-reduce, and what composes them.
 *
 * @module
 */
export {
  type ApprovalDecision,
  ApprovalGate,
  type ApprovalGateOptions,
  type ApprovalRequest,
  type Approver,
} from "./approval.ts";
export { calculatorTool, echoTool } from "./builtin_tools.ts";
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
export {
  type MapFailure,
  type MapItemReport,
  mapReduce,
  type MapReduceMetadata,
  type MapReduceOptions,
} from "./map_reduce.ts";
export type { PatternOptions, PatternResult, SpendFacts } from "./options.ts";
export {
  pipe,
  type PipeMetadata,
  type PipeStep,
  type PipeStepReport,
  type StepContext,
} from "./pipe.ts";
export { reactLoop } from "./react_loop.ts";
export {
  DEFAULT_MAX_OBSERVATION_CHARS,
  DEFAULT_MAX_ROUNDS,
  REACT_TEMPERATURE,
  type ReactCheckpoint,
  type ReactLoopOptions,
  type ReactMetadata,
  type ReactStep,
  type ReactTool,
  type RoundReport,
  type SummaryRequest,
  type TerminationReason,
  type ToolRunContext,
} from "./react_options.ts";
export { refineLoop } from "./refine_loop.ts";
export {
  type EvaluationContext,
  type Evaluator,
  type RefineCheckpoint,
  type RefineMetadata,
  type RefineOptions,
  type RefineStopReason,
} from "./refine_options.ts";
export { structured } from "./structured.ts";
export type { StructuredMetadata, StructuredOptions, Validator } from "./structured_options.ts";
export {
  castVote,
  tallyVotes,
  type Vote,
  type VoteGroup,
  type VoteNormalization,
  type VoteTally,
} from "./vote.ts";
