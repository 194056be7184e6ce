/**
 * Rows of the database as records, and records as rows.
 *
 * @module
 */
import {
  type RunPhase,
  type RunRecord,
  type RunSummary,
  UnreadableRecordError,
} from "../host/mod.ts";
import { type JsonValue, parseJson } from "../json/mod.ts";
import type { SqlRow, SqlValue } from "./sql.ts";

/**
 * Reads a whole row of `kit_runs`.
 *
 * @param row The row.
 * @returns The record; its handle only where the run is suspended.
 * @throws {UnreadableRecordError} If its payload is not JSON.
 * @throws {SyntaxError} If the row is none of ours: an unknown phase.
 */
export function recordOf(row: SqlRow): RunRecord {
  const phase = phaseOf(row.phase);
  return {
    ...factsOf(row, phase),
    handle: phase === "suspended" ? text(row.handle) : undefined,
    payload: payloadOf(row),
  };
}

function payloadOf(row: SqlRow): JsonValue {
  try {
    return parseJson(String(row.payload));
  } catch (error) {
    throw new UnreadableRecordError(
      `Cannot read run ${row.run_id}: it is not what Kit stored (${
        error instanceof Error ? error.message : error
      })`,
      { cause: error },
    );
  }
}

/**
 * Reads what a listing shows of a row.
 *
 * @param row The row; its payload is not needed.
 * @returns The summary.
 */
export function summaryOf(row: SqlRow): RunSummary {
  const phase = phaseOf(row.phase);
  return { ...factsOf(row, phase), resumable: phase === "suspended" };
}

function factsOf(row: SqlRow, phase: RunPhase): Omit<RunRecord, "handle" | "payload"> {
  const running = phase === "running";
  return {
    runId: String(row.run_id),
    phase,
    machine: String(row.machine),
    at: text(row.at),
    reason: String(row.reason),
    ask: text(row.ask),
    createdMs: Number(row.created_ms),
    updatedMs: Number(row.updated_ms),
    expiresMs: number(row.expires_ms),
    holder: running ? text(row.holder) : undefined,
    leaseMs: running ? number(row.lease_ms) : undefined,
  };
}

function phaseOf(value: SqlValue | undefined): RunPhase {
  if (value === "suspended" || value === "running" || value === "finished") return value;
  throw new SyntaxError(`Cannot read a stored run: its phase is ${JSON.stringify(value)}`);
}

function text(value: SqlValue | undefined): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

function number(value: SqlValue | undefined): number | undefined {
  return value === undefined || value === null ? undefined : Number(value);
}
