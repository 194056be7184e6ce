/**
 * The store that lives in this process and ends with it. Bounded: it refuses new work when it is full, and never drops a
 * run that waits for a person.
 *
 * @module
 */
import { valueSize } from "../machine/values.ts";
import type { Clock } from "../ports/mod.ts";
import type {
  Claim,
  Holding,
  NewRun,
  NewSuspension,
  RunPhase,
  RunRecord,
  RunSummary,
  Stored,
  SuspensionStore,
} from "./store.ts";

/** How the store is bounded. */
export interface MemoryStoreOptions {
  /** Wall time, for expiries and leases. */
  readonly clock: Pick<Clock, "now">;
  /** Running and suspended runs together, beyond which nothing new is begun. */
  readonly maxRuns: number;
  /** Finished outcomes kept; the oldest go first. */
  readonly maxOutcomes: number;
  /** Characters that suspended runs hold together, beyond which nothing new is begun; default 268,435,456 (256 Mi). */
  readonly maxSuspendedChars?: number;
  /** Characters of finished outcomes, beyond which the oldest go; the newest stays. Default 134,217,728 (128 Mi). */
  readonly maxOutcomeChars?: number;
}

const DEFAULT_SUSPENDED_CHARS = 268_435_456;
const DEFAULT_OUTCOME_CHARS = 134_217_728;

/** Spent and expired handles that are remembered, so that a late resume is told what happened. */
const MAX_REMEMBERED_HANDLES = 10_000;
/** Records in a listing unless a call says otherwise. */
const DEFAULT_LIST_LIMIT = 100;

interface Entry {
  record: RunRecord;
  /** Characters of what is kept while nobody works on it; 0 while it runs, where the engine bounds it. */
  chars: number;
  /** The handle that the record was claimed by last, while it runs. */
  claimedBy: string | undefined;
  /** What it was before the claim, as long as nothing was settled since. */
  before: RunRecord | undefined;
}

type Spent = { readonly kind: "already-resumed" | "expired"; readonly runId: string };

const STORED: Stored = Object.freeze({ kind: "stored" });
const LOST: Stored = Object.freeze({ kind: "lost" });

/**
 * Makes a store in memory.
 *
 * @param options Its bounds.
 * @returns The store.
 */
export function createMemoryStore(options: MemoryStoreOptions): SuspensionStore {
  return new MemoryStore(options);
}

class MemoryStore implements SuspensionStore {
  readonly durable = false;
  readonly #options: MemoryStoreOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #byHandle = new Map<string, string>();
  readonly #spent = new Map<string, Spent>();
  readonly #counts: Record<RunPhase, number> = { suspended: 0, running: 0, finished: 0 };
  readonly #chars: Record<RunPhase, number> = { suspended: 0, running: 0, finished: 0 };
  #nextExpiryMs = Infinity;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  begin(run: NewRun): Promise<Stored> {
    this.#sweep();
    if (this.#entries.has(run.runId)) return Promise.resolve(LOST);
    if (this.#isFull()) return Promise.resolve({ kind: "full" });
    const now = this.#options.clock.now();
    const record: RunRecord = {
      runId: run.runId,
      phase: "running",
      handle: undefined,
      machine: run.machine,
      at: undefined,
      reason: "running",
      ask: undefined,
      payload: run.payload,
      createdMs: now,
      updatedMs: now,
      expiresMs: undefined,
      holder: run.holder,
      leaseMs: now + run.leaseForMs,
    };
    this.#entries.set(run.runId, {
      record,
      chars: 0,
      claimedBy: undefined,
      before: undefined,
    });
    this.#counts.running++;
    return Promise.resolve(STORED);
  }

  settle(runId: string, point: Parameters<SuspensionStore["settle"]>[1]): Promise<Stored> {
    const entry = this.#held(runId, point.holder);
    if (entry === undefined) return Promise.resolve(LOST);
    const now = this.#options.clock.now();
    const leaseMs = now + point.leaseForMs;
    if (point.payload === undefined) {
      this.#put(entry, { ...entry.record, leaseMs });
      return Promise.resolve(STORED);
    }
    entry.before = undefined;
    const { payload, at } = point;
    this.#put(entry, { ...entry.record, payload, at, ask: undefined, updatedMs: now, leaseMs });
    return Promise.resolve(STORED);
  }

  suspend(runId: string, holder: string, suspension: NewSuspension): Promise<Stored> {
    const entry = this.#held(runId, holder);
    if (entry === undefined) return Promise.resolve(LOST);
    this.#spend(entry, "already-resumed");
    this.#byHandle.set(suspension.handle, runId);
    this.#release(entry, suspension);
    return Promise.resolve(STORED);
  }

  finish(
    runId: string,
    holder: string,
    end: Parameters<SuspensionStore["finish"]>[2],
  ): Promise<Stored> {
    const entry = this.#held(runId, holder);
    if (entry === undefined) return Promise.resolve(LOST);
    this.#spend(entry, "already-resumed");
    this.#put(entry, {
      ...entry.record,
      phase: "finished",
      handle: undefined,
      reason: end.reason,
      ask: undefined,
      payload: end.outcome,
      updatedMs: this.#options.clock.now(),
      expiresMs: end.expiresMs,
      holder: undefined,
      leaseMs: undefined,
    });
    this.#touch(entry);
    this.#dropOldOutcomes();
    return Promise.resolve(STORED);
  }

  claim(handle: string, by: Holding): Promise<Claim> {
    const found = this.#find(handle);
    if (found.kind !== "claimed") return Promise.resolve(found);
    const entry = this.#entries.get(found.record.runId);
    if (entry === undefined) return Promise.resolve({ kind: "unknown", runId: undefined });
    const now = this.#options.clock.now();
    entry.before = entry.record;
    entry.claimedBy = handle;
    this.#put(entry, {
      ...entry.record,
      phase: "running",
      handle: undefined,
      reason: "running",
      expiresMs: undefined,
      updatedMs: now,
      holder: by.holder,
      leaseMs: now + by.leaseForMs,
    });
    return Promise.resolve(found);
  }

  park(
    runId: string,
    holder: string,
    suspension?: Omit<NewSuspension, "handle">,
  ): Promise<Stored> {
    const entry = this.#held(runId, holder);
    if (entry?.claimedBy === undefined) return Promise.resolve(LOST);
    this.#putBack(entry, entry.claimedBy, suspension);
    return Promise.resolve(STORED);
  }

  peek(handle: string): Promise<Claim> {
    return Promise.resolve(this.#find(handle));
  }

  look(runId: string): Promise<RunRecord | undefined> {
    const record = this.#entries.get(runId)?.record;
    return Promise.resolve(record === undefined || this.#isOver(record) ? undefined : record);
  }

  recover(options: Parameters<SuspensionStore["recover"]>[0]): Promise<readonly RunRecord[]> {
    const now = this.#options.clock.now();
    const recovered: RunRecord[] = [];
    for (const entry of this.#entries.values()) {
      if (recovered.length >= options.limit) break;
      const { record } = entry;
      if (record.phase !== "running" || record.leaseMs === undefined || record.leaseMs > now) {
        continue;
      }
      this.#spend(entry, "already-resumed");
      this.#putBack(entry, options.newHandle(), { ...record, reason: options.reason });
      recovered.push(entry.record);
    }
    return Promise.resolve(recovered);
  }

  list(
    options: { readonly phase?: RunPhase; readonly limit?: number } = {},
  ): Promise<readonly RunSummary[]> {
    const found = [...this.#entries.values()].reverse().map(({ record }) => record)
      .filter((record) => !this.#isOver(record))
      .filter((record) => options.phase === undefined || record.phase === options.phase)
      .sort((left, right) => right.updatedMs - left.updatedMs)
      .slice(0, options.limit ?? DEFAULT_LIST_LIMIT);
    return Promise.resolve(found.map(summary));
  }

  forget(runId: string): Promise<boolean> {
    const entry = this.#entries.get(runId);
    const found = entry !== undefined && entry.record.phase !== "running";
    if (found) this.#drop(entry);
    return Promise.resolve(found);
  }

  sweep(): Promise<number> {
    return Promise.resolve(this.#sweep());
  }

  counts(): Promise<Readonly<Record<RunPhase, number>>> {
    return Promise.resolve({ ...this.#counts });
  }

  close(): Promise<void> {
    this.#entries.clear();
    this.#byHandle.clear();
    return Promise.resolve();
  }

  #held(runId: string, holder: string): Entry | undefined {
    const entry = this.#entries.get(runId);
    const held = entry?.record.phase === "running" && entry.record.holder === holder;
    return held ? entry : undefined;
  }

  #find(handle: string): Claim {
    const runId = this.#byHandle.get(handle);
    const entry = runId === undefined ? undefined : this.#entries.get(runId);
    if (entry === undefined) {
      return this.#spent.get(handle) ?? { kind: "unknown", runId: undefined };
    }
    if (entry.record.phase === "running") return { kind: "busy", runId };
    if (this.#isOver(entry.record)) return { kind: "expired", runId };
    return { kind: "claimed", record: entry.record };
  }

  /** Ends the hold and stores where the run waits now. */
  #release(entry: Entry, to: NewSuspension): void {
    entry.claimedBy = undefined;
    entry.before = undefined;
    this.#put(entry, {
      ...entry.record,
      phase: "suspended",
      handle: to.handle,
      at: to.at,
      reason: to.reason,
      ask: to.ask,
      payload: to.payload,
      updatedMs: this.#options.clock.now(),
      expiresMs: to.expiresMs,
      holder: undefined,
      leaseMs: undefined,
    });
    this.#touch(entry);
  }

  #putBack(
    entry: Entry,
    handle: string,
    at: Omit<NewSuspension, "handle"> | undefined,
  ): void {
    this.#byHandle.set(handle, entry.record.runId);
    this.#release(entry, { ...(at ?? entry.before ?? entry.record), handle });
  }

  #isFull(): boolean {
    const { maxRuns, maxSuspendedChars = DEFAULT_SUSPENDED_CHARS } = this.#options;
    return this.#counts.suspended + this.#counts.running >= maxRuns ||
      this.#chars.suspended >= maxSuspendedChars;
  }

  #put(entry: Entry, record: RunRecord): void {
    this.#counts[entry.record.phase]--;
    this.#counts[record.phase]++;
    this.#chars[entry.record.phase] -= entry.chars;
    entry.chars = record.phase === "running" ? 0 : valueSize(record.payload);
    this.#chars[record.phase] += entry.chars;
    if (record.expiresMs !== undefined) {
      this.#nextExpiryMs = Math.min(this.#nextExpiryMs, record.expiresMs);
    }
    entry.record = record;
  }

  /** Keeps the map in order of the last change. */
  #touch(entry: Entry): void {
    this.#entries.delete(entry.record.runId);
    this.#entries.set(entry.record.runId, entry);
  }

  #spend(entry: Entry, kind: Spent["kind"]): void {
    const handle = entry.claimedBy ?? entry.record.handle;
    if (handle === undefined) return;
    this.#byHandle.delete(handle);
    entry.claimedBy = undefined;
    this.#spent.set(handle, { kind, runId: entry.record.runId });
    for (const oldest of this.#spent.keys()) {
      if (this.#spent.size <= MAX_REMEMBERED_HANDLES) break;
      this.#spent.delete(oldest);
    }
  }

  #remove(entry: Entry, kind: Spent["kind"]): void {
    this.#spend(entry, kind);
    this.#drop(entry);
  }

  #drop(entry: Entry): void {
    if (entry.record.handle !== undefined) this.#byHandle.delete(entry.record.handle);
    this.#counts[entry.record.phase]--;
    this.#chars[entry.record.phase] -= entry.chars;
    this.#entries.delete(entry.record.runId);
  }

  #isOver({ phase, expiresMs }: RunRecord): boolean {
    return phase !== "running" && expiresMs !== undefined && expiresMs <= this.#options.clock.now();
  }

  #sweep(): number {
    const now = this.#options.clock.now();
    if (now < this.#nextExpiryMs) return 0;
    let swept = 0;
    this.#nextExpiryMs = Infinity;
    for (const entry of this.#entries.values()) {
      const { phase, expiresMs } = entry.record;
      if (phase === "running" || expiresMs === undefined) continue;
      if (expiresMs > now) this.#nextExpiryMs = Math.min(this.#nextExpiryMs, expiresMs);
      else {
        this.#remove(entry, "expired");
        swept++;
      }
    }
    return swept;
  }

  /** Of outcomes the oldest go first, and the newest never: its caller may not have seen it yet. */
  #dropOldOutcomes(): void {
    const { maxOutcomes, maxOutcomeChars = DEFAULT_OUTCOME_CHARS } = this.#options;
    for (const entry of this.#entries.values()) {
      const tooMany = this.#counts.finished > maxOutcomes ||
        (this.#chars.finished > maxOutcomeChars && this.#counts.finished > 1);
      if (!tooMany) return;
      if (entry.record.phase === "finished") this.#drop(entry);
    }
  }
}

function summary(record: RunRecord): RunSummary {
  const { payload: _payload, handle, ...rest } = record;
  return { ...rest, resumable: record.phase === "suspended" && handle !== undefined };
}
