/**
 * Says again and again that the holder of a run lives, to whoever could take the run over.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";
import type { SuspensionStore } from "../store.ts";
import type { CheckpointKeeper } from "./checkpoint_keeper.ts";

/** How long a durable store believes in a holder that says nothing, in milliseconds. */
export const LEASE_MS = 30_000;
/** How often a holder says that it lives, in milliseconds. */
const RENEW_MS = 10_000;
/** How soon it says so again where that failed: several times before the lease is over, also where each takes long. */
const RETRY_MS = 2_000;
/** Why the renewing ends with the run. One for all: the reason that is made by default costs a stack trace each time. */
const OVER = new Error("the run is over");

/** What a run is held by. */
export interface Hold {
  /** Names the run. */
  readonly runId: string;
  /** Where it is kept. */
  readonly store: SuspensionStore;
  /** The file beside the store, if there is one. */
  readonly keeper: CheckpointKeeper | undefined;
  /** The process. */
  readonly holder: string;
  /** Time and log. */
  readonly ports: Pick<Ports, "clock" | "log">;
  /** Told once the hold is lost to another process. */
  readonly onLost: () => void;
}

/**
 * Renews a hold until it is ended; nothing is timed where nobody else could take the run.
 *
 * @param hold The hold.
 * @returns What ends the renewing and waits for it.
 */
export function renewHold(hold: Hold): () => Promise<void> {
  if (!hold.store.durable && hold.keeper === undefined) return () => Promise.resolve();
  const over = new AbortController();
  const renewing = renewUntil(over.signal, hold);
  return () => {
    over.abort(OVER);
    return renewing;
  };
}

/** Ends with the run or with the hold; a renewal that fails is tried again. */
async function renewUntil(signal: AbortSignal, hold: Hold): Promise<void> {
  const { clock } = hold.ports;
  let pause = RENEW_MS;
  while (!signal.aborted) {
    try {
      await clock.sleep(pause, { signal });
    } catch {
      return;
    }
    // Side by side: a store that is slow to fail must not cost the hold on the file.
    const said = await Promise.all([
      attempt(signal, hold, renewFile),
      attempt(signal, hold, renewRecord),
    ]);
    if (said.includes("lost")) return hold.onLost();
    pause = said.includes("failed") ? RETRY_MS : RENEW_MS;
  }
}

async function renewFile({ keeper }: Hold): Promise<boolean> {
  return await keeper?.renew() ?? true;
}

async function renewRecord({ store, holder, runId }: Hold): Promise<boolean> {
  const point = { holder, leaseForMs: LEASE_MS, payload: undefined, at: undefined };
  return (await store.settle(runId, point)).kind !== "lost";
}

async function attempt(
  signal: AbortSignal,
  hold: Hold,
  renew: (hold: Hold) => Promise<boolean>,
): Promise<"held" | "lost" | "failed"> {
  try {
    return await renew(hold) ? "held" : "lost";
  } catch (error) {
    if (!signal.aborted) {
      hold.ports.log.write("error", `Cannot renew the hold on a run: ${String(error)}`);
    }
    return "failed";
  }
}
