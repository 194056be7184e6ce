/**
 * A run under way: the engine at work, what is saved of it as it goes, and how it ends.
 *
 * @module
 */
import type { JsonObject } from "../../json/mod.ts";
import { totalTokens } from "../../llm/mod.ts";
import {
  type EffectIntent,
  type Frame,
  type Machine,
  resultObject,
  resumeMachine,
  runMachine,
  type RunOptions,
  type RunResult,
} from "../../machine/mod.ts";
import type { ActiveRunOptions } from "./active_run_options.ts";
import type { CheckpointKeeper } from "./checkpoint_keeper.ts";
import { newHandle, sha256 } from "./handles.ts";
import { RunFollower } from "./progress.ts";
import { LEASE_MS, renewHold } from "./renewal.ts";
import { keepOutcome, OUTCOME_NOT_KEPT } from "./keep_outcome.ts";
import { letGo } from "./let_go.ts";
import { FILE_FAILED, keeping, KeepingError, LostHoldError, TAKEN_OVER } from "./keeping.ts";
import { countedIn, missingWarnings, openCount } from "./open_count.ts";
import { makeReport, type ReportParts, type RunReport } from "./report.ts";
import { runObject } from "./run_object.ts";
import { RunWatch, type Watcher } from "./run_watch.ts";
import {
  EFFECT_UNKNOWN,
  INTERRUPTED,
  savedPayload,
  type SavedRun,
  standsAt,
  type StartedEffect,
} from "./saved_run.ts";

/** Why a run is told to stop. */
export type StopReason = "cancel" | "park";

/** A run under way. */
export class ActiveRun {
  /** Names the run. */
  readonly runId: string;
  /** Ends with the report; never rejects but for our own faults. */
  readonly done: Promise<RunReport>;
  /** Whether somebody was told the run's handle and may come back for the outcome. */
  announced = false;
  /** Whether the machine is done and only writing it down is left. */
  ending = false;
  readonly #options: ActiveRunOptions;
  readonly #follower: RunFollower;
  readonly #controller = new AbortController();
  readonly #watch: RunWatch;
  readonly #ending = Promise.withResolvers<RunReport>();
  #launched = false;
  #stop: StopReason | undefined;
  #settled: readonly Frame[];
  #moved = false;
  #lost = false;
  readonly #fileWarnings: string[] = [];
  #effects: readonly StartedEffect[] = [];

  /** Makes the run; {@linkcode ActiveRun.launch} sets it going. */
  constructor(options: ActiveRunOptions) {
    this.#options = options;
    this.runId = options.saved.run_id;
    this.#settled = options.saved.frames;
    const root = options.saved.frames[0];
    this.#follower = new RunFollower(options.prepared.machine, {
      input_tokens: root?.total_in ?? 0,
      output_tokens: root?.total_out ?? 0,
    });
    this.#watch = new RunWatch(this.#follower);
    this.done = this.#ending.promise;
  }

  /** Sets the run going, once: after whoever starts it began to watch, so that no event is missed. */
  launch(): void {
    if (this.#launched) return;
    this.#launched = true;
    this.#run().then(this.#ending.resolve, this.#ending.reject);
  }

  /** The machine. */
  get machine(): Machine {
    return this.#options.prepared.machine;
  }

  /** Whether no model answers. */
  get scripted(): boolean {
    return this.#options.prepared.models.scripted;
  }

  /** Tells what happens, until the function that is returned is called. */
  watch(watcher: Watcher): () => void {
    return this.#watch.add(watcher);
  }

  /** Says where the run is, to everybody who watches. */
  announce(): void {
    this.#watch.announce();
  }

  /** Stops the run. `cancel`: it halts for good. `park`: it waits at its last settled state. The first word counts. */
  stop(reason: StopReason): void {
    this.#stop ??= reason;
    this.#controller.abort();
  }

  /** How the run stands while it goes on. */
  runningReport(): RunReport {
    const { state, tokens } = this.#follower.position;
    const object = {
      ...runObject("running", null, { tokens, trace: [] }),
      ...(state === undefined ? {} : { at: state }),
      progress: this.#follower.sentence(),
    };
    return this.#report(object);
  }

  async #run(): Promise<RunReport> {
    const { store, keeper, holder, ports } = this.#options;
    const onLost = (): void => this.#loseHold();
    const stopRenewing = renewHold({ runId: this.runId, store, keeper, holder, ports, onLost });
    try {
      return await this.#end(await this.#execute());
    } catch (error) {
      if (this.#lost || error instanceof LostHoldError) return await this.#dropped(TAKEN_OVER);
      if (!(error instanceof KeepingError)) {
        await this.#giveUp();
        throw error;
      }
      ports.log.write("error", error.message);
      return await this.#unwritable();
    } finally {
      await stopRenewing();
    }
  }

  async #execute(): Promise<RunResult> {
    const { saved, prepared, wrap, fresh } = this.#options;
    const { machine } = prepared;
    const plain = { ...this.#runOptions(), ...fresh };
    const wrapped = wrap?.(machine, plain, fresh === undefined ? { frames: saved.frames } : {});
    const options = wrapped?.options ?? plain;
    const result = fresh === undefined
      ? await resumeMachine(machine, saved.frames, options)
      : await runMachine(machine, options);
    await wrapped?.ended(result);
    return result;
  }

  #runOptions(): RunOptions {
    const { saved, prepared, oracle, store, keeper, resumed, ports } = this.#options;
    const saving = store.durable || resumed || keeper !== undefined;
    return {
      oracle: oracle.oracle,
      registry: prepared.registry,
      tools: prepared.tools,
      suspendable: saved.suspendable,
      escalateSuspend: saved.hitl,
      onTruncate: saved.on_truncate,
      onUntrustedFlow: saved.on_untrusted_flow,
      ...(saved.cost_budget === null ? {} : { costBudget: saved.cost_budget }),
      signal: this.#controller.signal,
      ports,
      onEvent: (event) => this.#watch.observe(event),
      ...(saving
        ? {
          onSettled: (point) => this.#settle(point.frames()),
          beforeEffect: (intent) => this.#intend(intent),
        }
        : {}),
    };
  }

  async #settle(frames: readonly Frame[]): Promise<void> {
    const closes = this.#effects.length > 0;
    this.#settled = frames;
    this.#moved = true;
    this.#effects = [];
    await this.#save({ file: closes });
  }

  async #intend(intent: EffectIntent): Promise<void> {
    this.#effects = [...this.#effects, { tool: intent.tool, state: intent.state }];
    this.#moved = true;
    await this.#save({ file: true });
  }

  /** What is saved is what a holder that dies now leaves behind. */
  async #save({ file }: { readonly file: boolean }): Promise<void> {
    const { store, keeper, holder } = this.#options;
    const saved = this.#standing();
    if (store.durable) {
      const point = { payload: savedPayload(saved), at: standsAt(saved) };
      const stored = await keeping(
        store.settle(this.runId, { holder, leaseForMs: LEASE_MS, ...point }),
      );
      if (stored.kind === "lost") {
        this.#loseHold();
        throw new LostHoldError();
      }
    }
    if (file && keeper !== undefined) await keeping(keeper.write(saved));
  }

  #standing(): SavedRun {
    const reason = this.#effects.length > 0 ? EFFECT_UNKNOWN : INTERRUPTED;
    return this.#savedAt(this.#settled, { reason, effects: this.#effects });
  }

  #savedAt(
    frames: readonly Frame[],
    how: Pick<SavedRun, "reason" | "effects">,
  ): SavedRun {
    const { saved, oracle } = this.#options;
    const { estimated } = openCount(oracle.spent(), saved, countedIn(frames));
    return {
      ...saved,
      ...how,
      frames,
      ...(estimated === 0 ? {} : { estimated_tokens: estimated }),
    };
  }

  /** A file beside a handle: where it cannot be written the handle alone holds, and the result says so. */
  async #writeBeside(saved: SavedRun, suspension?: string): Promise<string | undefined> {
    const { keeper, ports } = this.#options;
    if (keeper === undefined) return undefined;
    try {
      return await keeping(keeper.write(saved, suspension));
    } catch (error) {
      if (keeper.isHandle || !(error instanceof KeepingError)) throw error;
      ports.log.write("error", error.message);
      this.#fileWarnings.push(FILE_FAILED);
      return undefined;
    }
  }

  /** Nothing more can be written: the run waits where it stands if the store has it in hand, else it is dropped. */
  async #unwritable(): Promise<RunReport> {
    const { store, keeper } = this.#options;
    if (!store.durable && keeper !== undefined && !keeper.isHandle) return await this.#park();
    return await this.#dropped("the run could not be written down and was stopped");
  }

  #loseHold(): void {
    this.#lost = true;
    this.#controller.abort();
  }

  /** A fault of ours: the record must not stay held by a run that is no more. Never throws. */
  async #giveUp(): Promise<void> {
    const { store, holder, ports } = this.#options;
    try {
      const parked = await store.park(this.runId, holder);
      if (parked.kind === "lost") {
        const end = { reason: "error", outcome: null, expiresMs: ports.clock.now() };
        await store.finish(this.runId, holder, end);
      }
    } catch (error) {
      ports.log.write("error", String(error));
    }
    await this.#letGo((keeper) => keeper.handOver());
  }

  async #letGo(work: (keeper: CheckpointKeeper) => Promise<void>): Promise<void> {
    this.#fileWarnings.push(...await letGo(this.#options.keeper, work, this.#options.ports));
  }

  async #end(result: RunResult): Promise<RunReport> {
    this.ending = true;
    if (this.#lost) return await this.#dropped(TAKEN_OVER);
    const ended = this.#stop === "park" && result.status === "halt" && result.error === "cancelled";
    if (ended) return await this.#park();
    if (result.status === "suspended") return await this.#suspend(result);
    return await this.#finish(result);
  }

  async #suspend(result: RunResult): Promise<RunReport> {
    const { ports, holder, store } = this.#options;
    const reason = result.error ?? INTERRUPTED;
    const saved = this.#savedAt(result.frames ?? [], { reason, effects: [] });
    const handle = newHandle(ports.random);
    // The file first: should the process end between the two, the older handle still leads to the older point.
    const file = await this.#writeBeside(saved, await sha256(handle));
    const stored = await keeping(store.suspend(this.runId, holder, {
      handle,
      at: standsAt(saved),
      reason: saved.reason,
      ask: result.ask,
      payload: savedPayload(saved),
      expiresMs: this.#suspensionEnd(),
    }));
    if (stored.kind === "lost") return await this.#dropped(TAKEN_OVER);
    await this.#letGo((keeper) => keeper.handOver());
    return this.#report(resultObject(result), {
      handle,
      file,
      cause: result.cause,
      estimated: saved.estimated_tokens ?? 0,
    });
  }

  async #finish(result: RunResult): Promise<RunReport> {
    const { ports, outcomeTtlMs, holder, store, saved, oracle } = this.#options;
    const { input_tokens = 0, output_tokens = 0 } = result.usage ?? {};
    const spent = oracle.spent();
    const { missing, estimated } = openCount(spent, saved, input_tokens + output_tokens);
    const report = this.#report(resultObject(result), {
      cause: result.cause,
      warnings: missingWarnings(missing),
      estimated,
    });
    const kept = this.#isKept();
    if (this.#stop === "cancel") {
      const after = `${spent.llmCalls} requests, ${totalTokens(spent)} tokens`;
      ports.log.write("info", `Run ${this.runId} cancelled after ${after}`);
    }
    const stored = await keepOutcome(report, {
      store,
      holder,
      reason: result.status,
      expiresMs: kept ? ports.clock.now() + outcomeTtlMs : ports.clock.now(),
      ports,
    });
    if (stored === "lost") return await this.#dropped(TAKEN_OVER);
    await this.#letGo((keeper) => keeper.spend(result.status));
    const warnings = [...report.warnings, ...this.#fileWarnings];
    if (stored === "kept") return { ...report, warnings };
    return { ...report, kept: false, warnings: [...warnings, OUTCOME_NOT_KEPT] };
  }

  #suspensionEnd(): number | undefined {
    const { suspensionTtlMs, ports } = this.#options;
    return suspensionTtlMs === undefined ? undefined : ports.clock.now() + suspensionTtlMs;
  }

  /** Whether somebody may come back for the outcome: whoever was told to, and whoever spent a handle on it. */
  #isKept(): boolean {
    return this.announced || this.#options.store.durable || this.#options.resumed;
  }

  /** A cancelled resume: the claim goes back, at the last settled state where it got that far. */
  async #park(): Promise<RunReport> {
    const { store, holder, claimed } = this.#options;
    const saved = this.#standing();
    const moved = this.#moved;
    if (moved) await this.#writeBeside(saved);
    const point = {
      at: standsAt(saved),
      reason: saved.reason,
      ask: undefined,
      payload: savedPayload(saved),
      expiresMs: this.#suspensionEnd(),
    };
    const parked = await keeping(store.park(this.runId, holder, moved ? point : undefined));
    let handle = claimed;
    if (parked.kind === "lost") {
      handle = newHandle(this.#options.ports.random);
      await keeping(store.suspend(this.runId, holder, { ...point, handle }));
    }
    await this.#letGo((keeper) => keeper.handOver());
    const { tokens } = this.#follower.position;
    const reason = moved ? saved.reason : this.#options.saved.reason;
    const trace = saved.frames[0]?.trace ?? [];
    const estimated = saved.estimated_tokens ?? 0;
    return this.#report(runObject("suspended", reason, { tokens, trace }), { handle, estimated });
  }

  /** Whoever holds the run next goes on from its last settled state; a record that only this process has ends here. */
  async #dropped(why: string): Promise<RunReport> {
    const { store } = this.#options;
    if (store.durable) await this.#letGo((keeper) => keeper.release());
    else await this.#giveUp();
    const { tokens } = this.#follower.position;
    const trace = this.#settled[0]?.trace ?? [];
    const report = this.#report(runObject("halt", INTERRUPTED, { tokens, trace }));
    const next = store.durable ? `; look at run "${this.runId}"` : "";
    return { ...report, warnings: [...report.warnings, why + next] };
  }

  #report(object: JsonObject, parts: ReportParts = {}): RunReport {
    const { prepared, warnings, replyVia, keeper } = this.#options;
    return makeReport(object, {
      ...parts,
      runId: this.runId,
      prepared,
      warnings: [...warnings, ...parts.warnings ?? [], ...this.#fileWarnings],
      replyVia,
      fileIsHandle: keeper?.isHandle ?? false,
      kept: this.#isKept(),
    });
  }
}
