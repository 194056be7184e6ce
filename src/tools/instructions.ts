/**
 * What a host's model is told of the tools before it uses them.
 *
 * @module
 */
import { selectTools, type ServedName, servedNames, type ToolName } from "./names.ts";

/**
 * Says what the served tools are for, under the names under which they are served.
 *
 * @param options Which tools, and their names, as for `createTools`.
 * @returns One sentence without names that are not served; `""` if there is nothing to say.
 * @throws {RangeError} As `createTools` does.
 */
export function toolInstructions(
  options: { readonly only?: readonly string[]; readonly prefix?: string } = {},
): string {
  const served = servedNames(options.prefix ?? "");
  const tools = new Set(selectTools(options.only));
  const parts = [
    ...(tools.has("consensus")
      ? [`${served("consensus")} asks a model several times and votes`]
      : []),
    ...(tools.has("react_loop") ? [`${served("react_loop")} lets it use a calculator`] : []),
    ...(tools.has("run") ? [aboutRun(tools, served)] : []),
  ];
  return parts.length === 0 ? "" : `${parts.join("; ")}.`;
}

function aboutRun(tools: ReadonlySet<ToolName>, served: ServedName): string {
  const helpers = (["check", "list_machines"] as const).filter((name) => tools.has(name));
  const verb = helpers.length === 1 ? "helps" : "help";
  const help = helpers.length === 0
    ? ""
    : ` (${helpers.map(served).join(" and ")} ${verb} to find and write one)`;
  const end = tools.has("resume")
    ? ` and may suspend for a person, then ${served("resume")} continues it with the handle`
    : "";
  return `${served("run")} executes a machine${help}${end}`;
}
