/**
 * Prepares what was saved, so that it can go on: the machine as it was, the same provider, new values put in.
 *
 * @module
 */
import { createRegistry, type Frame, injectInputs, type Machine } from "../../machine/mod.ts";
import { confirmation } from "../config/confirmation.ts";
import { SCRIPTED_PROVIDER } from "../config/load_config.ts";
import type { ModelsOutcome } from "../config/outcome.ts";
import type { HostCore } from "../core.ts";
import type { ResumeRequest } from "../host.ts";
import type { Prepared } from "../prepare.ts";
import { type Refusal, refuse, refuseModels } from "../refusal.ts";
import { withTarget } from "../registry/registries.ts";
import { INLINE_PATH } from "../target.ts";
import { readEffectWord, withKnownEffects, withoutEffectWords } from "./known_effect.ts";
import type { SavedRun } from "./saved_run.ts";

/** A run that can go on. */
export interface Restored {
  /** Tells it from a refusal. */
  readonly kind: "restored";
  /** What was prepared. */
  readonly prepared: Prepared;
  /** The run with the new values in its frames. */
  readonly saved: SavedRun;
  /** Sentences. */
  readonly warnings: readonly string[];
}

/** What a restore works with. */
export interface Restoring {
  /** What is asked for. */
  readonly request: ResumeRequest;
  /** The host. */
  readonly core: HostCore;
}

/**
 * Prepares a run from what a store kept.
 *
 * @param saved The run.
 * @param restoring What is asked for.
 * @returns The run, or why it cannot go on.
 */
export async function restore(
  saved: SavedRun,
  restoring: Restoring,
): Promise<Restored | Refusal> {
  const { core, request } = restoring;
  const asked = await modelsAgain(saved.provider, { request, core });
  if (asked.kind === "problem") {
    return refuseModels(asked.problem);
  }
  const cache = await core.machines();
  const { machine } = await cache.read(saved.machine_source, "lenient");
  if (machine === undefined) {
    return refuse("bad-checkpoint", ["the machine that was kept cannot be read"]);
  }
  const others: Machine[] = [];
  for (const text of Object.values(saved.machines)) {
    const other = await cache.read(text, "lenient");
    if (other.machine !== undefined) others.push(other.machine);
  }
  const base = await (await core.registries()).base();
  const prepared: Prepared = {
    kind: "ready",
    machine,
    registry: withTarget(machine, createRegistry(others, { base })),
    origin: { path: saved.machine_path, file: originFile(saved), source: saved.machine_source },
    models: asked.models,
    tools: withKnownEffects(await core.tools(), saved.effects, readEffectWord(request.inputs)),
    warnings: [],
  };
  const { warnings } = confirmation(core.options.ports.env);
  return { kind: "restored", prepared, saved: injected(saved, restoring), warnings };
}

/**
 * Puts the values of a resume into a run.
 *
 * Under `KIT_CONFIRM=elicitation` what a person typed into a form or at a command line confirms: an argument of a tool
 * call is written, but clears no taint.
 *
 * @param saved The run.
 * @param restoring What is asked for.
 * @returns The run with its new frames.
 */
export function injected(saved: SavedRun, { request, core }: Restoring): SavedRun {
  const inputs = withoutEffectWords(request.inputs ?? {});
  const { door, ports } = core.options;
  const via = request.replyVia ?? (door === "cli" ? "cli" : "argument");
  const confirm = !confirmation(ports.env).peopleOnly || via !== "argument";
  const frames: readonly Frame[] = injectInputs(saved.frames, inputs, { via, confirm });
  return { ...saved, frames };
}

/**
 * Finds the models of a run that goes on: those it began with, or where these are configured no more, the active ones.
 * The scripted provider never takes the place of a real one, nor the other way round.
 *
 * @param recorded The provider's name when the run was saved.
 * @param restoring What is asked for, and the host.
 * @returns The models, or what keeps them from being had.
 */
export async function modelsAgain(
  recorded: string,
  { request, core }: Restoring,
): Promise<ModelsOutcome> {
  const { models, provider } = core.options;
  if (request.provider !== undefined) return await core.models(request.provider);
  if (models !== undefined || recorded === "") return await core.models();
  const asked = await core.models(recorded);
  const gone = asked.kind === "problem" && asked.problem.code === "unknown-provider";
  const scripted = recorded === SCRIPTED_PROVIDER || provider === SCRIPTED_PROVIDER;
  return gone && !scripted ? await core.models() : asked;
}

function originFile(saved: SavedRun): string | undefined {
  return saved.machine_path === INLINE_PATH || !/[\\/]|\.mkl?$/.test(saved.machine_path)
    ? undefined
    : saved.machine_path;
}
