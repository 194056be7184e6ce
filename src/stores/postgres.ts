/**
 * Runs in PostgreSQL, for several hosts. The driver is loaded only when such a store is opened.
 *
 * @module
 */
import postgres from "postgres";
import type { SuspensionStore } from "../host/mod.ts";
import type { Clock } from "../ports/mod.ts";
import { SCHEMA, type Sql, type SqlRow, type SqlValue } from "./sql.ts";
import { createSqlStore } from "./sql_store.ts";

const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_S = 10;
const CLOSE_TIMEOUT_S = 2;
/** `bigint`, which the driver would give as text. */
const BIGINT_TYPE = 20;
/** Names the lock under which tables are made, so that hosts that start at once do not collide. */
const SCHEMA_LOCK = 5_264_861;

/** How the database is opened. */
export interface PostgresOptions {
  /** Time between sweeps. */
  readonly clock: Clock;
  /** Most runs kept; default 100,000. */
  readonly maxRuns?: number;
  /** Where records are dated: by the server (default), so that hosts need not agree, or by `clock`, for tests. */
  readonly datedBy?: "server" | "clock";
}

/**
 * Opens a store in a PostgreSQL database; its tables are made if they are missing.
 *
 * @param url Such as `postgres://user:password@host/database`.
 * @param options How it is opened.
 * @returns The store.
 * @throws {Error} If the database cannot be reached or used. The text does not show the password.
 */
export async function openPostgresStore(
  url: string,
  options: PostgresOptions,
): Promise<SuspensionStore> {
  const sql = new Postgres(url, options);
  try {
    await sql.prepareTables();
  } catch (error) {
    await sql.close();
    throw new Error(
      `Cannot use PostgreSQL at ${placeOf(url)} as a store of runs: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return createSqlStore(sql, options);
}

class Postgres implements Sql {
  readonly #sql: postgres.Sql;
  readonly #now: () => string;

  constructor(url: string, options: PostgresOptions) {
    this.#sql = postgres(url, {
      max: MAX_CONNECTIONS,
      connect_timeout: CONNECT_TIMEOUT_S,
      onnotice: ignoreNotice,
      types: {
        bigint: { to: BIGINT_TYPE, from: [BIGINT_TYPE], serialize: String, parse: Number },
      },
    });
    const { clock } = options;
    this.#now = options.datedBy === "clock"
      ? () => `${Math.trunc(clock.now())}::bigint`
      : () => "(extract(epoch from clock_timestamp()) * 1000)::bigint";
  }

  async prepareTables(): Promise<void> {
    await this.#sql.begin(async (transaction) => {
      await transaction.unsafe(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
      for (const statement of SCHEMA) await transaction.unsafe(statement);
    });
  }

  async run(text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const rows = await this.#sql.unsafe(text.replaceAll("{now}", this.#now()), [...values]);
    return rows.map(rowOf);
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: CLOSE_TIMEOUT_S });
  }
}

function ignoreNotice(): void {
  // "relation exists already, skipping": what CREATE … IF NOT EXISTS is for.
}

function rowOf(row: Readonly<Record<string, unknown>>): SqlRow {
  const read: Record<string, SqlValue> = {};
  for (const [key, value] of Object.entries(row)) {
    read[key] = typeof value === "string" || typeof value === "number" ? value : null;
  }
  return read;
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return "an address that is no URL";
  const { host, pathname } = new URL(url);
  return `"${host}${pathname}"`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
