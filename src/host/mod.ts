/**
 * Configuration, machine registry, host tools and hooks; prepares a run and gives its result. Importing this room
 * reads nothing and loads little: the heavy parts come with the first call that needs them.
 *
 * @module
 */
export { createHost } from "./create_host.ts";
export type {
  CallOptions,
  CallProgress,
  CheckEmitted,
  CheckRequest,
  Host,
  MachineReference,
  RequestProblem,
  ResumeRequest,
  RunRequest,
} from "./host.ts";
export type { Door, HostLimits, HostOptions, WrapRun } from "./options.ts";
export type { ModelSet } from "./models.ts";
export type {
  BackendReport,
  ConfigLayer,
  ConfigProblem,
  ConfigReport,
  ModelsOutcome,
  ProviderReport,
  SchemaReport,
} from "./config/outcome.ts";
export type { Emitted, ErrorSlug, FailureKind, ReplyVia, RunObject, RunUsage } from "./result.ts";
export type {
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
export { BusyStoreError, UnreadableRecordError } from "./store.ts";
