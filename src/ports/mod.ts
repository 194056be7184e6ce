/**
 * What the core asks of the outside: Clock, Random, Fetch, Files, Env, Log.
 *
 * @module
 */
export { ambientPorts, setAmbientPorts } from "./ambient.ts";
export type { Clock, Deadline, LocalTime } from "./clock.ts";
export {
  type DirectoryEntry,
  type Env,
  type Fetch,
  FileError,
  type FileFailure,
  type Files,
  type FileStatus,
  type Log,
  type LogLevel,
  type Ports,
  type Random,
  type SystemInfo,
} from "./ports.ts";
