/**
 * The names that spans and their attributes have: those of OpenTelemetry's conventions for generative AI
 * ({@link https://opentelemetry.io/docs/specs/semconv/gen-ai/ | status: development}, as of version 1.37) and for MCP, in
 * one table, because they still change. What the conventions have no name for begins with `kit.`.
 *
 * @module
 */

/** Attribute names. */
export const ATTRIBUTES = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestSeed: "gen_ai.request.seed",
  requestStream: "gen_ai.request.stream",
  outputType: "gen_ai.output.type",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  tool: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  httpStatus: "http.response.status_code",
  mcpMethod: "mcp.method.name",
  mcpVersion: "mcp.protocol.version",
  rpcRequestId: "jsonrpc.request.id",
  transport: "network.transport",
  attempts: "kit.attempts",
  attempt: "kit.attempt",
  retryInMs: "kit.retry_in_ms",
  sample: "kit.sample.index",
  round: "kit.round",
  step: "kit.step.name",
  calls: "kit.usage.llm_calls",
  uncertainTokens: "kit.usage.uncertain_tokens",
  blocked: "kit.approval.blocked",
  abandoned: "kit.abandoned",
  approved: "kit.approval.approved",
  approvalAction: "kit.approval.action",
  approvalSubject: "kit.approval.subject",
  approvalReason: "kit.approval.reason",
  route: "kit.route",
  checkpoint: "kit.checkpoint.name",
  checkpointStored: "kit.checkpoint.stored",
} as const;

/** Operation names. */
export const OPERATIONS = {
  chat: "chat",
  tool: "execute_tool",
  agent: "invoke_agent",
  workflow: "invoke_workflow",
} as const;

/** Patterns whose spans are workflows; the others are agents. */
export const WORKFLOW_PATTERNS: ReadonlySet<string> = new Set(["workflow", "pipe", "map_reduce"]);

/** What a call of a model has for its provider where nothing is known. */
export const DEFAULT_PROVIDER = "openai";
