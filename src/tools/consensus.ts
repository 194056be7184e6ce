/**
 * The tool `consensus`: one question, several independent answers, one vote.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the wire names of results
import type { JsonObject } from "../json/mod.ts";
import type { ConsensusMetadata, PatternResult } from "../patterns/mod.ts";
import type { Tool, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import { numberArgument, present, textArgument } from "./arguments.ts";
import { costLine, costObject, ratioText } from "./cost.ts";
import { DEFAULT_SAMPLES, defineTool, MAX_ANSWER_TOKENS } from "./definitions.ts";
import { withHeartbeat } from "./heartbeat.ts";
import { type ModelCall, SCRIPTED_LINE, withModel } from "./model_call.ts";
import { outcome, shownValue } from "./outcome.ts";
import { tracingOf } from "./telemetry.ts";
import { refuseBlank, refusePrompt } from "./prompt.ts";
import type { ToolSetting } from "./setting.ts";

/** Not a literal where it is imported, and no more of the room than a vote needs. */
const CONSENSUS: string = "../patterns/consensus.ts";
/** Requests allowed for one sample: the first and two retries. */
const CALLS_PER_SAMPLE = 3;
/** Most groups of a vote that the result lists. */
const MAX_TALLY = 9;
/** Most characters of a group's text in the list. */
const MAX_TALLY_CHARS = 2000;

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function consensusTool(setting: ToolSetting): Tool {
  return {
    ...defineTool("consensus", setting),
    call: (args, context) => {
      const samples = numberArgument(args, "n") ?? DEFAULT_SAMPLES;
      const refused = refuseBlank(args);
      if (refused !== undefined) return Promise.resolve(refused);
      const options = { what: "Vote failed", maxCalls: CALLS_PER_SAMPLE * samples };
      return withModel(setting, options, (call) => vote(call, args, { context, samples, setting }));
    },
    refuse: (problems, args) => Promise.resolve(refusePrompt(problems, args)),
  };
}

async function vote(
  call: ModelCall,
  args: JsonObject,
  { context, samples, setting }: {
    readonly context: ToolContext;
    readonly samples: number;
    readonly setting: ToolSetting;
  },
): Promise<ToolOutcome> {
  const { consensus }: typeof import("../patterns/consensus.ts") = await import(CONSENSUS);
  const unanimous = textArgument(args, "strategy") === "unanimous";
  const { ports } = setting.host;
  const beats = { context, clock: ports.clock, what: "sample", total: samples };
  const result = await withHeartbeat(
    beats,
    (heartbeat) =>
      consensus(call.provider, textArgument(args, "prompt") ?? "", {
        numSamples: samples,
        strategy: unanimous ? "unanimous" : "majority",
        maxConcurrency: samples,
        maxTokens: numberArgument(args, "max_tokens") ?? MAX_ANSWER_TOKENS,
        ledger: call.ledger,
        deadlineMs: call.deadlineMs,
        signal: context.signal,
        ports,
        ...tracingOf(context),
        onSample: ({ done, requested }) => heartbeat.done(done, requested),
        ...present({
          temperature: numberArgument(args, "temperature"),
          system: textArgument(args, "system"),
        }),
      }),
  );
  return voteOutcome(result, call);
}

function voteOutcome(
  { metadata, value }: PatternResult<string, ConsensusMetadata>,
  call: ModelCall,
): ToolOutcome {
  const spent = call.ledger.spent;
  const shown = shownValue(value);
  const object = {
    ...shown.members,
    agreement_ratio: metadata.agreementRatio,
    unique_responses: metadata.uniqueResponses,
    tie_count: metadata.tieCount,
    strategy: metadata.strategy,
    samples: { ...metadata.samples },
    tally: metadata.tally.slice(0, MAX_TALLY).map((group) => ({
      value: Array.from(group.value).slice(0, MAX_TALLY_CHARS).join(""),
      count: group.count,
    })),
    cost: costObject(spent),
    ...(call.provider.model === undefined ? {} : { model: call.provider.model }),
    ...(call.scripted ? { scripted: true } : {}),
    duration_ms: call.elapsedMs(),
  };
  const lines = [
    ...shown.lines,
    "",
    `agreement_ratio: ${ratioText(metadata.agreementRatio)}`,
    `unique_responses: ${metadata.uniqueResponses}`,
    ...(call.scripted ? [SCRIPTED_LINE] : []),
    costLine(spent),
  ];
  return outcome(lines.join("\n"), object);
}
