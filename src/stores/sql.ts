/**
 * What a database must do for {@linkcode createSqlStore}, and the tables it keeps.
 *
 * The statements keep to what SQLite (from 3.35) and PostgreSQL both understand: parameters are written `$1`, and
 * every transition is one statement, so that it is atomic without a transaction.
 *
 * @module
 */

/** A value that crosses to or from the database. */
export type SqlValue = string | number | null;

/** A row of a result. Numbers come as numbers, whatever the driver makes of 64 bits. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A connection, or several that act as one. */
export interface Sql {
  /**
   * Runs one statement, atomically, and again while the database says that it is locked.
   *
   * @param text The statement, parameters written `$1`, `$2` …; `{now}` stands for the database's time in milliseconds.
   * @param values The parameters.
   * @returns The rows, those of `RETURNING` included.
   */
  run(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Closes the connection after what is under way. */
  close(): Promise<void>;
}

/**
 * The tables: one row a run, and one a handle that was ever given out, so that a spent handle is told from an unknown
 * one. `BIGINT` is an ordinary integer to SQLite.
 */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS kit_runs (
    run_id TEXT PRIMARY KEY,
    phase TEXT NOT NULL,
    handle TEXT,
    machine TEXT NOT NULL,
    at TEXT,
    reason TEXT NOT NULL,
    ask TEXT,
    payload TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    holder TEXT,
    lease_ms BIGINT
  )`,
  `CREATE TABLE IF NOT EXISTS kit_handles (
    handle TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    expired INTEGER NOT NULL DEFAULT 0
  )`,
  "CREATE UNIQUE INDEX IF NOT EXISTS kit_runs_handle ON kit_runs (handle)",
  "CREATE INDEX IF NOT EXISTS kit_runs_phase ON kit_runs (phase, updated_ms)",
  "CREATE INDEX IF NOT EXISTS kit_handles_run ON kit_handles (run_id)",
];
