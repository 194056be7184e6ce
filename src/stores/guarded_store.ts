/**
 * A store whose records pass through a guard on their way in and out: what a run knows and what it asks a person. Names,
 * phases and times stay as they are, for listings.
 *
 * @module
 */
import {
  type Claim,
  type RunRecord,
  type RunSummary,
  type SuspensionStore,
  UnreadableRecordError,
} from "../host/mod.ts";
import { type JsonValue, parseJson } from "../json/mod.ts";

/** What changes the values of records before they are kept, and back. */
export interface RecordGuard {
  /**
   * Makes what is kept.
   *
   * @param value What a run knows.
   * @param runId The run, to which the result is bound.
   * @returns What the store is given.
   */
  close(value: JsonValue, runId: string): Promise<JsonValue>;
  /**
   * Gives back what was kept.
   *
   * @param value What the store gave.
   * @param runId The run.
   * @returns What the run knew.
   * @throws {UnreadableRecordError} If this is not what was kept for that run.
   */
  open(value: JsonValue, runId: string): Promise<JsonValue>;
}

/**
 * Puts a guard before a store.
 *
 * @param store The store.
 * @param guard The guard.
 * @returns The same store, guarded. Reading a record that the guard does not let through rejects and changes nothing; in
 * a listing it has no question, and says why.
 */
export function guardStore(store: SuspensionStore, guard: RecordGuard): SuspensionStore {
  return new GuardedStore(store, guard);
}

class GuardedStore implements SuspensionStore {
  readonly durable: boolean;
  readonly #store: SuspensionStore;
  readonly #guard: RecordGuard;

  constructor(store: SuspensionStore, guard: RecordGuard) {
    this.durable = store.durable;
    this.#store = store;
    this.#guard = guard;
  }

  async begin(run: Parameters<SuspensionStore["begin"]>[0]): ReturnType<SuspensionStore["begin"]> {
    const payload = await this.#guard.close(run.payload, run.runId);
    return await this.#store.begin({ ...run, payload });
  }

  async settle(
    runId: string,
    point: Parameters<SuspensionStore["settle"]>[1],
  ): ReturnType<SuspensionStore["settle"]> {
    if (point.payload === undefined) return await this.#store.settle(runId, point);
    const payload = await this.#guard.close(point.payload, runId);
    return await this.#store.settle(runId, { ...point, payload });
  }

  async suspend(
    runId: string,
    holder: string,
    suspension: Parameters<SuspensionStore["suspend"]>[2],
  ): ReturnType<SuspensionStore["suspend"]> {
    const closed = await this.#closeStanding(suspension, runId);
    return await this.#store.suspend(runId, holder, { ...suspension, ...closed });
  }

  async finish(
    runId: string,
    holder: string,
    end: Parameters<SuspensionStore["finish"]>[2],
  ): ReturnType<SuspensionStore["finish"]> {
    const outcome = await this.#guard.close(end.outcome, runId);
    return await this.#store.finish(runId, holder, { ...end, outcome });
  }

  async claim(handle: string, by: Parameters<SuspensionStore["claim"]>[1]): Promise<Claim> {
    const claim = await this.#store.claim(handle, by);
    if (claim.kind !== "claimed") return claim;
    try {
      return { kind: "claimed", record: await this.#open(claim.record) };
    } catch (error) {
      // What cannot be read stays as it was, for whoever has the right key.
      await this.#store.park(claim.record.runId, by.holder);
      throw error;
    }
  }

  async park(
    runId: string,
    holder: string,
    suspension?: Parameters<SuspensionStore["park"]>[2],
  ): ReturnType<SuspensionStore["park"]> {
    if (suspension === undefined) return await this.#store.park(runId, holder);
    const closed = await this.#closeStanding(suspension, runId);
    return await this.#store.park(runId, holder, { ...suspension, ...closed });
  }

  async peek(handle: string): Promise<Claim> {
    const claim = await this.#store.peek(handle);
    if (claim.kind !== "claimed") return claim;
    return { kind: "claimed", record: await this.#open(claim.record) };
  }

  async look(runId: string): Promise<RunRecord | undefined> {
    const record = await this.#store.look(runId);
    return record === undefined ? undefined : await this.#open(record);
  }

  async recover(
    options: Parameters<SuspensionStore["recover"]>[0],
  ): Promise<readonly RunRecord[]> {
    const records = await this.#store.recover(options);
    // A record of another key is put back to suspension all the same, for whoever can read it: by its run id.
    const opened = await Promise.allSettled(records.map((record) => this.#open(record)));
    return opened.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
  }

  async list(options?: Parameters<SuspensionStore["list"]>[0]): Promise<readonly RunSummary[]> {
    const rows = await this.#store.list(options);
    return await Promise.all(rows.map((row) => this.#openSummary(row)));
  }

  forget(runId: string): Promise<boolean> {
    return this.#store.forget(runId);
  }

  sweep(): Promise<number> {
    return this.#store.sweep();
  }

  counts(): ReturnType<SuspensionStore["counts"]> {
    return this.#store.counts();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #closeStanding(
    suspension: { readonly payload: JsonValue; readonly ask: string | undefined },
    runId: string,
  ): Promise<{ payload: JsonValue; ask: string | undefined }> {
    const payload = await this.#guard.close(suspension.payload, runId);
    if (suspension.ask === undefined) return { payload, ask: undefined };
    return { payload, ask: JSON.stringify(await this.#guard.close(suspension.ask, runId)) };
  }

  async #open(record: RunRecord): Promise<RunRecord> {
    const payload = await this.#guard.open(record.payload, record.runId);
    return { ...record, payload, ask: await this.#openAsk(record.ask, record.runId) };
  }

  async #openSummary(row: RunSummary): Promise<RunSummary> {
    try {
      return { ...row, ask: await this.#openAsk(row.ask, row.runId) };
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      return { ...row, ask: undefined, unreadable: error.message };
    }
  }

  async #openAsk(ask: string | undefined, runId: string): Promise<string | undefined> {
    if (ask === undefined) return undefined;
    return String(await this.#guard.open(jsonOf(ask), runId));
  }
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
