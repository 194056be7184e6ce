/**
 * Makes who answers a run: its models on the account of the process, or a script.
 *
 * @module
 */
import { createModelOracle, createScriptedOracle, type Oracle } from "../machine/mod.ts";
import type { Usage } from "../llm/mod.ts";
import type { HostCore } from "./core.ts";
import type { CallOptions } from "./host.ts";
import type { Prepared } from "./prepare.ts";

/** Who answers a run, and what that has cost. */
export interface RunOracle {
  /** Who answers. */
  readonly oracle: Oracle;
  /** What was spent so far, requests that were cut off included. */
  spent(): Usage;
}

/**
 * Makes the oracle of one run.
 *
 * @param prepared What was prepared.
 * @param core The host.
 * @param call Where model calls report to.
 * @returns The oracle; a script starts over with every run.
 */
export async function createRunOracle(
  prepared: Prepared,
  core: HostCore,
  call: Pick<CallOptions, "trace" | "span">,
): Promise<RunOracle> {
  const { models } = prepared;
  const { ports, wrapOracle } = core.options;
  const ledger = (await core.ledger()).child();
  const oracle = models.script !== undefined
    ? createScriptedOracle(models.script)
    : createModelOracle({
      tiers: models.tiers,
      params: models.params,
      ledger,
      ports,
      ...(call.trace === undefined ? {} : { trace: call.trace }),
      ...(call.span === undefined ? {} : { span: call.span }),
      ...(models.judge === undefined ? {} : { judge: models.judge }),
    });
  return {
    oracle: wrapOracle === undefined ? oracle : wrapOracle(oracle),
    spent: () => ledger.spent,
  };
}
