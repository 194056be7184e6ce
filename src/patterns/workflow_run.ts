/**
 * One run of a workflow: starts what is ready, keeps what is finished.
 *
 * @module
 */
import { deepFreeze, type JsonObject, type JsonValue } from "../json/mod.ts";
import {
  addUsage,
  chooseError,
  copyError,
  KitError,
  type Ledger,
  linkSignals,
  type LlmProvider,
  NO_USAGE,
  notify,
  openSpan,
  PatternError,
  raceSignal,
  type SpanContext,
} from "../llm/mod.ts";
import { toPlainJson } from "./plain_json.ts";
import type { PatternRun } from "./run_pattern.ts";
import { stepContext } from "./step_context.ts";
import { thrownText } from "./text_limits.ts";
import { checkpointFailure, type ResumedState } from "./workflow_checkpoint.ts";
import type {
  WorkflowCheckpoint,
  WorkflowOptions,
  WorkflowStep,
  WorkflowStepContext,
  WorkflowStepReport,
} from "./workflow_options.ts";

/** What a run is made of. */
export interface WorkflowRunParts {
  /** The frame it runs in. */
  readonly run: PatternRun;
  /** Whom the steps ask. */
  readonly provider: LlmProvider;
  /** How it runs. */
  readonly options: WorkflowOptions & { readonly maxConcurrency: number };
  /** The steps, known to be in order. */
  readonly steps: readonly WorkflowStep[];
  /** What an approval gate is asked for. */
  readonly action: "workflow_step" | "plan_step";
  /** What it was started with. */
  readonly input: JsonObject;
  /** What its checkpoints are known by. */
  readonly digests: { readonly workflowDigest: string; readonly inputDigest: string };
  /** What it goes on with. */
  readonly resumed: ResumedState | undefined;
}

/** What is a step's own. */
interface StepParts {
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  readonly span: SpanContext;
}

/** One run under way. */
export class WorkflowRun {
  readonly #parts: WorkflowRunParts;
  readonly #outputs = new Map<string, JsonValue>();
  readonly #skipped = new Set<string>();
  readonly #reports: WorkflowStepReport[] = [];
  readonly #errors: unknown[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #ready = new Set<WorkflowStep>();
  /** Which steps wait for a step, and for how many each waits in all. */
  readonly #waiters = new Map<string, WorkflowStep[]>();
  readonly #open = new Map<WorkflowStep, number>();
  #saving: Promise<void> = Promise.resolve();

  /** Takes what an earlier run has finished; nothing is started yet. */
  constructor(parts: WorkflowRunParts) {
    this.#parts = parts;
    for (const [name, output] of parts.resumed?.outputs ?? []) {
      this.#outputs.set(name, output);
      if (parts.resumed?.skipped.has(name) === true) this.#skipped.add(name);
      this.#reports.push({ name, status: "resumed", usage: NO_USAGE, durationMs: 0 });
    }
    for (const step of parts.steps) if (!this.#outputs.has(step.name)) this.#queue(step);
  }

  /** What the finished steps gave, in the order of the steps. */
  outputs(): [name: string, output: JsonValue][] {
    return this.#parts.steps.flatMap(({ name }) => {
      const output = this.#outputs.get(name);
      return output === undefined ? [] : [[name, output]];
    });
  }

  /** What became of the finished steps. */
  reports(): readonly WorkflowStepReport[] {
    return [...this.#reports];
  }

  /** The run as it can be gone on with. */
  checkpoint(): WorkflowCheckpoint {
    const before = this.#parts.resumed?.usage ?? NO_USAGE;
    return deepFreeze({
      version: 1,
      ...this.#parts.digests,
      outputs: Object.fromEntries<JsonValue>(this.outputs()),
      skipped: [...this.#skipped],
      usage: addUsage(before, this.#parts.run.ledger.spent),
    });
  }

  /** Runs every step that is not finished. */
  async finishAll(): Promise<void> {
    using siblings = linkSignals([this.#parts.run.signal]);
    for (;;) {
      if (this.#errors.length === 0) this.#startReady(siblings.signal);
      else siblings.abort(new DOMException("Another step failed", "AbortError"));
      if (this.#running.size === 0) break;
      await Promise.race(this.#running);
    }
    await this.#saving;
    if (this.#errors.length > 0) throw this.#chooseError();
  }

  /** The first failure stands for all; steps that were ended because of it are not worth telling. */
  #chooseError(): unknown {
    const [first] = this.#errors;
    if (!(first instanceof KitError)) return first;
    const told = this.#errors.filter((error) =>
      error === first || (error instanceof KitError && error.code !== "aborted")
    );
    return chooseError(told);
  }

  #queue(step: WorkflowStep): void {
    const open = new Set(step.dependsOn ?? []).difference(this.#outputs);
    if (open.size === 0) this.#ready.add(step);
    this.#open.set(step, open.size);
    for (const name of open) {
      const waiters = this.#waiters.get(name);
      if (waiters === undefined) this.#waiters.set(name, [step]);
      else waiters.push(step);
    }
  }

  #startReady(signal: AbortSignal): void {
    for (const step of this.#ready) {
      if (this.#running.size >= this.#parts.options.maxConcurrency) return;
      this.#ready.delete(step);
      const work: Promise<void> = this.#take(step, signal).catch((error) => {
        this.#errors.push(error);
      }).finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  async #take(step: WorkflowStep, signal: AbortSignal): Promise<void> {
    const { run } = this.#parts;
    const started = run.ports.clock.monotonic();
    const ledger = run.ledger.child();
    const span = openSpan("step", { step: step.name }, {
      trace: run.trace,
      span: run.span,
      ports: run.ports,
    });
    try {
      const output = await this.#perform(step, { ledger, signal, span: span.context });
      span.end("ok", { usage: ledger.spent });
      this.#keep(step, output);
      const status = this.#skipped.has(step.name) ? "skipped" : "done";
      const durationMs = run.ports.clock.monotonic() - started;
      this.#report({ name: step.name, status, usage: { ...ledger.spent }, durationMs });
      await this.#save(step.name);
    } catch (error) {
      const code = error instanceof KitError ? error.code : "pattern";
      span.end(signal.aborted ? "aborted" : "error", { usage: ledger.spent, errorCode: code });
      throw run.signal.aborted ? error : named(error, step.name);
    }
  }

  async #perform(
    step: WorkflowStep,
    parts: StepParts,
  ): Promise<JsonValue> {
    const context = this.#context(step, parts);
    if (step.when?.(context) === false) {
      this.#skipped.add(step.name);
      return null;
    }
    await this.#approve(step, context);
    for (let attempt = 1;; attempt += 1) {
      try {
        return await this.#attempt(step, parts);
      } catch (error) {
        if (attempt >= (step.maxAttempts ?? 1) || !mayRepeat(error, parts.signal)) throw error;
      }
    }
  }

  async #attempt(
    step: WorkflowStep,
    parts: StepParts,
  ): Promise<JsonValue> {
    const { clock } = this.#parts.run.ports;
    using timer = step.timeoutMs === undefined ? undefined : clock.deadline(step.timeoutMs);
    using linked = linkSignals([parts.signal, timer?.signal]);
    const { signal } = linked;
    const context = this.#context(step, { ...parts, signal });
    try {
      return toOutput(await raceSignal(start(step, context), signal));
    } catch (error) {
      if (timer?.signal.aborted !== true || parts.signal.aborted) throw error;
      throw new PatternError("timeout", `The step took more than ${step.timeoutMs} ms`, {
        cause: error,
      });
    }
  }

  #context(
    step: WorkflowStep,
    parts: StepParts,
  ): WorkflowStepContext {
    const { provider, run, options, input } = this.#parts;
    const outputs: Record<string, JsonValue> = Object.create(null);
    for (const name of step.dependsOn ?? []) outputs[name] = this.#outputs.get(name) ?? null;
    return Object.freeze({
      ...stepContext({ provider, run, options, ...parts }),
      input,
      outputs: Object.freeze(outputs),
    });
  }

  async #approve(step: WorkflowStep, context: WorkflowStepContext): Promise<void> {
    const { run, action, options } = this.#parts;
    if (options.approvalGate === undefined) return;
    const facts = { action, subject: step.name };
    run.point("approval-request", facts);
    const decision = await options.approvalGate.request({
      ...facts,
      details: { input: context.input, outputs: context.outputs, metadata: step.metadata ?? {} },
      signal: context.signal,
    }, { clock: run.ports.clock });
    run.point("approval-decide", { ...facts, ...decision });
    if (decision.approved) return;
    throw new KitError(
      "approval_denied",
      `Not approved: step "${step.name}": ${decision.reason ?? "no reason given"}`,
    );
  }

  #keep(step: WorkflowStep, output: JsonValue): void {
    this.#outputs.set(step.name, output);
    for (const waiter of this.#waiters.get(step.name) ?? []) {
      const open = (this.#open.get(waiter) ?? 0) - 1;
      this.#open.set(waiter, open);
      if (open === 0) this.#ready.add(waiter);
    }
  }

  #report(report: WorkflowStepReport): void {
    this.#reports.push(report);
    notify(this.#parts.options.onStep, report);
  }

  /** Checkpoints are written one at a time, so that an older one never replaces a newer one. */
  async #save(name: string): Promise<void> {
    const { onCheckpoint, checkpoints, onCheckpointError = "ignore" } = this.#parts.options;
    if (onCheckpoint === undefined && checkpoints === undefined) return;
    const earlier = this.#saving;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#saving = promise;
    let stored = true;
    try {
      await earlier;
      const checkpoint = this.checkpoint();
      await onCheckpoint?.(checkpoint);
      await checkpoints?.store.save(checkpoints.key, {
        ...checkpoint,
        usage: { ...checkpoint.usage },
      });
    } catch (error) {
      stored = false;
      if (onCheckpointError === "throw") throw checkpointFailure("keep", error);
    } finally {
      this.#parts.run.point("checkpoint", { name, stored });
      resolve();
    }
  }

  /** Forgets the checkpoint of a run that is finished. */
  async forget(): Promise<void> {
    const { checkpoints, onCheckpointError = "ignore" } = this.#parts.options;
    try {
      await checkpoints?.store.remove(checkpoints.key);
    } catch (error) {
      this.#parts.run.point("checkpoint", { name: "end", stored: false });
      if (onCheckpointError === "throw") throw checkpointFailure("forget", error);
    }
  }
}

async function start(step: WorkflowStep, context: WorkflowStepContext): Promise<unknown> {
  return await step.run(context);
}

/** A pattern's result is kept by its value; everything is kept as JSON data. */
function toOutput(result: unknown): JsonValue {
  const isResult = typeof result === "object" && result !== null && "value" in result &&
    "usage" in result && "metadata" in result;
  const plain = toPlainJson(isResult ? result.value : result);
  if (plain.ok) return plain.value;
  const { pointer, found } = plain.problem;
  throw new KitError(
    "workflow",
    `Cannot keep the output: at "${pointer}" found ${found}, wanted JSON data`,
  );
}

function mayRepeat(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted) return false;
  if (!(error instanceof KitError)) return true;
  const final = ["aborted", "budget", "config", "argument", "workflow", "approval_denied"];
  return !final.includes(error.code);
}

function named(error: unknown, step: string): unknown {
  if (error instanceof KitError) {
    return copyError(error, { details: { ...error.details, step } });
  }
  if (error instanceof DOMException) return error;
  return new PatternError("workflow", `Step "${step}" failed: ${thrownText(error)}`, {
    cause: error,
    details: { step },
  });
}
