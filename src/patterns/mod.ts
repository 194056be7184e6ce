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
export { cancelBatch, consensusBatch, lookAtBatch, mapBatch } from "./batches.ts";
export type { BatchStatus } from "./batch_client.ts";
export type {
  BatchEndpoint,
  BatchOptions,
  BatchProgress,
  ConsensusBatchMetadata,
  ConsensusBatchOptions,
  MapBatchMetadata,
  MapBatchOptions,
} from "./batch_options.ts";
export { calculatorTool, echoTool } from "./builtin_tools.ts";
export { type CheckpointStore, createMemoryCheckpointStore } from "./checkpoint_store.ts";
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
export { createTelemetry } from "./create_telemetry.ts";
export {
  type ConversationScript,
  type ConversationTurn,
  runConversation,
} from "./eval_conversation.ts";
export type {
  EvalCase,
  EvalLimits,
  EvalReport,
  EvalResult,
  EvalSuiteOptions,
  EvalVerdict,
  PassRate,
} from "./eval_options.ts";
export { reportJUnit } from "./eval_report.ts";
export { passRate, runEvalSuite } from "./evals.ts";
export { Kit, type KitOptions, type SessionOptions } from "./kit.ts";
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
  type PipeOptions,
  type PipeStep,
  type PipeStepReport,
} from "./pipe.ts";
export { Plan, type PlanStep, type PlanStepContext } from "./plan.ts";
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
export {
  type Route,
  type RoutedPattern,
  type RoutedRunOptions,
  Router,
  type RouteRule,
} from "./router.ts";
export type { StepContext } from "./step_context.ts";
export { structured } from "./structured.ts";
export type { StructuredMetadata, StructuredOptions, Validator } from "./structured_options.ts";
export type { ServerCall, ServerSpan, Telemetry, TelemetryOptions } from "./telemetry_options.ts";
export {
  castVote,
  tallyVotes,
  type Vote,
  type VoteGroup,
  type VoteNormalization,
  type VoteTally,
} from "./vote.ts";
export { Workflow } from "./workflow.ts";
export type {
  WorkflowCheckpoint,
  WorkflowMetadata,
  WorkflowOptions,
  WorkflowStep,
  WorkflowStepContext,
  WorkflowStepReport,
} from "./workflow_options.ts";
