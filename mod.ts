/**
 * Kit: votes, tool loops and state machines for agents.
 *
 * As a library, import what you need:
 *
 * ```ts
 * import { consensus } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 *
 * const { value } = await consensus(new MockProvider(["yes", "no", "yes"]), "Prime?", { numSamples: 3 });
 * if (value !== "yes") throw new Error(value);
 * ```
 *
 * As a program, this module serves MCP on its standard input and output: `deno run -A jsr:@kit/mcp`.
 *
 * @module
 */
import { createPorts } from "./src/platform/mod.ts";
import { setAmbientPorts } from "./src/ports/mod.ts";

export type { JsonArray, JsonObject, JsonValue } from "./src/json/mod.ts";
export type { Clock, Deadline, Fetch, LocalTime, Ports, Random } from "./src/ports/mod.ts";
export {
  AbortedError,
  type Budget,
  BudgetExhaustedError,
  callModel,
  type CallOptions,
  type CompleteOptions,
  ConfigError,
  createLedger,
  createLimiter,
  createPriceTable,
  createRedactor,
  type Estimate,
  evaluateArithmetic,
  extractJson,
  type FinishReason,
  KitError,
  type KitErrorCode,
  type KitErrorOptions,
  type Ledger,
  type LedgerOptions,
  type Limiter,
  LlmError,
  type LlmProvider,
  type LlmResponse,
  type Message,
  PatternError,
  type PriceTable,
  type Rates,
  type Reservation,
  type RetryPolicy,
  type StreamEvent,
  streamModel,
  type TokenUsage,
  type ToolCall,
  type ToolSchema,
  type TraceEvent,
  type TraceSink,
  type Usage,
} from "./src/llm/mod.ts";
export {
  ApprovalGate,
  type ApprovalGateOptions,
  type ApprovalRequest,
  calculatorTool,
  castVote,
  consensus,
  type ConsensusMetadata,
  type ConsensusOptions,
  echoTool,
  type Evaluator,
  mapReduce,
  type MapReduceMetadata,
  type MapReduceOptions,
  type PatternOptions,
  type PatternResult,
  pipe,
  type PipeMetadata,
  type PipeStep,
  reactLoop,
  type ReactLoopOptions,
  type ReactMetadata,
  type ReactTool,
  refineLoop,
  type RefineMetadata,
  type RefineOptions,
  structured,
  type StructuredMetadata,
  type StructuredOptions,
  tallyVotes,
  type Vote,
  type VoteNormalization,
  type VoteTally,
} from "./src/patterns/mod.ts";
export {
  type AnthropicProviderOptions,
  createAnthropicProvider,
  createFailoverProvider,
  createOpenAiProvider,
  createRouterProvider,
  createScriptedProvider,
  type HttpProviderOptions,
  type OpenAiProviderOptions,
} from "./src/providers/mod.ts";
export {
  checkMachine,
  createRegistry,
  estimateRun,
  lintMachine,
  type MachineRunOptions,
  parseMachine,
  resumeMachine,
  runMachine,
} from "./src/machine/library_door.ts";
export { createScriptedOracle, type Script } from "./src/machine/scripted_oracle.ts";
export { resultObject } from "./src/machine/trace.ts";
export type {
  Diagnostic,
  Frame,
  Gate,
  Hook,
  HostTool,
  Machine,
  MachineEvent,
  Oracle,
  Position,
  ReadResult,
  Registry,
  RunOptions,
  RunResult,
  State,
  Tier,
  TraceStep,
} from "./src/machine/mod.ts";

setAmbientPorts(createPorts());

if (import.meta.main) await (await import("./mcp.ts")).main();
