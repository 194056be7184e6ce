/**
 * The tool `check`: every problem of a machine, without running it.
 *
 * @module
 */
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
  return {
    ...defineTool("check", setting),
    call: async (args, context) =>
      emittedOutcome(
        await setting.host.check(
          present({
            source: textArgument(args, "source"),
            path: textArgument(args, "path"),
            strict: booleanArgument(args, "strict"),
          }),
          callOptions(setting, context),
        ),
      ),
  };
}
