/**
 * The tool `list_machines`: what can be run by name.
 *
 * @module
 */
import type { Tool } from "../mcp/mod.ts";
import { defineTool } from "./definitions.ts";
import { emittedOutcome } from "./outcome.ts";
import type { ToolSetting } from "./setting.ts";

/**
 * Makes the tool.
 *
 * @param setting What it is made from.
 * @returns The tool.
 */
export function listMachinesTool(setting: ToolSetting): Tool {
  return {
    ...defineTool("list_machines", setting),
    call: async () => emittedOutcome(await setting.host.listMachines()),
    refuse: async (problems) => emittedOutcome(await setting.host.listMachines({}, { problems })),
  };
}
