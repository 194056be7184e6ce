/**
 * The tool `react_loop`: a model that reasons in rounds with a calculator. The toolset is fixed: nothing on the wire can
 * add to it.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the wire names of results
import type { JsonObject } from "../json/mod.ts";
import type { PatternResult, ReactMetadata } from "../patterns/mod.ts";
import type { Tool, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import { numberArgument, textArgument } from "./arguments.ts";
import { costLine, costObject } from "./cost.ts";
import { DEFAULT_ROUNDS, defineTool, MAX_ANSWER_TOKENS } from "./definitions.ts";
import { withHeartbeat } from "./heartbeat.ts";
import { type ModelCall, SCRIPTED_LINE, withModel } from "./model_call.ts";
import { outcome, shownValue } from "./outcome.ts";
import { tracingOf } from "./telemetry.ts";
import { refuseBlank, refusePrompt } from "./prompt.ts";
import type { ToolSetting } from "./setting.ts";

/** Not literals where they are imported, and no more of the room than a loop needs. */
const REACT_LOOP: string = "../patterns/react_loop.ts";
const BUILTIN_TOOLS: string = "../patterns/builtin_tools.ts";
/** Requests allowed for one round: the first and two retries. */
const CALLS_PER_ROUND = 3;
/** Most steps that the result lists. */
const MAX_STEPS = 64;

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function reactLoopTool(setting: ToolSetting): Tool {
  return {
    ...defineTool("react_loop", setting),
    call: (args, context) => {
      const rounds = numberArgument(args, "max_rounds") ?? DEFAULT_ROUNDS;
      const refused = refuseBlank(args);
      if (refused !== undefined) return Promise.resolve(refused);
      const options = { what: "Tool loop failed", maxCalls: CALLS_PER_ROUND * rounds };
      return withModel(setting, options, (call) => loop(call, args, { context, rounds, setting }));
    },
    refuse: (problems, args) => Promise.resolve(refusePrompt(problems, args)),
  };
}

async function loop(
  call: ModelCall,
  args: JsonObject,
  { context, rounds, setting }: {
    readonly context: ToolContext;
    readonly rounds: number;
    readonly setting: ToolSetting;
  },
): Promise<ToolOutcome> {
  const { reactLoop }: typeof import("../patterns/react_loop.ts") = await import(REACT_LOOP);
  const { calculatorTool, echoTool }: typeof import("../patterns/builtin_tools.ts") = await import(
    BUILTIN_TOOLS
  );
  const { ports } = setting.host;
  const beats = { context, clock: ports.clock, what: "round", total: rounds, atMost: true };
  const result = await withHeartbeat(beats, async (heartbeat) => {
    const looped = await reactLoop(call.provider, textArgument(args, "prompt") ?? "", {
      tools: [calculatorTool, echoTool],
      maxRounds: rounds,
      maxTokens: numberArgument(args, "max_tokens") ?? MAX_ANSWER_TOKENS,
      ledger: call.ledger,
      deadlineMs: call.deadlineMs,
      signal: context.signal,
      ports,
      ...tracingOf(context),
      onRound: ({ round, maxRounds }) => heartbeat.done(round, maxRounds),
    });
    heartbeat.done(looped.metadata.rounds, rounds);
    return looped;
  });
  return loopOutcome(result, call);
}

function loopOutcome(
  { metadata, value }: PatternResult<string, ReactMetadata>,
  call: ModelCall,
): ToolOutcome {
  const spent = call.ledger.spent;
  const shown = shownValue(value);
  const object = {
    ...shown.members,
    rounds: metadata.rounds,
    tool_calls_made: metadata.toolCallsMade,
    failed_tool_calls: metadata.failedToolCalls,
    rejected_tool_calls: metadata.rejectedToolCalls,
    truncated_responses: metadata.truncatedResponses,
    truncated_observations: metadata.truncatedObservations,
    termination_reason: metadata.terminationReason,
    steps: metadata.steps.slice(0, MAX_STEPS).map((step) => ({
      round: step.round,
      tool: step.tool,
      ok: step.ok,
      duration_ms: Math.round(step.durationMs),
    })),
    cost: costObject(spent),
    ...(call.provider.model === undefined ? {} : { model: call.provider.model }),
    ...(call.scripted ? { scripted: true } : {}),
    duration_ms: call.elapsedMs(),
  };
  const lines = [
    ...shown.lines,
    "",
    `rounds: ${metadata.rounds}`,
    `tool_calls_made: ${metadata.toolCallsMade}`,
    ...(call.scripted ? [SCRIPTED_LINE] : []),
    costLine(spent),
  ];
  return outcome(lines.join("\n"), object);
}
