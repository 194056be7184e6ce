/**
 * The calls `list_machines` and `describe_machine`: what can be run by name, and what one machine needs and gives.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the wire names of results
import type { JsonObject } from "../json/mod.ts";
import { clip } from "../machine/format.ts";
import type { Machine, State } from "../machine/mod.ts";
import type { HostCore } from "./core.ts";
import { type EmitOptions, emitRefusal } from "./emit.ts";
import { fitLists } from "./fit.ts";
import type { RequestProblem } from "./host.ts";
import type { Emitted } from "./result.ts";
import { refuse } from "./refusal.ts";
import type { FoundMachine } from "./registry/scan.ts";

/** Most characters of a machine's text. */
const MAX_DOCUMENT_CHARS = 20_000;
/** Most lines of one kind in the short text. */
const MAX_LINES = 100;
/** Most characters of a context value in the short text. */
const MAX_VALUE_CHARS = 80;
/** Most characters of a line in the short text. */
const MAX_LINE_CHARS = 1000;

/**
 * Refuses a call whose arguments are known to be wrong.
 *
 * @param problems What is wrong with them.
 * @param options How the refusal is written.
 * @returns `invalid-request`, or `undefined` where nothing is wrong.
 */
export function refuseArguments(
  problems: readonly RequestProblem[] | undefined,
  options: EmitOptions,
): Emitted | undefined {
  if (problems === undefined || problems.length === 0) return undefined;
  return emitRefusal(refuse("invalid-request", problems.map(({ message }) => message)), options);
}

/**
 * Lists the machines that have names.
 *
 * @param core The host.
 * @param options `directory`: also those of a directory.
 * @returns `{machines, warnings}`, sorted by name, each with its true layer.
 */
export async function listMachines(
  core: HostCore,
  options: { readonly directory?: string } = {},
): Promise<Emitted> {
  const registries = await core.registries();
  const registry = options.directory === undefined
    ? await registries.base()
    : await registries.withDirectory(options.directory);
  const found = registry.names().flatMap((name) => registry.find(name) ?? []);
  const machines = found.map(entry);
  const lines = found.map(({ machine, layer }) =>
    `${machine.name} (${layer}): ${
      Object.keys(machine.context).sort().join(", ") || "no inputs"
    } → ` +
    `${machine.result ?? "last output"}, at most ${machine.budget} steps`
  );
  return {
    object: fitLists({ machines, warnings: [] }, core.limits.maxResultBytes),
    text: [`${machines.length} machines`, ...shortened(lines)].join("\n"),
    isError: false,
  };
}

/**
 * Describes one machine.
 *
 * @param name Its name.
 * @param core The host.
 * @param options How a refusal is written.
 * @returns Its states, inputs and result; `unknown-machine` if there is none.
 */
export async function describeMachine(
  name: string,
  core: HostCore,
  options: EmitOptions,
): Promise<Emitted> {
  const base = await (await core.registries()).base();
  const found = base.find(name);
  if (found === undefined) {
    const shown = Array.from(name).slice(0, 100).join("");
    const refusal = refuse("unknown-machine", [
      `no machine is called "${shown}"; there are ${base.names().join(", ")}`,
    ]);
    return emitRefusal(refusal, options);
  }
  const { machine, layer } = found;
  const object = {
    name: machine.name,
    entry: machine.entry,
    budget: machine.budget,
    default_tier: machine.defaultTier,
    result: machine.result ?? null,
    context: machine.context,
    states: [...machine.states.values()].map(describeState),
    source: layer,
    document: clip(machine.source, MAX_DOCUMENT_CHARS),
    warnings: [],
  };
  return {
    object: fitLists(object, options.maxBytes),
    text: describeText(machine, layer),
    isError: false,
  };
}

function entry({ machine, layer }: FoundMachine): JsonObject {
  return {
    name: machine.name,
    source: layer,
    entry: machine.entry,
    result: machine.result ?? null,
    budget: machine.budget,
    context_keys: Object.keys(machine.context).sort(),
  };
}

/** The first lines of many, and how many more there are. */
function shortened(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  const first = lines.slice(0, MAX_LINES).map((line) => clip(line, MAX_LINE_CHARS));
  return more > 0 ? [...first, `… ${more} more`] : first;
}

function describeState(state: State): JsonObject {
  return {
    id: state.id,
    kind: state.kind,
    ...(state.tier === undefined ? {} : { tier: state.tier }),
    output: state.output,
    gates: state.gates.length,
  };
}

function describeText(machine: Machine, layer: string): string {
  const inputs = Object.entries(machine.context).map(([key, value]) => {
    const text = JSON.stringify(value);
    return `  ${key}: ${
      text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text
    }`;
  });
  const states = [...machine.states.values()].map((state) => {
    const targets = state.gates.map(({ when, policy, to }) =>
      `${when} → ${policy} ${to ?? ""}`.trim()
    );
    return `  ${state.id} (${state.kind}) writes ${state.output}: ${targets.join("; ")}`;
  });
  const head =
    `${machine.name} (${layer}): starts at ${machine.entry}, at most ${machine.budget} ` +
    `steps, result ${machine.result ?? "of the last state"}`;
  return [
    clip(head, MAX_LINE_CHARS),
    "inputs:",
    ...shortened(inputs),
    "states:",
    ...shortened(states),
  ].join("\n");
}
