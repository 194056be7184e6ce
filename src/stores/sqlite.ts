// deno-lint-ignore-file no-external-import -- the one file that names node:sqlite
/**
 * Runs in an SQLite file, for one host with any number of Kit processes. The file is opened on first need.
 *
 * Write-ahead logging with full syncing: what was acknowledged is on the disk, also when the power goes.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { BusyStoreError, type SuspensionStore } from "../host/mod.ts";
import { type Clock, FileError, type Files } from "../ports/mod.ts";
import { SCHEMA, type Sql, type SqlRow, type SqlValue } from "./sql.ts";
import { createSqlStore } from "./sql_store.ts";

/** How long a writer waits for others in all. */
const LOCKED_FOR_MS = 10_000;
/** How long SQLite itself waits; short, since it blocks every other call of this process meanwhile. */
const BUSY_TIMEOUT_MS = 20;
const RETRY_AFTER_MS = 5;
/** SQLITE_BUSY and SQLITE_LOCKED. */
const LOCKED_CODES: readonly number[] = [5, 6];

/** How the file is opened. */
export interface SqliteOptions {
  /** Time. Records are dated by it, since all processes of a host share one clock. */
  readonly clock: Clock;
  /** Makes the file, readable by its owner alone. */
  readonly files: Files;
  /** Most runs kept; default 100,000. */
  readonly maxRuns?: number;
}

/**
 * Opens a store in an SQLite file, which is made if it is missing, with mode 0600.
 *
 * @param path The file.
 * @param options How it is opened.
 * @returns The store.
 * @throws {FileError} If the file cannot be made.
 * @throws {BusyStoreError} If another program keeps the file locked for ten seconds; so does each transition.
 * @throws {Error} If the file is no database of ours.
 */
export async function openSqliteStore(
  path: string,
  options: SqliteOptions,
): Promise<SuspensionStore> {
  await makeFile(path, options.files);
  const sql = new Sqlite(path, options.clock);
  try {
    await sql.prepareTables();
  } catch (error) {
    await sql.close();
    const message = `Cannot use "${path}" as a store of runs: ${messageOf(error)}`;
    if (error instanceof BusyStoreError) throw new BusyStoreError(message, { cause: error });
    throw new Error(message, { cause: error });
  }
  return createSqlStore(sql, options);
}

async function makeFile(path: string, files: Files): Promise<void> {
  try {
    // An empty file is an empty database; made here so that it is private from its first moment on.
    await files.writeAtomic(path, "", { mode: 0o600, exclusive: true });
  } catch (error) {
    if (error instanceof FileError && error.failure === "exists") return;
    throw error;
  }
}

class Sqlite implements Sql {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements: Map<string, Prepared> = new Map();

  constructor(path: string, clock: Clock) {
    this.#database = new DatabaseSync(path);
    this.#clock = clock;
  }

  async prepareTables(): Promise<void> {
    await this.#unlocked(() => {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      this.#database.exec("PRAGMA journal_mode = WAL");
      this.#database.exec("PRAGMA synchronous = FULL");
      for (const statement of SCHEMA) this.#database.exec(statement);
    });
  }

  run(text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#unlocked(() => {
      const { statement, order } = this.#prepared(text);
      const now = this.#clock.now();
      return statement.all(...order.map((index) => index === NOW ? now : values[index] ?? null))
        .map(rowOf);
    });
  }

  close(): Promise<void> {
    this.#statements.clear();
    this.#database.close();
    return Promise.resolve();
  }

  #prepared(text: string): Prepared {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const order: number[] = [];
    const written = text.replaceAll(/\{now\}|\$(\d+)/g, (_, digits?: string) => {
      order.push(digits === undefined ? NOW : Number(digits) - 1);
      return "?";
    });
    const prepared = { statement: this.#database.prepare(written), order };
    this.#statements.set(text, prepared);
    return prepared;
  }

  async #unlocked<T>(work: () => T): Promise<T> {
    const giveUpAt = this.#clock.monotonic() + LOCKED_FOR_MS;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isLocked(error)) throw error;
        if (this.#clock.monotonic() >= giveUpAt) {
          const why = `the database was locked for ${LOCKED_FOR_MS / 1000} s`;
          throw new BusyStoreError(why, { cause: error });
        }
      }
      await this.#clock.sleep(RETRY_AFTER_MS);
    }
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** For each `?`, which parameter it takes; {@linkcode NOW} for the time. */
  readonly order: readonly number[];
}

const NOW = -1;

function isLocked(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error && typeof error.errcode === "number") {
    return LOCKED_CODES.includes(error.errcode & 0xff);
  }
  return /database (table )?is locked/.test(error.message);
}

function rowOf(row: Readonly<Record<string, unknown>>): SqlRow {
  const read: Record<string, SqlValue> = {};
  for (const [key, value] of Object.entries(row)) read[key] = valueOf(value);
  return read;
}

function valueOf(value: unknown): SqlValue {
  if (typeof value === "string" || typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
