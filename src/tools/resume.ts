/**
 * The tool `resume`: goes on with a suspended run, or looks at one under way.
 *
 * @module
 */
import type { Emitted, ResumeRequest } from "../host/mod.ts";
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
import { emittedOutcome } from "./outcome.ts";
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
    refuse: async (problems, args) =>
      emittedOutcome(await setting.host.resume(resumeRequest(args), { problems })),
  };
}

async function callResume(
  setting: ToolSetting,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.state !== undefined) {
    const wait = present({ waitSeconds: numberArgument(args, "wait_seconds") });
    return await continueAsked(setting, context, { detail: detailArgument(args), ...wait });
  }
  const request = resumeRequest(args);
  const emitted = await setting.host.resume(request, callOptions(setting, context));
  return await answerOrAsk(emitted, context, { shown: isShown(request, emitted) });
}

/** Whether the call only looked: at a run, or at the suspension that it named and that still has its handle. */
function isShown({ run, inputs, checkpoint }: ResumeRequest, { object }: Emitted): boolean {
  return run !== undefined || (inputs === undefined && object["checkpoint"] === checkpoint);
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
