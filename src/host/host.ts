/**
 * One host for every door: what a tool or a command does, it asks of here.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { Ledger, SpanContext, TraceSink } from "../llm/mod.ts";
import type { Diagnostic, Machine, MachineEvent, Registry } from "../machine/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { ConfigReport, ModelsOutcome } from "./config/outcome.ts";
import type { ModelSet } from "./models.ts";
import type { Door, HostLimits, HostOptions } from "./options.ts";
import type { Emitted, ReplyVia } from "./result.ts";
import type { RunSummary, SuspensionStore } from "./store.ts";

/** A machine, as a call names it: exactly one of the two. */
export interface MachineReference {
  /** The document itself. */
  readonly source?: string;
  /** A file, or a name from the registry. */
  readonly path?: string;
}

/** What of a run can be asked for. Names and meaning follow the tool `run`. */
export interface RunRequest extends MachineReference {
  /** Values by dotted path, laid over the machine's own context. */
  readonly inputs?: JsonObject;
  /** Most tokens of the run and its sub-runs, above 0. */
  readonly costBudget?: number;
  /** A configured provider. */
  readonly provider?: string;
  /** Whether a fired escalate gate pauses for a person; default false. */
  readonly hitl?: boolean;
  /** Whether an unknown language version is an error; default false. */
  readonly strict?: boolean;
  /** A file to keep a suspension in. */
  readonly checkpointPath?: string;
  /** What a cut-off answer does; default `report`. */
  readonly onTruncate?: string;
  /** What an effect under untrusted control flow does; default `report`. */
  readonly onUntrustedFlow?: string;
  /** Whether budgets suspend instead of halting; default true, at the command line only with a checkpoint file. */
  readonly suspendable?: boolean;
  /** How long to wait before answering `running`, in seconds; 0: no limit. Default: the host's; none at the command line. */
  readonly waitSeconds?: number;
  /** How much the object says; default `summary` over MCP, `full` elsewhere. */
  readonly detail?: "summary" | "full";
}

/** What of a resume can be asked for. Names and meaning follow the tool `resume`. */
export interface ResumeRequest {
  /** A handle or a checkpoint file; or {@linkcode ResumeRequest.run}. */
  readonly checkpoint?: string;
  /** A run handle: look, wait, or cancel. */
  readonly run?: string;
  /** Whether to stop the run. */
  readonly cancel?: boolean;
  /** Values by dotted path, injected where the run stands. */
  readonly inputs?: JsonObject;
  /** Most tokens in total, those spent before included. */
  readonly costBudget?: number;
  /** A file to keep a further suspension in. */
  readonly checkpointPath?: string;
  /** Whether a changed machine is accepted; default false. */
  readonly force?: boolean;
  /** As for a run; absent: what the run began with. */
  readonly onTruncate?: string;
  /** As for a run; absent: what the run began with. */
  readonly onUntrustedFlow?: string;
  /** Command line: pause for a person on escalation, beside what the file says. */
  readonly hitl?: boolean;
  /** Command line: the machine, where the recorded one has moved. */
  readonly machine?: string;
  /** Command line: a configured provider. */
  readonly provider?: string;
  /** As for a run. */
  readonly waitSeconds?: number;
  /** As for a run. */
  readonly detail?: "summary" | "full";
  /** How the reply came in; default by door: `cli`, else `argument`. */
  readonly replyVia?: ReplyVia;
}

/** What of a check can be asked for. */
export interface CheckRequest extends MachineReference {
  /** Whether an unknown language version is an error; default false. */
  readonly strict?: boolean;
}

/** One report of how far a call has come. */
export interface CallProgress {
  /** Rises with every report. */
  readonly progress: number;
  /** What it will reach, if known. */
  readonly total?: number;
  /** For people. */
  readonly message: string;
}

/** Something wrong with a request, found where it came in. */
export interface RequestProblem {
  /** The argument, as the tool names it; `undefined` where the problem is one of all of them. */
  readonly argument: string | undefined;
  /** One sentence. */
  readonly message: string;
}

/** What a call brings beside its request. */
export interface CallOptions {
  /** What is known to be wrong: the call is refused, with what else is found. */
  readonly problems?: readonly RequestProblem[];
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** Told after every sample, branch and state, and at least every 10 s. */
  readonly onProgress?: (report: CallProgress) => void;
  /** Told every event of the run. */
  readonly onEvent?: (event: MachineEvent) => void;
  /** Where model calls of the run report to. */
  readonly trace?: TraceSink;
  /** The span that they are below. */
  readonly span?: SpanContext;
  /** How next-step texts name a tool; absent: they name commands. */
  readonly toolName?: (name: "run" | "resume" | "check" | "list_machines") => string;
}

/** What a check gives beside its object. */
export interface CheckEmitted extends Emitted {
  /** Every finding with its position, those of lint too. */
  readonly diagnostics: readonly Diagnostic[];
  /** The document itself, for excerpts; `""` if it could not be read. */
  readonly source: string;
  /** The machine, if it could be read. */
  readonly machine?: Machine;
  /** What it sees. */
  readonly registry?: Registry;
}

/** What the doors ask of. */
export interface Host {
  /** What it was made from. */
  readonly options: HostOptions;
  /** The outside. */
  readonly ports: Ports;
  /** The door it serves. */
  readonly door: Door;
  /** Its bounds. */
  readonly limits: HostLimits;
  /** The models of a configured provider; a problem is a value that says what is missing and how to set it. */
  models(provider?: string): Promise<ModelsOutcome>;
  /** The account of the whole process; every call's ledger is below it. */
  ledger(): Promise<Ledger>;
  /** Prepares and runs a machine. */
  run(request: RunRequest, call?: CallOptions): Promise<Emitted>;
  /** Resumes, looks at or cancels a run. */
  resume(request: ResumeRequest, call?: CallOptions): Promise<Emitted>;
  /** Checks a machine without running it. */
  check(request: CheckRequest, call?: CallOptions): Promise<CheckEmitted>;
  /** Lists the machines that have names; with `directory` those of a directory too. */
  listMachines(options?: { readonly directory?: string }, call?: CallOptions): Promise<Emitted>;
  /** Describes one machine. */
  describeMachine(name: string, call?: CallOptions): Promise<Emitted>;
  /** What configuration says, for the doctor. Spends nothing. */
  configuration(): Promise<ConfigReport>;
  /** Lists the runs that the store keeps. */
  runs(): Promise<readonly RunSummary[]>;
  /** The store, opened now if it was not. */
  store(): Promise<SuspensionStore>;
  /** Stops what runs, keeps what a durable store can keep, and closes it. */
  close(): Promise<void>;
}

/** Models for a call that was given them directly, for tests. */
export type { ModelSet };
