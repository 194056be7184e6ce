/**
 * One file per MCP tool: arguments in, result out. Definitions are static data and handlers load what they need on the
 * first call, so that listing the tools costs nothing.
 *
 * @module
 */
import type { Host } from "../host/mod.ts";
import type { Tool } from "../mcp/mod.ts";
import { checkTool } from "./check.ts";
import { consensusTool } from "./consensus.ts";
import { describeMachineTool } from "./describe_machine.ts";
import { toolInstructions } from "./instructions.ts";
import { listMachinesTool } from "./list_machines.ts";
import { selectTools, servedNames, TOOL_NAMES, type ToolName } from "./names.ts";
import { reactLoopTool } from "./react_loop.ts";
import { resumeTool } from "./resume.ts";
import { runTool } from "./run.ts";
import type { ToolSetting } from "./setting.ts";
import { traced } from "./telemetry.ts";

export { TOOL_NAMES, toolInstructions, type ToolName };

/** Which tools are served, and under which names. */
export interface ToolOptions {
  /** Only these, by their names without a prefix; default all. */
  readonly only?: readonly string[];
  /** What goes before every name, also in descriptions and next-step texts; default nothing. */
  readonly prefix?: string;
}

/**
 * Makes the tools that Kit serves.
 *
 * @param host What does the work.
 * @param options Which tools, and their names.
 * @returns The tools, in the fixed order of {@linkcode TOOL_NAMES}.
 * @throws {RangeError} If `only` names a tool that does not exist, or none; or if no name may begin with `prefix`.
 */
export function createTools(host: Host, options: ToolOptions = {}): readonly Tool[] {
  const setting: ToolSetting = {
    host,
    served: servedNames(options.prefix ?? ""),
    allowWrite: mayWrite(host),
  };
  return selectTools(options.only).map((name) => traced(MAKERS[name](setting), host));
}

/** As far as it can be told without reading a config: this only asks hosts to be careful. */
function mayWrite({ options, ports }: Host): boolean {
  if (options.allowWrite !== undefined) return options.allowWrite;
  const variable = ports.env.get("KIT_FS_WRITE") || ports.env.get("MKLANG_FS_WRITE") || "";
  return ["1", "true", "yes", "on"].includes(variable.toLowerCase());
}

const MAKERS: Readonly<Record<ToolName, (setting: ToolSetting) => Tool>> = {
  consensus: consensusTool,
  "react_loop": reactLoopTool,
  run: runTool,
  resume: resumeTool,
  check: checkTool,
  "list_machines": listMachinesTool,
  "describe_machine": describeMachineTool,
};
