/**
 * Which host tools change something. Unknown tools do: the guard on untrusted control flow fails safe.
 *
 * @module
 */

/** What a tool does to the world. */
export type ToolEffect = "read" | "effect";

const READ_ONLY_TOOLS: ReadonlySet<string> = new Set([
  "calc",
  "search",
  "search_kb",
  "list_files",
  "read_file",
  "list_machines",
  "describe_machine",
  "read_machine",
  "check_machine",
  "list_workspace",
  "read_workspace_file",
  "search_workspace",
  "ask_user",
]);

/**
 * Tells whether a tool is one of the known tools without effects.
 *
 * @param tool The tool's name.
 * @returns Whether the table of the language lists it as read-only.
 */
export function isReadOnlyTool(tool: string): boolean {
  return READ_ONLY_TOOLS.has(tool);
}

/**
 * Tells whether a tool has effects: an override decides, then the table of known read-only tools, else it has.
 *
 * @param tool The tool's name.
 * @param overrides Effect classes that the embedder vouches for, by name.
 * @returns Whether running the tool may change something outside the run.
 */
export function isEffectful(
  tool: string,
  overrides?: ReadonlyMap<string, ToolEffect>,
): boolean {
  const override = overrides?.get(tool);
  if (override !== undefined) return override === "effect";
  return !isReadOnlyTool(tool);
}
