/**
 * The ports, on Deno: the only room that names `Deno`, `fetch`, timers, `Date.now`, `performance` or `Math.random`.
 *
 * @module
 */
export { createClock } from "./clock.ts";
export { rebindConsole } from "./console.ts";
export { createPorts, type CreatePortsOptions } from "./create_ports.ts";
export { createEnv, createSystemInfo } from "./environment.ts";
export { createFiles } from "./files.ts";
export { createLog, type DrainableLog, type LogOptions } from "./log.ts";
export {
  type EndSignal,
  openProcess,
  type Process,
  SIGNAL_EXIT_CODES,
  type Stdio,
} from "./process.ts";
export { createRandom } from "./random.ts";
