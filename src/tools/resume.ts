/**
 * The tool `resume`: goes on with a suspended run, or looks at one under way.
 *
 * @module
 */
import type { ResumeRequest } from "../host/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { Tool, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import {
  booleanArgument,
  numberArgument,
  objectArgument,
  present,
  textArgument,
} from "./arguments.ts";
import { answerOrAsk, continueAsked } from "./ask.ts";
import { callOptions } from "./call_options.ts";
import { defineTool } from "./definitions.ts";
import { detailArgument } from "./detail.ts";
import type { ToolSetting } from "./setting.ts";

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function resumeTool(setting: ToolSetting): Tool {
  return {
    ...defineTool("resume", setting),
    call: (args, context) => callResume(setting, args, context),
  };
}

async function callResume(
  setting: ToolSetting,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.state !== undefined) {
    return await continueAsked(setting, context, { detail: detailArgument(args) });
  }
  const request = resumeRequest(args);
  const emitted = await setting.host.resume(request, callOptions(setting, context));
  return await answerOrAsk(emitted, context, { shown: request.inputs === undefined });
}

function resumeRequest(args: JsonObject): ResumeRequest {
  return {
    ...present({
      checkpoint: textArgument(args, "checkpoint"),
      run: textArgument(args, "run"),
      cancel: booleanArgument(args, "cancel"),
      inputs: objectArgument(args, "inputs"),
      costBudget: numberArgument(args, "cost_budget"),
      checkpointPath: textArgument(args, "checkpoint_path"),
      force: booleanArgument(args, "force"),
      onTruncate: textArgument(args, "on_truncate"),
      onUntrustedFlow: textArgument(args, "on_untrusted_flow"),
      waitSeconds: numberArgument(args, "wait_seconds"),
    }),
    detail: detailArgument(args),
  };
}
