/**
 * The tool `check`: every problem of a machine, without running it.
 *
 * @module
 */
import type { CheckRequest } from "../host/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { Tool } from "../mcp/mod.ts";
import { booleanArgument, present, textArgument } from "./arguments.ts";
import { callOptions } from "./call_options.ts";
import { defineTool } from "./definitions.ts";
import { emittedOutcome } from "./outcome.ts";
import type { ToolSetting } from "./setting.ts";

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function checkTool(setting: ToolSetting): Tool {
  const { host } = setting;
  return {
    ...defineTool("check", setting),
    call: async (args, context) =>
      emittedOutcome(await host.check(checkRequest(args), callOptions(setting, context))),
    refuse: async (problems, args) =>
      emittedOutcome(await host.check(checkRequest(args), { problems })),
  };
}

function checkRequest(args: JsonObject): CheckRequest {
  return present({
    source: textArgument(args, "source"),
    path: textArgument(args, "path"),
    strict: booleanArgument(args, "strict"),
  });
}
