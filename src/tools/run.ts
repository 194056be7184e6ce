/**
 * The tool `run`: a machine in, its result with everything that led to it out.
 *
 * @module
 */
import type { RunRequest } from "../host/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { Tool, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import {
  booleanArgument,
  numberArgument,
  objectArgument,
  present,
  textArgument,
} from "./arguments.ts";
import { callOptions } from "./call_options.ts";
import { defineTool } from "./definitions.ts";
import { answerOrAsk, continueAsked } from "./ask.ts";
import { detailArgument } from "./detail.ts";
import { emittedOutcome } from "./outcome.ts";
import type { ToolSetting } from "./setting.ts";

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function runTool(setting: ToolSetting): Tool {
  return {
    ...defineTool("run", setting),
    call: (args, context) => callRun(setting, args, context),
    refuse: async (problems, args) =>
      emittedOutcome(await setting.host.run(runRequest(args), { problems })),
  };
}

async function callRun(
  setting: ToolSetting,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.state !== undefined) {
    const wait = present({ waitSeconds: numberArgument(args, "wait_seconds") });
    return await continueAsked(setting, context, { detail: detailArgument(args), ...wait });
  }
  const emitted = await setting.host.run(runRequest(args), callOptions(setting, context));
  return await answerOrAsk(emitted, context);
}

function runRequest(args: JsonObject): RunRequest {
  return {
    ...present({
      source: textArgument(args, "source"),
      path: textArgument(args, "path"),
      inputs: objectArgument(args, "inputs"),
      costBudget: numberArgument(args, "cost_budget"),
      provider: textArgument(args, "provider"),
      hitl: booleanArgument(args, "hitl"),
      strict: booleanArgument(args, "strict"),
      checkpointPath: textArgument(args, "checkpoint_path"),
      onTruncate: textArgument(args, "on_truncate"),
      onUntrustedFlow: textArgument(args, "on_untrusted_flow"),
      waitSeconds: numberArgument(args, "wait_seconds"),
    }),
    detail: detailArgument(args),
  };
}
