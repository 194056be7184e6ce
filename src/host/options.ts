/**
 * What a host is made from. Nothing here is read or opened before a call needs it.
 *
 * @module
 */
import type { LlmProvider } from "../llm/mod.ts";
import type { Frame, Machine, Oracle, RunOptions, RunResult } from "../machine/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { ModelSet } from "./models.ts";
import type { SuspensionStore } from "./store.ts";

/** Which door a call came through. */
export type Door = "mcp" | "cli" | "library";

/** Bounds that hold for a whole process. */
export interface HostLimits {
  /** Runs under way at once, those that nobody waits for included; default 64. */
  readonly maxRuns: number;
  /** Running and suspended runs that the memory store keeps; default 1,000. */
  readonly maxSuspended: number;
  /** Finished outcomes kept for a look; default 256, the oldest that were seen go first. */
  readonly maxOutcomes: number;
  /** How long an outcome is kept, in milliseconds; default one hour. */
  readonly outcomeTtlMs: number;
  /** How long a suspension is kept, in milliseconds; `undefined` (default): as long as the process lives. */
  readonly suspensionTtlMs: number | undefined;
  /** How long `run` and `resume` wait before they answer `running`, in seconds; 0: no limit. Default 50. */
  readonly maxWaitSeconds: number;
  /** Most tokens of one run; `undefined` (default): none but the call's own `cost_budget`. */
  readonly maxRunTokens: number | undefined;
  /** Most tokens of one call of `consensus` or `react_loop`; `undefined` (default): no limit but that of each answer. */
  readonly maxCallTokens: number | undefined;
  /** Most tokens of all calls of this process; `undefined` (default): no limit. */
  readonly maxProcessTokens: number | undefined;
  /** Most requests to models of all calls of this process; `undefined` (default): no limit. */
  readonly maxProcessCalls: number | undefined;
  /** How long one call of `consensus` or `react_loop` may take, in milliseconds; default 120,000. */
  readonly callTimeoutMs: number;
  /** Most characters of a machine given inline; default 1,048,576. */
  readonly maxSourceChars: number;
  /**
   * Most bytes of a whole result as JSON in UTF-8; longer ones keep the essentials and say so; default 1,048,576. Over
   * MCP a result stands in its line twice, once as a text, and clients take lines of 4 MiB.
   */
  readonly maxResultBytes: number;
}

/** Changes the options of a run, and is told how it ended. */
export type WrapRun = (
  machine: Machine,
  options: RunOptions,
  start: {
    /** Where a resumed run goes on. */
    readonly frames?: readonly Frame[];
  },
) => {
  /** The options to run with. */
  readonly options: RunOptions;
  /** Told the result before it is given on. */
  ended(result: RunResult): void | Promise<void>;
};

/** What a host is made from. */
export interface HostOptions {
  /** The outside. */
  readonly ports: Ports;
  /** Which door the host serves; decides between handles and files, and whether a project's config counts. */
  readonly door: Door;
  /** The version that checkpoint files name; default `"0"`. */
  readonly version?: string;
  /** The config file (`--config`). */
  readonly configPath?: string;
  /** The configured provider to use (`--provider`); `scripted` for the one built in. */
  readonly provider?: string;
  /** A scenario file that the scripted provider plays (`--script`). */
  readonly scriptPath?: string;
  /** The directory that file tools work in (`--workspace`). */
  readonly workspace?: string;
  /** Whether file tools may write (`--allow-write`); absent: what environment and config say. */
  readonly allowWrite?: boolean;
  /** The only directory for checkpoint files of the `mcp` door (`--checkpoint-dir`). */
  readonly checkpointDirectory?: string;
  /** Where suspended runs are kept; default: in this process. Opened on first need. */
  readonly openStore?: () => Promise<SuspensionStore>;
  /** Models to use instead of what configuration says; for tests and embedders. */
  readonly models?: ModelSet;
  /** Wraps every provider that is made, for recording and for tests. */
  readonly wrapProvider?: (provider: LlmProvider) => LlmProvider;
  /** Wraps the oracle of every run, for recording and for tests. */
  readonly wrapOracle?: (oracle: Oracle) => Oracle;
  /** Called around every run, for recording: changes its options, and is told how it ended. */
  readonly wrapRun?: WrapRun;
  /** Bounds; the defaults are in {@linkcode HostLimits}. */
  readonly limits?: Partial<HostLimits>;
}
