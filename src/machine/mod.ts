/**
 * The machine language: read, check, run; trace, frames and checkpoints.
 *
 * @module
 */
export type * from "./document.ts";
export type {
  Diagnosis,
  Frame,
  MachineEvent,
  RunResult,
  StepPolicy,
  TokenCount,
  TraceStep,
} from "./trace.ts";
export { resultObject } from "./trace.ts";
export type {
  EffectIntent,
  FanOutWatch,
  Hook,
  HookSource,
  HostTool,
  RunOptions,
  SettledPoint,
  ToolCallOptions,
  ToolSource,
  WatchedRunOptions,
} from "./options.ts";
export type {
  JudgeRequest,
  Oracle,
  Origin,
  Produced,
  ProduceRequest,
  Tokens,
  Verdict,
} from "./oracle.ts";
export { RefusalError } from "./oracle.ts";
export { loadReader, parseMachine, type Reader } from "./load_reader.ts";
export { machineFromValue, type ReadOptions, type ReadResult } from "./read.ts";
export type { YamlResult } from "./reader.ts";
export { isEffectful, isReadOnlyTool, type ToolEffect } from "./effects.ts";
export { pathText } from "./path_text.ts";
export { checkMachine, type CheckOptions, checkReferences } from "./check.ts";
export { createRegistry, libraryRegistry, type RegistryOptions } from "./registry.ts";
export { lintMachine, type LintOptions } from "./lint.ts";
export { fingerprintMachine } from "./fingerprint.ts";
export { MACHINE_SCHEMA_DIALECT, machineSchema } from "./schema.ts";
export { resumeMachine, runMachine, startFrames } from "./run.ts";
export { distrustFrames, injectInputs } from "./frames.ts";
export { createModelOracle, type ModelOracleOptions } from "./model_oracle.ts";
export { createScriptedOracle, type Script } from "./scripted_oracle.ts";
export { resolveHook } from "./hooks.ts";
export { placeholderPaths } from "./interpolate.ts";
export { clip, countChars, firstChars, formatValue, jsonText } from "./format.ts";
export { type EstimateOptions, estimateRun, type RunEstimate } from "./estimate.ts";
export { type Examination, examineMachine } from "./examine.ts";
export { liveLint, type LiveLintOptions, type LiveLintResult } from "./live_lint.ts";
export {
  type Checkpoint,
  type CheckpointProblem,
  decodeCheckpoint,
  decodeFrames,
  encodeCheckpoint,
} from "./checkpoint.ts";
export {
  listScenarios,
  runScenario,
  type ScenarioOptions,
  type ScenarioResult,
} from "./scenario.ts";
export { readCase, runCase } from "./cases.ts";
export {
  type Coverage,
  createCoverage,
  type MachineCoverage,
  type MissedGate,
} from "./coverage.ts";
export { createRecorder, type Recorder, scenarioFromRecording } from "./recorder.ts";
export type { HookCallOptions } from "./options.ts";
export { byCodePoint } from "./level.ts";
