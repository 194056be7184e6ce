/**
 * A store of runs in a database. Each transition is one conditional `UPDATE`: of several callers that race for a
 * record, in one process or on several hosts, the database lets exactly one find it in the phase it asked for.
 *
 * @module
 */
import {
  type Claim,
  type Holding,
  type NewRun,
  type NewSuspension,
  type RunPhase,
  type RunRecord,
  type RunSummary,
  type Stored,
  type SuspensionStore,
  UnreadableRecordError,
} from "../host/mod.ts";
import type { Clock } from "../ports/mod.ts";
import { recordOf, summaryOf } from "./rows.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";

/** Most runs that are kept suspended or running, unless told otherwise. */
export const DEFAULT_MAX_RUNS = 100_000;
/** How long the traces of spent handles are kept after their run was forgotten: a week. */
export const HANDLE_MEMORY_MS = 7 * 24 * 3600 * 1000;
/** How often a store forgets what is over, at most. */
const SWEEP_EVERY_MS = 60_000;
const DEFAULT_LIST_LIMIT = 100;
/** How often a claim looks again when the record changed between its two statements. */
const CLAIM_ATTEMPTS = 3;

const SUMMARY_COLUMNS = "run_id, phase, machine, at, reason, ask, created_ms, updated_ms, " +
  "expires_ms, holder, lease_ms";

/** How a store in a database is set up. */
export interface SqlStoreOptions {
  /** Time between sweeps; records are dated by the database. */
  readonly clock: Clock;
  /** Most runs kept suspended or running; default {@linkcode DEFAULT_MAX_RUNS}. Racing writers may pass it by a few. */
  readonly maxRuns?: number;
}

/**
 * Makes a store over a database whose tables exist.
 *
 * @param sql The database. The store closes it.
 * @param options How it is set up.
 * @returns The store.
 */
export function createSqlStore(sql: Sql, options: SqlStoreOptions): SuspensionStore {
  return new SqlStore(sql, options);
}

class SqlStore implements SuspensionStore {
  readonly durable = true;
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #maxRuns: number;
  #sweptAt: number | undefined;

  constructor(sql: Sql, options: SqlStoreOptions) {
    this.#sql = sql;
    this.#clock = options.clock;
    this.#maxRuns = options.maxRuns ?? DEFAULT_MAX_RUNS;
  }

  async begin(run: NewRun): Promise<Stored> {
    await this.#sweepNowAndThen();
    const rows = await this.#sql.run(
      `INSERT INTO kit_runs (run_id, phase, machine, reason, payload, created_ms, updated_ms, holder, lease_ms)
       SELECT $1, 'running', $2, 'running', $3, {now}, {now}, $4, {now} + $5
       WHERE (SELECT count(*) FROM kit_runs WHERE phase <> 'finished') < $6
       RETURNING run_id`,
      [
        run.runId,
        run.machine,
        JSON.stringify(run.payload),
        run.holder,
        run.leaseForMs,
        this.#maxRuns,
      ],
    );
    return { kind: rows.length === 1 ? "stored" : "full" };
  }

  settle(runId: string, point: Parameters<SuspensionStore["settle"]>[1]): Promise<Stored> {
    const payload = point.payload === undefined ? null : JSON.stringify(point.payload);
    return this.#change(
      `UPDATE kit_runs SET payload = COALESCE($3, payload), at = COALESCE($4, at),
         updated_ms = {now}, lease_ms = {now} + $5
       WHERE run_id = $1 AND holder = $2 AND phase = 'running' RETURNING run_id`,
      [runId, point.holder, payload, point.at ?? null, point.leaseForMs],
    );
  }

  async suspend(runId: string, holder: string, suspension: NewSuspension): Promise<Stored> {
    await this.#remember(suspension.handle, runId);
    return await this.#change(
      `UPDATE kit_runs SET phase = 'suspended', handle = $3, at = $4, reason = $5, ask = $6, payload = $7,
         expires_ms = $8, updated_ms = {now}, holder = NULL, lease_ms = NULL
       WHERE run_id = $1 AND holder = $2 AND phase = 'running' RETURNING run_id`,
      [runId, holder, suspension.handle, ...standing(suspension)],
    );
  }

  finish(
    runId: string,
    holder: string,
    end: Parameters<SuspensionStore["finish"]>[2],
  ): Promise<Stored> {
    return this.#change(
      `UPDATE kit_runs SET phase = 'finished', handle = NULL, at = NULL, ask = NULL, reason = $3, payload = $4,
         expires_ms = $5, updated_ms = {now}, holder = NULL, lease_ms = NULL
       WHERE run_id = $1 AND holder = $2 AND phase = 'running' RETURNING run_id`,
      [runId, holder, end.reason, JSON.stringify(end.outcome), end.expiresMs ?? null],
    );
  }

  async claim(handle: string, by: Holding): Promise<Claim> {
    for (let attempt = 1; attempt <= CLAIM_ATTEMPTS; attempt++) {
      const [row] = await this.#sql.run(
        `UPDATE kit_runs SET phase = 'running', holder = $2, lease_ms = {now} + $3, updated_ms = {now}
         WHERE handle = $1 AND phase = 'suspended' AND (expires_ms IS NULL OR expires_ms > {now})
         RETURNING *`,
        [handle, by.holder, by.leaseForMs],
      );
      if (row !== undefined) {
        const record = recordOf({ ...row, phase: "suspended" });
        return { kind: "claimed", record };
      }
      const refusal = await this.#refusal(handle);
      if (refusal !== undefined) return refusal;
    }
    return { kind: "busy" };
  }

  park(
    runId: string,
    holder: string,
    suspension?: Omit<NewSuspension, "handle">,
  ): Promise<Stored> {
    const where =
      "WHERE run_id = $1 AND holder = $2 AND phase = 'running' AND handle IS NOT NULL RETURNING run_id";
    if (suspension === undefined) {
      return this.#change(
        `UPDATE kit_runs SET phase = 'suspended', updated_ms = {now}, holder = NULL, lease_ms = NULL ${where}`,
        [runId, holder],
      );
    }
    return this.#change(
      `UPDATE kit_runs SET phase = 'suspended', at = $3, reason = $4, ask = $5, payload = $6, expires_ms = $7,
         updated_ms = {now}, holder = NULL, lease_ms = NULL ${where}`,
      [runId, holder, ...standing(suspension)],
    );
  }

  async peek(handle: string): Promise<Claim> {
    const [row] = await this.#sql.run(
      `SELECT * FROM kit_runs
       WHERE handle = $1 AND phase = 'suspended' AND (expires_ms IS NULL OR expires_ms > {now})`,
      [handle],
    );
    if (row !== undefined) return { kind: "claimed", record: recordOf(row) };
    return await this.#refusal(handle) ?? { kind: "busy" };
  }

  async look(runId: string): Promise<RunRecord | undefined> {
    const [row] = await this.#sql.run(
      `SELECT * FROM kit_runs
       WHERE run_id = $1 AND (phase = 'running' OR expires_ms IS NULL OR expires_ms > {now})`,
      [runId],
    );
    return row === undefined ? undefined : recordOf(row);
  }

  async recover(
    options: Parameters<SuspensionStore["recover"]>[0],
  ): Promise<readonly RunRecord[]> {
    const left = await this.#sql.run(
      "SELECT run_id FROM kit_runs WHERE phase = 'running' AND lease_ms <= {now} ORDER BY lease_ms LIMIT $1",
      [options.limit],
    );
    const recovered: RunRecord[] = [];
    for (const { run_id: runId } of left) {
      const handle = options.newHandle();
      await this.#remember(handle, String(runId));
      const [row] = await this.#sql.run(
        `UPDATE kit_runs SET phase = 'suspended', handle = $2, reason = $3, expires_ms = NULL,
           updated_ms = {now}, holder = NULL, lease_ms = NULL
         WHERE run_id = $1 AND phase = 'running' AND lease_ms <= {now} RETURNING *`,
        [String(runId), handle, options.reason],
      );
      const record = row === undefined ? undefined : readable(row);
      if (record !== undefined) recovered.push(record);
    }
    return recovered;
  }

  async list(options: Parameters<SuspensionStore["list"]>[0] = {}): Promise<readonly RunSummary[]> {
    const rows = await this.#sql.run(
      `SELECT ${SUMMARY_COLUMNS} FROM kit_runs
       WHERE ($1 = '' OR phase = $1) AND (phase = 'running' OR expires_ms IS NULL OR expires_ms > {now})
       ORDER BY updated_ms DESC, run_id LIMIT $2`,
      [options.phase ?? "", options.limit ?? DEFAULT_LIST_LIMIT],
    );
    return rows.map(summaryOf);
  }

  async forget(runId: string): Promise<boolean> {
    const rows = await this.#sql.run(
      "DELETE FROM kit_runs WHERE run_id = $1 AND phase <> 'running' RETURNING run_id",
      [runId],
    );
    if (rows.length === 0) return false;
    await this.#sql.run("DELETE FROM kit_handles WHERE run_id = $1", [runId]);
    return true;
  }

  async sweep(): Promise<number> {
    const over = "expires_ms IS NOT NULL AND expires_ms <= {now}";
    // Marked before the run goes: an expired handle must not turn into one that was used.
    await this.#sql.run(
      `UPDATE kit_handles SET expired = 1
       WHERE handle IN (SELECT handle FROM kit_runs WHERE phase = 'suspended' AND ${over})`,
    );
    const gone = await this.#sql.run(
      `DELETE FROM kit_runs WHERE phase <> 'running' AND ${over}
         AND (handle IS NULL OR handle IN (SELECT handle FROM kit_handles WHERE expired = 1)) RETURNING run_id`,
    );
    await this.#sql.run(
      "DELETE FROM kit_handles WHERE made_ms <= {now} - $1 AND run_id NOT IN (SELECT run_id FROM kit_runs)",
      [HANDLE_MEMORY_MS],
    );
    return gone.length;
  }

  async counts(): Promise<Readonly<Record<RunPhase, number>>> {
    const rows = await this.#sql.run(
      "SELECT phase, count(*) AS n FROM kit_runs GROUP BY phase",
    );
    const counts = { suspended: 0, running: 0, finished: 0 };
    for (const { phase, n } of rows) {
      if (phase === "suspended" || phase === "running" || phase === "finished") {
        counts[phase] = Number(n);
      }
    }
    return counts;
  }

  close(): Promise<void> {
    return this.#sql.close();
  }

  async #change(text: string, values: readonly SqlValue[]): Promise<Stored> {
    const rows = await this.#sql.run(text, values);
    return { kind: rows.length === 1 ? "stored" : "lost" };
  }

  /** Written before the run points to it: a handle that no run has yet was given to nobody. */
  async #remember(handle: string, runId: string): Promise<void> {
    await this.#sql.run(
      "INSERT INTO kit_handles (handle, run_id, made_ms) VALUES ($1, $2, {now})",
      [handle, runId],
    );
  }

  /** Why a handle could not be claimed; `undefined` if it can be by now. */
  async #refusal(handle: string): Promise<Claim | undefined> {
    const [row] = await this.#sql.run(
      `SELECT h.expired, h.run_id, r.phase, r.handle, CASE WHEN r.expires_ms <= {now} THEN 1 ELSE 0 END AS over
       FROM kit_handles h LEFT JOIN kit_runs r ON r.run_id = h.run_id WHERE h.handle = $1`,
      [handle],
    );
    if (row === undefined) return { kind: "unknown" };
    if (row.phase === null) {
      return { kind: Number(row.expired) === 1 ? "expired" : "already-resumed" };
    }
    const runId = String(row.run_id);
    if (row.handle !== handle) return { kind: "already-resumed", runId };
    if (row.phase === "running") return { kind: "busy", runId };
    return Number(row.over) === 1 ? { kind: "expired", runId } : undefined;
  }

  async #sweepNowAndThen(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#sweptAt !== undefined && now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    await this.sweep();
  }
}

function standing(suspension: Omit<NewSuspension, "handle">): SqlValue[] {
  return [
    suspension.at ?? null,
    suspension.reason,
    suspension.ask ?? null,
    JSON.stringify(suspension.payload),
    suspension.expiresMs ?? null,
  ];
}

/** A run that cannot be read waits as a suspension like the others, and keeps none of them from being recovered. */
function readable(row: SqlRow): RunRecord | undefined {
  try {
    return recordOf(row);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
