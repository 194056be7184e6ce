/**
 * Where runs are kept while nobody holds them: suspended, running under a lease, or finished and not yet looked at.
 *
 * A record has one of three phases and moves only along these edges, each one atomic step of the store:
 *
 * ```text
 * (none) --begin--> running --settle--> running        a step is saved, the lease renewed
 *                   running --suspend--> suspended     a new single-use handle
 *                   running --finish--> finished       the outcome, kept until it expires
 * suspended --claim--> running                         exactly one claimer wins; the handle is spent
 * running --park--> suspended                          put back: the same handle is valid again
 * running (lease over) --recover--> suspended          a dead holder's run, at its last settled state
 * ```
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";

/** A record is there and cannot be read: it was sealed with another key, or changed since. */
export class UnreadableRecordError extends Error {
  /** The class. */
  override readonly name = "UnreadableRecordError";
}

/** Another program holds the storage, and went on holding it for as long as a store waits: the call may be made again. */
export class BusyStoreError extends Error {
  /** The class. */
  override readonly name = "BusyStoreError";
}

/** What a run is doing, as a store knows it. */
export type RunPhase = "suspended" | "running" | "finished";

/** What a store keeps of one run. All of it is JSON; `payload` is sealed where a store key is set. */
export interface RunRecord {
  /** Names the run for ever, 32 hex digits: the `run` handle, which only looks. */
  readonly runId: string;
  /** The phase. */
  readonly phase: RunPhase;
  /** The single-use handle of a suspension, 32 hex digits; `undefined` in the other phases. */
  readonly handle: string | undefined;
  /** The machine's name, for listings. */
  readonly machine: string;
  /** The state it stands at, for listings; `undefined` if unknown. */
  readonly at: string | undefined;
  /** Why it is suspended, or how it ended, for listings: `escalated`, `budget-exhausted`, `done` … */
  readonly reason: string;
  /** What is asked, if a person is asked. */
  readonly ask: string | undefined;
  /** Everything needed to go on, or the outcome. Opaque to the store. */
  readonly payload: JsonValue;
  /** Made, milliseconds since the epoch. */
  readonly createdMs: number;
  /** Changed last, milliseconds since the epoch. */
  readonly updatedMs: number;
  /** When it may be forgotten, milliseconds since the epoch; `undefined`: never. */
  readonly expiresMs: number | undefined;
  /** Who holds a running record, a name made by the process; `undefined` otherwise. */
  readonly holder: string | undefined;
  /** When the holder's lease ends, milliseconds since the epoch; `undefined` where nobody holds it. */
  readonly leaseMs: number | undefined;
}

/** What a listing shows: no payload and no handle. */
export type RunSummary = Omit<RunRecord, "payload" | "handle"> & {
  /** Whether a handle exists, that is: whether it can be resumed. */
  readonly resumable: boolean;
  /** Why its question cannot be read, where that is so: it is encrypted, or was changed since. */
  readonly unreadable?: string;
};

/** What a suspension consists of. */
export interface NewSuspension {
  /** The new single-use handle. */
  readonly handle: string;
  /** Where it stands. */
  readonly at: string | undefined;
  /** Why. */
  readonly reason: string;
  /** What is asked. */
  readonly ask: string | undefined;
  /** Everything needed to go on. */
  readonly payload: JsonValue;
  /** When it may be forgotten. */
  readonly expiresMs: number | undefined;
}

/** What a run begins with. */
export interface NewRun {
  /** Names the run, 32 hex digits. */
  readonly runId: string;
  /** The machine's name. */
  readonly machine: string;
  /** Everything needed to start again; what `recover` gives back until the first `settle`. */
  readonly payload: JsonValue;
  /** Who holds it. */
  readonly holder: string;
  /** How long the lease lasts, in milliseconds. */
  readonly leaseForMs: number;
}

/** What came of a claim. */
export type Claim =
  | {
    /** The caller holds the run now, and nobody else can. */
    readonly kind: "claimed";
    /** The record as it was while suspended, its handle included. */
    readonly record: RunRecord;
  }
  | {
    /**
     * `unknown`: never seen, or forgotten. `already-resumed`: the handle is spent. `expired`: it was too old.
     * `busy`: somebody holds the record at this moment and may yet put it back.
     */
    readonly kind: "unknown" | "already-resumed" | "expired" | "busy";
    /** The run that the handle belonged to, where that is still known: it can be looked at. */
    readonly runId?: string | undefined;
  };

/** What came of storing. */
export type Stored = {
  /** `stored`, `full` if the store takes no more, `lost` if the caller no longer holds the run. */
  readonly kind: "stored" | "full" | "lost";
};

/** Who acts, and for how long it may go on holding. */
export interface Holding {
  /** The holder's name, as given to `begin` or `claim`. */
  readonly holder: string;
  /** The new length of the lease, in milliseconds. */
  readonly leaseForMs: number;
}

/**
 * Keeps runs. Every method is one atomic step, whatever other callers, processes or hosts do at the same time. A
 * method rejects only where the storage itself fails; then nothing changed.
 */
export interface SuspensionStore {
  /** Whether a record outlives this process. */
  readonly durable: boolean;
  /** Begins a run under a lease. `full` where the store keeps no more: nothing was begun. */
  begin(run: NewRun): Promise<Stored>;
  /**
   * Saves a settled point of a running record and renews the lease; `payload: undefined` renews only, and does not
   * count as settled. `lost` if the caller no longer holds the run: it was taken over, and the caller must stop. A
   * lease that is over but was not taken over is simply renewed.
   */
  settle(
    runId: string,
    point: Holding & { readonly payload: JsonValue | undefined; readonly at: string | undefined },
  ): Promise<Stored>;
  /**
   * Turns a running record into a suspended one under a new handle; the handle it was claimed by is spent for good. A
   * full store still takes what it began.
   */
  suspend(runId: string, holder: string, suspension: NewSuspension): Promise<Stored>;
  /** Ends a running record and keeps its outcome as `payload` until `expiresMs`; its handle is spent for good. */
  finish(
    runId: string,
    holder: string,
    end: {
      /** How it ended: a status. */
      readonly reason: string;
      /** The outcome. */
      readonly outcome: JsonValue;
      /** When it may be forgotten. */
      readonly expiresMs: number | undefined;
    },
  ): Promise<Stored>;
  /**
   * Claims the suspension with this handle for one holder: the record runs from now on. Of any number of callers at
   * once exactly one gets it. A record past its `expiresMs` is `expired`, and never comes back.
   */
  claim(handle: string, by: Holding): Promise<Claim>;
  /**
   * Puts a claimed record back: suspended, under the handle it had, exactly as it was. With `suspension` it stands at
   * another point by now, such as the last settled state of a cancelled resume. A record that never had a handle (begun
   * and not yet suspended) is `lost` here: suspend it instead.
   */
  park(
    runId: string,
    holder: string,
    suspension?: Omit<NewSuspension, "handle">,
  ): Promise<Stored>;
  /** Looks at the suspension of a handle without claiming it; the kinds are those of `claim`. */
  peek(handle: string): Promise<Claim>;
  /** Looks at a run by its id; `undefined` if unknown or expired. */
  look(runId: string): Promise<RunRecord | undefined>;
  /**
   * Takes over running records whose lease is over, the oldest first: each becomes suspended with a new handle from
   * `newHandle` and the payload that was settled last. The handle it was claimed by is spent for good, so a holder
   * that was only slow cannot be overtaken twice; whoever has it is led to the run, and by that to the new handle.
   *
   * @returns What was recovered, at most `limit`.
   */
  recover(
    options: {
      /** Gives unguessable handles. */
      readonly newHandle: () => string;
      /** Most records to take over in this step. */
      readonly limit: number;
      /** Why, for listings. */
      readonly reason: string;
    },
  ): Promise<readonly RunRecord[]>;
  /** Lists what is kept, newest change first. */
  list(
    options?: {
      /** Only this phase. */
      readonly phase?: RunPhase;
      /** At most so many; default 100. */
      readonly limit?: number;
    },
  ): Promise<readonly RunSummary[]>;
  /** Forgets a run that nobody holds, its handle too. False if it is unknown or held. */
  forget(runId: string): Promise<boolean>;
  /** Forgets what is over. Returns how many. Stores call it themselves now and then. */
  sweep(): Promise<number>;
  /** Numbers for limits and the doctor. */
  counts(): Promise<Readonly<Record<RunPhase, number>>>;
  /** Ends all use and waits for what is under way. */
  close(): Promise<void>;
}
