/**
 * Starts runs, waits for them as long as a call may, and keeps what nobody waits for.
 *
 * @module
 */
import type { HostCore } from "../core.ts";
import type { CallOptions } from "../host.ts";
import type { Prepared } from "../prepare.ts";
import { type Refusal, refuse } from "../refusal.ts";
import type { RunOracle } from "../run_oracle.ts";
import type { SuspensionStore } from "../store.ts";
import { ActiveRun } from "./active_run.ts";
import type { FreshStart } from "./active_run_options.ts";
import type { CheckpointKeeper } from "./checkpoint_keeper.ts";
import { newHandle } from "./handles.ts";
import { keeping } from "./keeping.ts";
import { LEASE_MS } from "./renewal.ts";
import { refuseStore } from "./refuse_store.ts";
import type { RunReport } from "./report.ts";
import { savedPayload, type SavedRun } from "./saved_run.ts";

/** Longest pause between two reports to somebody who waits, in milliseconds. */
const HEARTBEAT_MS = 10_000;
/** Why timers end with the wait. One for all: the reason that is made by default costs a stack trace each time. */
const OVER = new Error("the wait is over");

/** What a run is started from. */
export interface StartRun {
  /** The place that was reserved for it; it counts as a run from now on. */
  readonly place: Disposable;
  /** What was prepared. */
  readonly prepared: Prepared;
  /** What is known of it beside. */
  readonly saved: SavedRun;
  /** Who answers. */
  readonly oracle: RunOracle;
  /** What a new run starts with; a claimed one goes on from its frames. */
  readonly fresh: FreshStart | undefined;
  /** The file beside the store. */
  readonly keeper: CheckpointKeeper | undefined;
  /** The handle or file it was claimed by; `undefined` for a new run. */
  readonly claimed: string | undefined;
  /** Sentences for the result. */
  readonly warnings: readonly string[];
  /** How the reply of a person came in. */
  readonly replyVia: string | undefined;
}

/** How long a call waits. */
export interface Waiting {
  /** Most seconds; 0: no limit. */
  readonly seconds: number;
  /** What the call brought. */
  readonly call: CallOptions;
  /** What a cancelled call does to the run: nothing for a look. */
  readonly onCancel: "cancel" | "park" | "leave";
}

/** Starts and watches the runs of a process. */
export class RunSupervisor {
  readonly #core: HostCore;
  readonly #active = new Map<string, ActiveRun>();
  /** Names this process to the store. */
  readonly holder: string;
  #store: Promise<SuspensionStore> | undefined;
  #reserved = 0;
  /** Ends with the next place that is given back or becomes a run. */
  #vacated = Promise.withResolvers<void>();
  #closing: Promise<void> | undefined;

  /** Makes a supervisor; opens nothing. */
  constructor(core: HostCore) {
    this.#core = core;
    this.holder = newHandle(core.options.ports.random);
  }

  /** The store, opened on first need; a failure is tried again with the next call. */
  store(): Promise<SuspensionStore> {
    this.#store ??= this.#openStore();
    this.#store.catch(() => this.#store = undefined);
    return this.#store;
  }

  /** A run under way in this process. */
  active(runId: string): ActiveRun | undefined {
    return this.#active.get(runId);
  }

  /** Opens the store, or says why it cannot be used. */
  async openable(): Promise<Refusal | undefined> {
    try {
      await this.store();
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#core.options.ports.log.write("error", `Cannot open the store of runs: ${why}`);
      return refuseStore(error);
    }
  }

  /** Makes a name for a new run. */
  newRunId(): string {
    return newHandle(this.#core.options.ports.random);
  }

  /**
   * Takes a place among the runs under way, before anything is claimed or spent.
   *
   * @returns What gives the place back, or a refusal.
   */
  reserve(): Disposable | Refusal {
    const { maxRuns } = this.#core.limits;
    if (this.#closing !== undefined) return refuse("busy", ["Kit is shutting down"]);
    if (this.#active.size + this.#reserved >= maxRuns) {
      return refuse("busy", [
        `${maxRuns} runs are under way, the most that this process takes: try again when one is over`,
      ]);
    }
    this.#reserved++;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        this.#reserved--;
        this.#vacated.resolve();
      },
    };
  }

  /** Writes down what a run began with. */
  async begin(saved: SavedRun): Promise<Refusal | undefined> {
    const store = await this.store();
    const begun = await keeping(store.begin({
      runId: saved.run_id,
      machine: saved.machine,
      payload: savedPayload(saved),
      holder: this.holder,
      leaseForMs: LEASE_MS,
    }));
    if (begun.kind === "stored") return undefined;
    const { suspended, running } = await keeping(store.counts());
    return refuse("busy", [
      `${suspended} suspended and ${running} running runs are kept, the most that fit: resume some, or let them expire`,
    ]);
  }

  /** Starts a run that was begun or claimed. Its promise never rejects unseen. */
  async start(start: StartRun): Promise<ActiveRun> {
    const { options, limits } = this.#core;
    const run = new ActiveRun({
      ...start,
      store: await this.store(),
      holder: this.holder,
      ports: options.ports,
      resumed: start.claimed !== undefined,
      wrap: options.wrapRun,
      suspensionTtlMs: limits.suspensionTtlMs,
      outcomeTtlMs: limits.outcomeTtlMs,
    });
    if (this.#closing !== undefined) run.stop("park");
    this.#active.set(run.runId, run);
    start.place[Symbol.dispose]();
    const over = (): void => void this.#active.delete(run.runId);
    run.done.then(over, over);
    return run;
  }

  /**
   * Waits for a run.
   *
   * @param run The run.
   * @param waiting For how long, and what a cancelled call does.
   * @returns How it ended, or how it stands.
   */
  async wait(run: ActiveRun, waiting: Waiting): Promise<RunReport> {
    const { call, seconds, onCancel } = waiting;
    const stopWatching = run.watch({ onProgress: call.onProgress, onEvent: call.onEvent });
    if (onCancel === "leave") run.announce();
    run.launch();
    const over = new AbortController();
    const cancel = (): void => {
      if (onCancel === "leave") over.abort(OVER);
      else run.stop(onCancel);
    };
    if (call.signal?.aborted === true) cancel();
    call.signal?.addEventListener("abort", cancel, { once: true });
    try {
      const timers = this.#timers(run, { seconds, call, over: over.signal });
      const report = await Promise.race([run.done, ...timers]);
      if (report !== undefined) return report;
      // Its outcome is written down already, and whether it is kept for a look was decided with that.
      if (run.ending && onCancel !== "leave") return await run.done;
      run.announced = true;
      return run.runningReport();
    } finally {
      over.abort(OVER);
      stopWatching();
      call.signal?.removeEventListener("abort", cancel);
    }
  }

  /** Stops everything: what a durable store can keep is parked there. Closing again waits for the first time. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** Calls that hold a place are waited for too: what they have begun or claimed is parked as they get there. */
  async #close(): Promise<void> {
    while (this.#active.size > 0 || this.#reserved > 0) {
      this.#vacated = Promise.withResolvers();
      const ending = [...this.#active.values()].map((run) => {
        run.launch();
        run.stop("park");
        return run.done.catch(() => undefined);
      });
      await (ending.length > 0 ? Promise.all(ending) : this.#vacated.promise);
    }
    await (await this.#store?.catch(() => undefined))?.close();
  }

  /** Ends with `undefined` when the wait is over or called off. Nothing is timed where nothing needs it. */
  #timers(
    run: ActiveRun,
    { seconds, call, over }: {
      readonly seconds: number;
      readonly call: CallOptions;
      readonly over: AbortSignal;
    },
  ): readonly Promise<undefined>[] {
    const { clock } = this.#core.options.ports;
    const timers: Promise<undefined>[] = [];
    const called = Promise.withResolvers<undefined>();
    over.addEventListener("abort", () => called.resolve(undefined), { once: true });
    timers.push(called.promise);
    if (seconds > 0) {
      const limit = clock.sleep(seconds * 1000, { signal: over });
      timers.push(limit.then(() => undefined, () => undefined));
    }
    if (call.onProgress !== undefined) void this.#beat(run, over);
    return timers;
  }

  async #beat(run: ActiveRun, over: AbortSignal): Promise<void> {
    const { clock } = this.#core.options.ports;
    try {
      while (!over.aborted) {
        await clock.sleep(HEARTBEAT_MS, { signal: over });
        run.announce();
      }
    } catch {
      // The wait is over: that is what the signal says.
    }
  }

  async #openStore(): Promise<SuspensionStore> {
    const { options, limits } = this.#core;
    if (options.openStore !== undefined) return await options.openStore();
    const { createMemoryStore } = await import("../memory_store.ts");
    return createMemoryStore({
      clock: options.ports.clock,
      maxRuns: limits.maxSuspended,
      maxOutcomes: limits.maxOutcomes,
    });
  }
}
