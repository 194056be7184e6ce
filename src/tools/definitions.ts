/**
 * What `tools/list` says of each tool. Static data, so that listing loads nothing and costs a client few tokens: a
 * definition is sent into every conversation of every host.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- names of tool arguments and results on the wire
import type { JsonObject } from "../json/mod.ts";
import type { Tool, ToolAnnotations } from "../mcp/mod.ts";
import type { ServedName, ToolName } from "./names.ts";

/** A tool without its handler. */
export type ToolDefinition = Omit<Tool, "call" | "refuse">;

/** What a definition depends on. */
export interface DefinitionOptions {
  /** How tools are called. */
  readonly served: ServedName;
  /** Whether machines may write files, so that hosts ask before they let a model run one. */
  readonly allowWrite: boolean;
}

/** Most samples of one vote over the wire. */
export const MAX_SAMPLES = 9;
/** Samples of a vote if the call names no number. */
export const DEFAULT_SAMPLES = 3;
/** Most rounds of one tool loop over the wire. */
export const MAX_ROUNDS = 8;
/** Rounds of a tool loop if the call names no number. */
export const DEFAULT_ROUNDS = 5;
/** Most characters of a prompt. */
export const MAX_PROMPT_CHARS = 100_000;
/** Most characters of a system text. */
export const MAX_SYSTEM_CHARS = 20_000;
/** Most tokens of one answer. */
export const MAX_ANSWER_TOKENS = 4096;

const PROMPT = { type: "string", minLength: 1, maxLength: MAX_PROMPT_CHARS };
const MAX_TOKENS = { type: "integer", minimum: 1, maximum: MAX_ANSWER_TOKENS };
const POLICY = { type: "string", enum: ["report", "halt"] };
const DETAIL = { type: "string", enum: ["summary", "full"] };
const INPUTS = { type: "object", properties: {}, additionalProperties: true };

/** Enough of the language to write a first machine; what it leaves open, the errors of `check` say. A test runs it. */
const SOURCE_HINT = "The machine, YAML, such as " +
  '{machine: post, entry: a, budget: 6, result: draft, context: {topic: ""}, states: {' +
  'a: {prompt: "Write on {{topic}}", structure: One paragraph, output: draft, gates: [' +
  "{when: it is good, then: ok, to: END}, {when: it is too long, repair: 2, to: a}, " +
  '{when: otherwise, escalate: true, to: b, ask: "What is to change?"}]}, ' +
  'b: {prompt: "Change {{draft}}: {{human.reply}}", structure: One paragraph, output: draft, ' +
  "gates: [{when: otherwise, then: ok, to: END}]}}}";

const ASKS_MODEL: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

const LOOKS_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Gives the definition of a tool.
 *
 * @param name The tool, without a prefix.
 * @param options What it depends on.
 * @returns Everything but the handler.
 */
export function defineTool(name: ToolName, options: DefinitionOptions): ToolDefinition {
  return { name: options.served(name), ...DEFINITIONS[name](options) };
}

type Definer = (options: DefinitionOptions) => Omit<ToolDefinition, "name">;

const DEFINITIONS: Readonly<Record<ToolName, Definer>> = {
  consensus: () => ({
    title: "Vote on a question",
    description:
      "Asks the configured model the same question several times, independently, and returns the " +
      "answer that most samples agree on, with the votes. For decisions, labels and short answers. " +
      "Costs up to n model calls; temperature 0.9 unless given.",
    inputSchema: input({
      prompt: PROMPT,
      n: { type: "integer", minimum: 1, maximum: MAX_SAMPLES, default: DEFAULT_SAMPLES },
      strategy: { type: "string", enum: ["majority", "unanimous"], default: "majority" },
      temperature: { type: "number", minimum: 0, maximum: 2 },
      max_tokens: MAX_TOKENS,
      system: { type: "string", maxLength: MAX_SYSTEM_CHARS },
    }, ["prompt"]),
    outputSchema: output({
      value: "string",
      agreement_ratio: "number",
      unique_responses: "integer",
      tie_count: "integer",
      strategy: "string",
      samples: "object",
      cost: "object",
    }),
    annotations: ASKS_MODEL,
  }),
  react_loop: () => ({
    title: "Reason with a calculator",
    description:
      "Lets the configured model think in rounds with two fixed tools, calculator and echo, and " +
      "returns its final answer. No other tools can be added. Costs up to max_rounds model calls; " +
      "temperature 0.3.",
    inputSchema: input({
      prompt: PROMPT,
      max_rounds: { type: "integer", minimum: 1, maximum: MAX_ROUNDS, default: DEFAULT_ROUNDS },
      max_tokens: MAX_TOKENS,
    }, ["prompt"]),
    outputSchema: output({
      value: "string",
      rounds: "integer",
      tool_calls_made: "integer",
      termination_reason: "string",
      cost: "object",
    }),
    annotations: ASKS_MODEL,
  }),
  run: ({ served, allowWrite }) => ({
    title: "Run a machine",
    description:
      "Runs a state machine written in Kit's YAML language and returns its result, the path taken, " +
      `tokens and an honest status. Give source, or path (a file or a name from ${
        served("list_machines")
      }). status "suspended": answer with ${
        served("resume")
      } {checkpoint, inputs}. status "running": look with ${served("resume")} {run}.`,
    inputSchema: input({
      source: { type: "string", description: SOURCE_HINT },
      path: { type: "string" },
      inputs: { ...INPUTS, description: "Context values by dotted path" },
      cost_budget: { type: "integer", minimum: 1, description: "Most tokens" },
      provider: { type: "string", description: "A configured provider" },
      hitl: { type: "boolean", default: false, description: "Pause for a person on escalation" },
      strict: { type: "boolean", default: false },
      checkpoint_path: { type: "string", description: "Also keep a suspension in this file" },
      on_truncate: POLICY,
      on_untrusted_flow: POLICY,
      wait_seconds: { type: "number", minimum: 0, description: "0: no limit" },
      detail: DETAIL,
    }, []),
    outputSchema: RUN_OUTPUT,
    annotations: runs({ allowWrite }),
  }),
  resume: ({ served, allowWrite }) => ({
    title: "Resume or watch a run",
    description:
      "checkpoint: continues a suspended run once, with inputs (the person's reply goes to the " +
      "reply_to path); without inputs a question is only shown again. run: waits for a running " +
      `${served("run")} and shows where it is; with cancel, stops it.`,
    inputSchema: input({
      checkpoint: { type: "string", description: "Handle or checkpoint file" },
      run: { type: "string", description: "Run handle" },
      inputs: { ...INPUTS, description: "Values by dotted path" },
      cancel: { type: "boolean", default: false },
      cost_budget: { type: "integer", minimum: 1, description: "Total, tokens spent included" },
      checkpoint_path: { type: "string" },
      force: { type: "boolean", default: false, description: "Accept a changed machine" },
      on_truncate: POLICY,
      on_untrusted_flow: POLICY,
      wait_seconds: { type: "number", minimum: 0 },
      detail: DETAIL,
    }, []),
    outputSchema: RUN_OUTPUT,
    annotations: runs({ allowWrite }),
  }),
  check: ({ served }) => ({
    title: "Check a machine",
    description:
      "Finds every problem of a machine without running it: errors block a run, warnings and lint " +
      `do not. Spends nothing. Give source or path, then fix and ${served("run")}.`,
    inputSchema: input({
      source: { type: "string" },
      path: { type: "string", description: "File or machine name" },
      strict: { type: "boolean", default: false },
    }, []),
    outputSchema: output({ ok: "boolean", errors: "array", warnings: "array", lint: "array" }),
    annotations: LOOKS_ONLY,
  }),
  list_machines: ({ served }) => ({
    title: "List machines",
    description: `Lists the machines that ${served("run")} knows by name, with what they need.`,
    inputSchema: input({}, []),
    outputSchema: output({ machines: "array", warnings: "array" }),
    annotations: LOOKS_ONLY,
  }),
  describe_machine: ({ served }) => ({
    title: "Describe a machine",
    description: `Shows states, gates, inputs, result and the YAML text of a machine from ${
      served("list_machines")
    }, to run or to learn from.`,
    inputSchema: input({ name: { type: "string", minLength: 1 } }, ["name"]),
    outputSchema: output({
      name: "string",
      entry: "string",
      budget: "integer",
      states: "array",
      warnings: "array",
    }),
    annotations: LOOKS_ONLY,
  }),
};

const RUN_OUTPUT: JsonObject = {
  type: "object",
  required: ["status", "result", "error", "usage", "trace", "warnings"],
  properties: {
    status: { type: "string" },
    result: {},
    error: {},
    usage: {},
    trace: { type: "array" },
    warnings: { type: "array" },
  },
};

function runs({ allowWrite }: Pick<DefinitionOptions, "allowWrite">): ToolAnnotations {
  return {
    readOnlyHint: false,
    destructiveHint: allowWrite,
    idempotentHint: false,
    openWorldHint: true,
  };
}

function input(properties: JsonObject, required: readonly string[]): JsonObject {
  const schema = { type: "object", properties, additionalProperties: false };
  return required.length === 0 ? schema : { ...schema, required };
}

function output(types: Readonly<Record<string, string>>): JsonObject {
  const properties = Object.fromEntries(
    Object.entries(types).map(([key, type]) => [key, { type }]),
  );
  return { type: "object", required: Object.keys(types), properties };
}
