/**
 * Passes on to the host what a call knows beside its arguments.
 *
 * @module
 */
import type { CallOptions } from "../host/mod.ts";
import type { ToolContext } from "../mcp/mod.ts";
import type { ToolSetting } from "./setting.ts";
import { tracingOf } from "./telemetry.ts";

/**
 * Gives the options of a host call.
 *
 * @param setting What the tool is made from.
 * @param context What the call knows.
 * @returns Signal, progress if it is wanted, and the names that next-step texts use.
 */
export function callOptions(setting: ToolSetting, context: ToolContext): CallOptions {
  return {
    signal: context.signal,
    ...(context.wantsProgress ? { onProgress: (report) => context.progress(report) } : {}),
    toolName: setting.served,
    ...tracingOf(context),
  };
}
