/**
 * What is known of a run when a door is answered: the result in the words of the language, and what the host adds.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the names under which outcomes are stored
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import type { Prepared } from "../prepare.ts";
import type { FailureKind } from "../result.ts";
import { failureOf } from "./failure_of.ts";
import { estimateWarnings } from "./open_count.ts";
import { type SavedRun, savedUsage, standsAt } from "./saved_run.ts";

/** What is known of a run. JSON, so that an outcome can be kept. */
export interface RunReport {
  /** The keys of the language, in order: `status`, `error`, `result`, `usage`, `trace`, and those that apply. */
  readonly object: JsonObject;
  /** Names the run; `""` if a checkpoint file does not. */
  readonly run_id: string;
  /** The machine. */
  readonly machine: string;
  /** The provider; `""` if a checkpoint file names none. */
  readonly provider: string;
  /** Sentences. */
  readonly warnings: readonly string[];
  /** The handle or file of a suspension. */
  readonly checkpoint?: string;
  /** The file beside the handle. */
  readonly checkpoint_file?: string;
  /** Whether its run handle can be looked at from now on. */
  readonly kept?: boolean;
  /** How the reply of a person came in. */
  readonly reply_via?: string;
  /** What stood in the way, where a provider or key was refused. */
  readonly failure?: FailureKind;
}

/** What a report may name beside the result. */
export interface ReportParts {
  /** The handle of a suspension. */
  readonly handle?: string | undefined;
  /** The file that was written. */
  readonly file?: string | undefined;
  /** The error behind a halt. */
  readonly cause?: unknown;
  /** Sentences beside those that the run began with. */
  readonly warnings?: readonly string[];
  /** How many of the tokens in its usage are estimated; default none. */
  readonly estimated?: number;
}

/**
 * Makes a report.
 *
 * @param object The keys of the language.
 * @param parts What the host adds.
 * @returns The report.
 */
export function makeReport(
  object: JsonObject,
  parts: Omit<ReportParts, "warnings"> & {
    /** Names the run. */
    readonly runId: string;
    /** What was prepared. */
    readonly prepared: Prepared;
    /** Sentences. */
    readonly warnings: readonly string[];
    /** How the reply of a person came in. */
    readonly replyVia: string | undefined;
    /** Whether the file is all there is: at the command line nothing else outlives the process. */
    readonly fileIsHandle: boolean;
    /** Whether the outcome can be looked at later. */
    readonly kept: boolean;
  },
): RunReport {
  const { prepared, replyVia, fileIsHandle, handle, file, estimated = 0 } = parts;
  const failure = failureOf(parts.cause);
  const checkpoint = fileIsHandle ? file : handle;
  const beside = fileIsHandle ? undefined : file;
  return {
    object: estimated === 0 ? object : withEstimate(object),
    run_id: parts.runId,
    machine: prepared.machine.name,
    provider: prepared.models.name,
    warnings: [...parts.warnings, ...estimateWarnings(estimated)],
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(beside === undefined ? {} : { checkpoint_file: beside }),
    ...(object["status"] === "suspended" || parts.kept ? { kept: true } : {}),
    ...(replyVia === undefined ? {} : { reply_via: replyVia }),
    ...(failure === undefined ? {} : { failure }),
  };
}

function withEstimate(object: JsonObject): JsonObject {
  const usage = member(object, "usage");
  return isJsonObject(usage) ? { ...object, usage: { ...usage, estimated: true } } : object;
}

/**
 * Shows a suspension that was stored.
 *
 * @param saved The run.
 * @param options `handle` or file, and sentences.
 * @returns The report, equal to the one that was given when it was suspended, but for what was said of its preparation.
 */
export function savedReport(
  saved: SavedRun,
  options: {
    readonly checkpoint: string | undefined;
    readonly checkpointFile?: string | undefined;
    readonly warnings?: readonly string[];
  },
): RunReport {
  const frame = saved.frames.at(-1);
  const at = standsAt(saved);
  const asking = saved.reason === "escalated";
  const object: Record<string, unknown> = {
    status: "suspended",
    error: saved.reason,
    result: null,
    usage: savedUsage(saved),
    trace: saved.frames[0]?.trace ?? [],
  };
  if (at !== undefined) object.at = at;
  if (asking && frame?.ask !== undefined) object.ask = frame.ask;
  if (asking) object.reply_to = frame?.reply_to ?? "human.reply";
  const file = options.checkpointFile ?? saved.checkpoint_file ?? undefined;
  return {
    object: object as JsonObject,
    run_id: saved.run_id,
    machine: saved.machine,
    provider: saved.provider,
    kept: true,
    warnings: [...options.warnings ?? [], ...estimateWarnings(saved.estimated_tokens ?? 0)],
    ...(options.checkpoint === undefined ? {} : { checkpoint: options.checkpoint }),
    ...(file === undefined || file === options.checkpoint ? {} : { checkpoint_file: file }),
  };
}

/**
 * Reads a report that a store kept as the outcome of a run.
 *
 * @param outcome From the store.
 * @returns The report, or `undefined` if it is none.
 */
export function readReport(outcome: JsonValue): RunReport | undefined {
  if (!isJsonObject(outcome) || !isJsonObject(member(outcome, "object"))) return undefined;
  return outcome as unknown as RunReport;
}

/**
 * Gives a report to a store.
 *
 * @param report The report.
 * @returns The same as JSON.
 */
export function reportPayload(report: RunReport): JsonValue {
  return report as unknown as JsonObject;
}
