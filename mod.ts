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
  createPriceTable,
  type FinishReason,
  KitError,
  type KitErrorCode,
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
  type RetryPolicy,
  type StreamEvent,
  type TokenUsage,
  type ToolCall,
  type ToolSchema,
  type TraceEvent,
  type TraceSink,
  type Usage,
} from "./src/llm/mod.ts";
export {
  consensus,
  type ConsensusMetadata,
  type ConsensusOptions,
  type PatternOptions,
  type PatternResult,
  tallyVotes,
  type VoteNormalization,
  type VoteTally,
} from "./src/patterns/mod.ts";

setAmbientPorts(createPorts());

if (import.meta.main) await (await import("./mcp.ts")).main();
