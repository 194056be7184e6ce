/**
 * Prepares a run: configuration and provider, then key, then machine, then everything that can be told before it
 * spends. Nothing is done half way: there is a whole preparation, or every problem.
 *
 * @module
 */
import {
  checkMachine,
  checkReferences,
  type Diagnostic,
  type HostTool,
  type Machine,
  type Registry,
  resolveHook,
  type Tier,
  type ToolSource,
} from "../machine/mod.ts";
import { confirmation } from "./config/confirmation.ts";
import type { ModelsOutcome } from "./config/outcome.ts";
import type { HostCore } from "./core.ts";
import { sentence } from "./diagnostics.ts";
import type { MachineReference } from "./host.ts";
import type { ModelSet } from "./models.ts";
import { type Refusal, refuse, refuseModels } from "./refusal.ts";
import {
  findTarget,
  INLINE_PATH,
  type MachineOrigin,
  shadowWarning,
  type Target,
} from "./target.ts";

/** What a run needs. */
export interface Prepared {
  /** Tells it from a refusal. */
  readonly kind: "ready";
  /** The machine. */
  readonly machine: Machine;
  /** What it sees. */
  readonly registry: Registry;
  /** Where it came from. */
  readonly origin: MachineOrigin;
  /** Who answers. */
  readonly models: ModelSet;
  /** The host's tools. */
  readonly tools: ToolSource;
  /** Sentences. */
  readonly warnings: readonly string[];
}

/** What is to be prepared. */
export interface PrepareRequest extends MachineReference {
  /** A configured provider. */
  readonly provider?: string | undefined;
  /** The models, where they were found already. */
  readonly models?: Extract<ModelsOutcome, { readonly kind: "ready" }>;
  /** Whether an unknown language version is an error. */
  readonly strict?: boolean | undefined;
}

/**
 * Prepares a run.
 *
 * @param request The machine and the provider.
 * @param core The host.
 * @returns What the run needs, or every problem.
 */
export async function prepare(
  request: PrepareRequest,
  core: HostCore,
): Promise<Prepared | Refusal> {
  if ((request.source === undefined) === (request.path === undefined)) {
    const target = await findTarget(request, core);
    if (target.kind === "refused") return target;
  }
  const asked = request.models ?? await core.models(request.provider);
  if (asked.kind === "problem") {
    return refuseModels(asked.problem);
  }
  const target = await findTarget(request, core);
  if (target.kind === "refused") return target;
  return await checkTarget(target, {
    request,
    core,
    models: asked.models,
    warnings: [...asked.warnings, ...confirmation(core.options.ports.env).warnings],
  });
}

async function checkTarget(
  target: Target,
  { request, core, models, warnings: before }: {
    readonly request: PrepareRequest;
    readonly core: HostCore;
    readonly models: ModelSet;
    readonly warnings: readonly string[];
  },
): Promise<Prepared | Refusal> {
  const inline = target.origin.path === INLINE_PATH;
  const { machine, registry } = target;
  const found = [...target.diagnostics, ...checked(target, request)];
  const say = (severity: "error" | "warning"): readonly string[] =>
    found.filter((one) => one.severity === severity).map((one) => sentence(one, { inline }));
  if (machine === undefined) {
    return refuse("prepare-failed", say("error"), { warnings: [...before, ...say("warning")] });
  }
  const tools = await core.tools();
  const warnings = [
    ...before,
    ...target.warnings,
    ...say("warning"),
    ...await shadowWarnings(machine, target, core),
    ...unboundWarnings(machine, tools),
  ];
  const errors = [...say("error"), ...tierErrors(machine, models)];
  if (errors.length > 0) return refuse("prepare-failed", errors, { warnings, failure: "semantic" });
  return { kind: "ready", machine, registry, origin: target.origin, models, tools, warnings };
}

/** What the call `check` finds beside the problems of the text: where these are errors, names that refer to nothing. */
function checked(
  { machine, draft, registry }: Target,
  { strict = false }: PrepareRequest,
): readonly Diagnostic[] {
  if (machine !== undefined) return checkMachine(machine, { registry, strict });
  return draft === undefined ? [] : checkReferences(draft, { registry, strict });
}

/** Only the target is looked at: a tier that a sub-machine lacks halts where it is reached. */
function tierErrors(machine: Machine, models: ModelSet): readonly string[] {
  const needed = new Set<Tier>([machine.defaultTier]);
  for (const state of machine.states.values()) {
    if (state.kind !== "tool") needed.add(state.tier ?? machine.defaultTier);
  }
  const missing = [...needed].filter((tier) => models.tiers[tier] === undefined).sort();
  if (missing.length === 0) return [];
  const available = Object.keys(models.tiers).sort();
  return [`tier(s) ${quoted(missing)} not in provider map (available: ${quoted(available)})`];
}

function unboundWarnings(
  machine: Machine,
  tools: ReadonlyMap<string, HostTool>,
): readonly string[] {
  const warnings: string[] = [];
  for (const [id, state] of machine.states) {
    if (state.kind === "tool" && !tools.has(state.tool)) {
      warnings.push(
        `state '${id}' uses tool '${state.tool}' not in the registry ${
          quoted([...tools.keys()].sort())
        }: the run halts if it gets there`,
      );
    }
    for (const { hook, catchAll } of state.gates) {
      if (hook === undefined || catchAll || resolveHook(hook) !== undefined) continue;
      warnings.push(
        `state '${id}' uses hook '${hook}' which is neither built in nor of the form eq:key:value: ` +
          "the run halts if it gets there",
      );
    }
  }
  return warnings;
}

async function shadowWarnings(
  machine: Machine,
  target: Target,
  core: HostCore,
): Promise<readonly string[]> {
  if (target.origin.file === undefined && target.origin.path !== INLINE_PATH) return [];
  const registries = await core.registries();
  if (registries.bundled.get(machine.name) === undefined) return [];
  const found = (await registries.base()).find(machine.name);
  if (found?.layer !== "stdlib") return [];
  return [shadowWarning(machine.name)];
}

function quoted(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(", ")}]`;
}
