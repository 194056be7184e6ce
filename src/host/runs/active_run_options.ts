/**
 * What a run under way is made from.
 *
 * @module
 */
import type { RunOptions } from "../../machine/mod.ts";
import type { Ports } from "../../ports/mod.ts";
import type { WrapRun } from "../options.ts";
import type { Prepared } from "../prepare.ts";
import type { RunOracle } from "../run_oracle.ts";
import type { SuspensionStore } from "../store.ts";
import type { CheckpointKeeper } from "./checkpoint_keeper.ts";
import type { SavedRun } from "./saved_run.ts";

/** What a new run starts with. */
export type FreshStart = Required<Pick<RunOptions, "inputs" | "localTime">>;

/** What a run under way is made from. */
export interface ActiveRunOptions {
  /** What was prepared. */
  readonly prepared: Prepared;
  /** What would be saved now. */
  readonly saved: SavedRun;
  /** Who answers. */
  readonly oracle: RunOracle;
  /** What a new run starts with; `undefined` goes on from the saved frames. */
  readonly fresh: FreshStart | undefined;
  /** Where it is kept. */
  readonly store: SuspensionStore;
  /** The file beside the store, if there is one. */
  readonly keeper: CheckpointKeeper | undefined;
  /** The process. */
  readonly holder: string;
  /** Time and chance. */
  readonly ports: Pick<Ports, "clock" | "random" | "log">;
  /** Whether it goes on from a handle or file, so that a cancelled call puts it back. */
  readonly resumed: boolean;
  /** The handle or file it was claimed by. */
  readonly claimed: string | undefined;
  /** Sentences for the result. */
  readonly warnings: readonly string[];
  /** How the reply of a person came in. */
  readonly replyVia: string | undefined;
  /** Called around the run. */
  readonly wrap: WrapRun | undefined;
  /** When a suspension may be forgotten, in milliseconds from then on. */
  readonly suspensionTtlMs: number | undefined;
  /** How long an outcome is kept, in milliseconds. */
  readonly outcomeTtlMs: number;
}
