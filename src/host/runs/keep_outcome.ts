/**
 * Writes down how a run ended. What was done and paid is told also where the store is gone.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";
import type { SuspensionStore } from "../store.ts";
import { keeping, KeepingError } from "./keeping.ts";
import { reportPayload, type RunReport } from "./report.ts";

/** What an outcome says that the store did not take: nobody can look at it later. */
export const OUTCOME_NOT_KEPT =
  "the outcome could not be written down: keep this result, since the store has the run at its last settled state";

/** How a run ended, and who says so. */
export interface RunEnd {
  /** Where the run is kept. */
  readonly store: SuspensionStore;
  /** The process. */
  readonly holder: string;
  /** How it ended, for listings. */
  readonly reason: string;
  /** When the outcome may be forgotten, milliseconds since the epoch. */
  readonly expiresMs: number;
  /** For a store that fails. */
  readonly ports: Pick<Ports, "log">;
}

/**
 * Writes an outcome down.
 *
 * @param report The outcome.
 * @param end How the run ended.
 * @returns `kept`; `lost` if the run is another's by now; `failed` if the store cannot be used.
 */
export async function keepOutcome(
  report: RunReport,
  { store, holder, reason, expiresMs, ports }: RunEnd,
): Promise<"kept" | "lost" | "failed"> {
  try {
    const outcome = reportPayload(report);
    const stored = await keeping(
      store.finish(report.run_id, holder, { reason, outcome, expiresMs }),
    );
    return stored.kind === "lost" ? "lost" : "kept";
  } catch (error) {
    if (!(error instanceof KeepingError)) throw error;
    ports.log.write("error", error.message);
    return "failed";
  }
}
