/**
 * A request that could not be served: an expected outcome, so a value.
 *
 * @module
 */
import type { ConfigProblem } from "./config/outcome.ts";
import type { ErrorSlug, FailureKind } from "./result.ts";

/** Why a request could not be served. */
export interface Refusal {
  /** Tells it from what was asked for. */
  readonly kind: "refused";
  /** The fixed word. */
  readonly slug: ErrorSlug;
  /** Every problem, one sentence each. */
  readonly errors: readonly string[];
  /** What was odd beside. */
  readonly warnings: readonly string[];
  /** What kind of thing stood in the way. */
  readonly failure: FailureKind;
  /** The run that can be looked at instead. */
  readonly run?: string;
}

/**
 * Makes a refusal.
 *
 * @param slug The fixed word.
 * @param errors Every problem.
 * @param options `warnings`; `failure`: the kind, by default what the word suggests; `run`: what can be looked at.
 * @returns The refusal.
 */
export function refuse(
  slug: ErrorSlug,
  errors: readonly string[],
  options: {
    readonly warnings?: readonly string[];
    readonly failure?: FailureKind;
    readonly run?: string | undefined;
  } = {},
): Refusal {
  return {
    kind: "refused",
    slug,
    errors,
    warnings: options.warnings ?? [],
    failure: options.failure ?? USUAL_FAILURE[slug],
    ...(options.run === undefined ? {} : { run: options.run }),
  };
}

/**
 * Refuses a call whose models cannot be had.
 *
 * @param problem Why not.
 * @returns The refusal: `load` for a script that cannot be read, `config` for everything else.
 */
export function refuseModels({ code, message }: ConfigProblem): Refusal {
  return refuse("prepare-failed", [message], { failure: code === "script" ? "load" : "config" });
}

const USUAL_FAILURE: Readonly<Record<ErrorSlug, FailureKind>> = {
  "invalid-request": "usage",
  "prepare-failed": "load",
  "unknown-checkpoint": "checkpoint",
  "bad-checkpoint": "checkpoint",
  "machine-changed": "checkpoint",
  "unknown-machine": "load",
  "unknown-run": "checkpoint",
  "busy": "busy",
  "already-resumed": "checkpoint",
  "expired": "checkpoint",
};
