/**
 * The tool `describe_machine`: what one machine needs, does and gives.
 *
 * @module
 */
import type { Tool } from "../mcp/mod.ts";
import { textArgument } from "./arguments.ts";
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
export function describeMachineTool(setting: ToolSetting): Tool {
  const { host } = setting;
  return {
    ...defineTool("describe_machine", setting),
    call: async (args, context) => {
      const name = textArgument(args, "name") ?? "";
      return emittedOutcome(await host.describeMachine(name, callOptions(setting, context)));
    },
    refuse: async (problems) => emittedOutcome(await host.describeMachine("", { problems })),
  };
}
