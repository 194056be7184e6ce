import { assertEquals } from "@std/assert";

const LIBRARY = [
  "ANTHROPIC_VERSION",
  "AbortedError",
  "ApprovalGate",
  "BudgetExhaustedError",
  "CONSENSUS_TEMPERATURE",
  "ConfigError",
  "DEFAULT_IDLE_TIMEOUT_MS",
  "DEFAULT_MAX_OBSERVATION_CHARS",
  "DEFAULT_MAX_RESPONSE_BYTES",
  "DEFAULT_MAX_ROUNDS",
  "DEFAULT_SAMPLES",
  "DEFAULT_TIMEOUT_MS",
  "Kit",
  "KitError",
  "LlmError",
  "MAX_SAMPLES",
  "PatternError",
  "Plan",
  "REACT_TEMPERATURE",
  "Router",
  "SCRIPTED_WARNING",
  "Workflow",
  "calculatorTool",
  "callModel",
  "cancelBatch",
  "castVote",
  "checkMachine",
  "consensus",
  "consensusBatch",
  "createAnthropicProvider",
  "createFailoverProvider",
  "createLedger",
  "createLimiter",
  "createMemoryCheckpointStore",
  "createOpenAiProvider",
  "createPriceTable",
  "createRedactor",
  "createRegistry",
  "createRouterProvider",
  "createScriptedOracle",
  "createScriptedProvider",
  "createTelemetry",
  "echoTool",
  "estimateCost",
  "estimateRun",
  "evaluateArithmetic",
  "extractJson",
  "lintMachine",
  "lookAtBatch",
  "mapBatch",
  "mapReduce",
  "parseMachine",
  "passRate",
  "pipe",
  "reactLoop",
  "refineLoop",
  "reportJUnit",
  "resultObject",
  "resumeMachine",
  "runConversation",
  "runEvalSuite",
  "runMachine",
  "streamModel",
  "structured",
  "tallyVotes",
];

const TESTING = [
  "ManualClock",
  "MockProvider",
  "SeededRandom",
  "manualPorts",
  "mockToolCall",
  "pairedStreams",
  "recordProvider",
  "replayProvider",
];

Deno.test("mod.ts exports these values and no others", async () => {
  assertEquals(Object.keys(await import("../mod.ts")).toSorted(), LIBRARY);
});

Deno.test("the testing entry exports these values and no others", async () => {
  assertEquals(Object.keys(await import("../src/testing/mod.ts")).toSorted(), TESTING);
});

Deno.test("the entries of deno.json are the library, the server, the command line and the doubles", async () => {
  const { exports } = JSON.parse(await Deno.readTextFile("deno.json"));
  assertEquals(exports, {
    ".": "./mod.ts",
    "./mcp": "./mcp.ts",
    "./cli": "./src/cli/mod.ts",
    "./testing": "./src/testing/mod.ts",
  });
});
