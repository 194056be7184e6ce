/**
 * Durable stores of suspended runs: SQLite, PostgreSQL, and encryption at rest over either.
 *
 * @module
 */
export { openStore, type OpenStoreOptions } from "./open_store.ts";
