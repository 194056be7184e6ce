/**
 * What the tools are called: served names may carry a prefix, and every text that names a tool follows.
 *
 * @module
 */

/** The tools that Kit has, in the order in which they are listed. */
export const TOOL_NAMES = [
  "consensus",
  "react_loop",
  "run",
  "resume",
  "check",
  "list_machines",
  "describe_machine",
] as const;

/** A tool that Kit has, by the name without a prefix. */
export type ToolName = typeof TOOL_NAMES[number];

/** Gives the name under which a tool is served. */
export type ServedName = (name: ToolName) => string;

/** What a prefix may look like; with it, every name stays within what all clients take (46 more characters). */
const PREFIX_PATTERN = /^[A-Za-z][A-Za-z0-9_]{0,23}$/;

/**
 * Makes the function that gives served names.
 *
 * @param prefix What goes before every name; `""` for nothing.
 * @returns The served name of a tool.
 * @throws {RangeError} If the prefix could not begin a tool's name.
 */
export function servedNames(prefix: string): ServedName {
  if (prefix !== "" && !PREFIX_PATTERN.test(prefix)) {
    throw new RangeError(
      `Cannot use tool prefix "${prefix.slice(0, 60)}": write a letter, then at most 23 letters, ` +
        'digits or underscores, such as "kit_"',
    );
  }
  return (name) => prefix + name;
}

/**
 * Reads the list of tools to serve.
 *
 * @param only Names without the prefix; `undefined` for all.
 * @returns The tools to serve, in the order of {@linkcode TOOL_NAMES}.
 * @throws {RangeError} If a name is unknown, or if no tool is left.
 */
export function selectTools(only: readonly string[] | undefined): readonly ToolName[] {
  if (only === undefined) return TOOL_NAMES;
  const unknown = only.filter((name) => !TOOL_NAMES.some((known) => known === name));
  if (unknown.length > 0) {
    const named = unknown.map((name) => `"${name.slice(0, 60)}"`).join(", ");
    throw new RangeError(`Cannot serve ${named}: the tools are ${TOOL_NAMES.join(", ")}`);
  }
  const selected = TOOL_NAMES.filter((name) => only.includes(name));
  if (selected.length === 0) {
    throw new RangeError(`Cannot serve no tool at all: name some of ${TOOL_NAMES.join(", ")}`);
  }
  return selected;
}
