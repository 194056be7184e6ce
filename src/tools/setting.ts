/**
 * What every tool is made from.
 *
 * @module
 */
import type { Host } from "../host/mod.ts";
import type { DefinitionOptions } from "./definitions.ts";

/** What every tool is made from. */
export interface ToolSetting extends DefinitionOptions {
  /** What does the work. */
  readonly host: Host;
}
