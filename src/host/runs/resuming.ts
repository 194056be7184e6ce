/**
 * What a resume works with, and what it changes of a run.
 *
 * @module
 */
import type { CallOptions, ResumeRequest } from "../host.ts";
import { policy } from "../inputs.ts";
import type { ReplyVia } from "../result.ts";
import { boundBudget, type RunParts } from "./commission.ts";
import { withoutEffectWords } from "./known_effect.ts";
import type { SavedRun } from "./saved_run.ts";

/** What a resume works with. */
export interface Resuming {
  /** What is asked for. */
  readonly request: ResumeRequest;
  /** What the call brings. */
  readonly call: CallOptions;
  /** The host and its runs. */
  readonly parts: RunParts;
}

/**
 * Applies what a resume changes: budget, policies, pauses for people.
 *
 * @param saved The run as it was.
 * @param resuming What is asked for.
 * @param warnings Takes a sentence where the budget cannot help.
 * @returns The run as it goes on.
 */
export function nextSaved(saved: SavedRun, resuming: Resuming, warnings: string[]): SavedRun {
  const { request, parts } = resuming;
  const wanted = request.costBudget ?? saved.cost_budget ?? undefined;
  const budget = boundBudget(wanted, parts.core, warnings);
  const before = saved.cost_budget;
  const exhausted = saved.reason === "cost-exhausted" && before !== null;
  if (exhausted && budget !== null && budget <= before) {
    warnings.push(
      `cost_budget ${budget} is not above the exhausted one (${before}): the run suspends again at once`,
    );
  }
  return {
    ...saved,
    cost_budget: budget,
    hitl: saved.hitl || request.hitl === true,
    suspendable: true,
    on_truncate: policy(request.onTruncate, saved.on_truncate),
    on_untrusted_flow: policy(request.onUntrustedFlow, saved.on_untrusted_flow),
    effects: [],
  };
}

/**
 * Tells how the reply came in.
 *
 * @param resuming What is asked for.
 * @returns The way, or `undefined` where nothing came in.
 */
export function replyVia({ request, parts }: Resuming): ReplyVia | undefined {
  const inputs = withoutEffectWords(request.inputs ?? {});
  if (Object.keys(inputs).length === 0) return undefined;
  return request.replyVia ?? (parts.core.options.door === "cli" ? "cli" : "argument");
}
