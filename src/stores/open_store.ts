/**
 * Opens the store that an operator configured.
 *
 * @module
 */
import type { SuspensionStore } from "../host/mod.ts";
import type { Clock, Files, Random } from "../ports/mod.ts";
import { guardStore, type RecordGuard } from "./guarded_store.ts";

/** What opening a store needs. */
export interface OpenStoreOptions {
  /** Time, chance and files. */
  readonly ports: { readonly clock: Clock; readonly random: Random; readonly files: Files };
  /** The key of encryption at rest, as in `KIT_STORE_KEY`; absent or empty: nothing is encrypted. */
  readonly key?: string;
  /**
   * The secret that proves who wrote a record where nothing is encrypted, as in `KIT_STATE_KEY`; absent or empty: a
   * digest notices changes, and proves nothing against who can make one.
   */
  readonly proofKey?: string;
  /** Most runs kept; default 100,000. */
  readonly maxRuns?: number;
}

/**
 * Opens a durable store. Its driver is loaded now and not before.
 *
 * @param location `sqlite:PATH`, or a `postgres://` or `postgresql://` URL.
 * @param options What it needs.
 * @returns The store; close it when done.
 * @throws {RangeError} If the location is neither, or the key is not 32 bytes.
 * @throws {BusyStoreError} If another program keeps the database locked.
 * @throws {Error} If the database cannot be opened; the text shows no password.
 */
export async function openStore(
  location: string,
  options: OpenStoreOptions,
): Promise<SuspensionStore> {
  // The keys come first: with one that cannot be used no database is made or touched.
  const guard = await createGuard(options);
  return guardStore(await openPlain(location, options), guard);
}

async function createGuard({ key, proofKey, ports }: OpenStoreOptions): Promise<RecordGuard> {
  if (key !== undefined && key !== "") {
    const { createSeal } = await import("./sealed.ts");
    return await createSeal({ key, random: ports.random });
  }
  const { createProof } = await import("./proved.ts");
  return await createProof(proofKey === undefined || proofKey === "" ? {} : { key: proofKey });
}

async function openPlain(location: string, options: OpenStoreOptions): Promise<SuspensionStore> {
  const { clock, files } = options.ports;
  const limits = options.maxRuns === undefined ? {} : { maxRuns: options.maxRuns };
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/s.exec(location)?.[1];
  if (path !== undefined) {
    const { openSqliteStore } = await import("./sqlite.ts");
    return await openSqliteStore(path, { clock, files, ...limits });
  }
  if (/^postgres(?:ql)?:\/\//.test(location)) {
    const { openPostgresStore } = await import("./postgres.ts");
    return await openPostgresStore(location, { clock, ...limits });
  }
  throw new RangeError(
    'Cannot open the store: write "sqlite:PATH" or "postgres://USER@HOST/DATABASE"',
  );
}
