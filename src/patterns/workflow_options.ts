/**
 * What a workflow takes and gives.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { Usage } from "../llm/mod.ts";
import type { ApprovalGate } from "./approval.ts";
import type { CheckpointStore } from "./checkpoint_store.ts";
import type { PatternOptions } from "./options.ts";
import type { StepContext } from "./step_context.ts";

/** What a step of a workflow works with. */
export interface WorkflowStepContext extends StepContext {
  /** What the workflow was started with; frozen. */
  readonly input: JsonObject;
  /** What the steps gave that this one depends on, by name; frozen. `null` for one that was skipped. */
  readonly outputs: JsonObject;
}

/** A step of a workflow. */
export interface WorkflowStep {
  /** Its name, unique in the workflow. */
  readonly name: string;
  /** The steps that must be finished first; default none. */
  readonly dependsOn?: readonly string[];
  /** Most attempts at the step as a whole, at least 1; default 1. Requests within it are retried by themselves. */
  readonly maxAttempts?: number;
  /** Most milliseconds for one attempt; default no limit of its own. */
  readonly timeoutMs?: number;
  /** Facts for approval and people; not seen by the model. */
  readonly metadata?: JsonObject;
  /**
   * Does the work.
   *
   * @param context What it works with.
   * @returns JSON data, or a pattern's result, whose value is kept. `undefined` is kept as `null`.
   */
  run(context: WorkflowStepContext): unknown;
  /** Whether to run at all, once its dependencies are finished; default always. */
  when?(context: WorkflowStepContext): boolean;
}

/** A workflow after some of its steps. Plain data: it can be written as JSON and read back. */
export interface WorkflowCheckpoint {
  /** The form of this record. */
  readonly version: 1;
  /** Digest of the steps' names and dependencies. */
  readonly workflowDigest: string;
  /** Digest of what the workflow was started with. */
  readonly inputDigest: string;
  /** What the finished steps gave, by name. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** The steps among them that were skipped. */
  readonly skipped: readonly string[];
  /** What was spent, in this run and those it resumed. */
  readonly usage: Usage;
}

/** What became of a step. */
export interface WorkflowStepReport {
  /** Its name. */
  readonly name: string;
  /** `resumed`: it was finished by the run that this one goes on from. */
  readonly status: "done" | "skipped" | "resumed";
  /** What it spent in this run. */
  readonly usage: Usage;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** How a workflow runs. */
export interface WorkflowOptions extends PatternOptions {
  /** Most steps under way at once, at least 1; default 10. */
  readonly maxConcurrency?: number;
  /** Asked before each step; a no ends the workflow. */
  readonly approvalGate?: ApprovalGate;
  /** Given the workflow after each step, one at a time. */
  readonly onCheckpoint?: (checkpoint: WorkflowCheckpoint) => Promise<void> | void;
  /** What a failing `onCheckpoint` or store does: `ignore` (default, it is traced) or `throw`. */
  readonly onCheckpointError?: "ignore" | "throw";
  /** Goes on from here; must be of the same steps and the same input. */
  readonly resumeFrom?: WorkflowCheckpoint;
  /** Keeps checkpoints by itself: goes on from what the store has, saves after each step, forgets at the end. */
  readonly checkpoints?: {
    /** Where. */
    readonly store: CheckpointStore;
    /** Under which key. */
    readonly key: string;
  };
  /** Told about each finished step; what it throws is swallowed. */
  readonly onStep?: (report: WorkflowStepReport) => void;
}

/** How a workflow came about. */
export interface WorkflowMetadata {
  /** Every step, in the order in which they were finished. */
  readonly steps: readonly WorkflowStepReport[];
}
