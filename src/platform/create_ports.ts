/**
 * All ports in one hand, on Deno.
 *
 * @module
 */
import type { Log, Ports } from "../ports/mod.ts";
import { createClock } from "./clock.ts";
import { createEnv, createSystemInfo } from "./environment.ts";
import { createFiles } from "./files.ts";
import { createLog } from "./log.ts";
import { createRandom } from "./random.ts";

/** What may be put in place of the ordinary ports. */
export interface CreatePortsOptions {
  /** The log; by default one on stderr that drops lines which nobody reads. */
  readonly log?: Log;
}

/**
 * Makes the ports of this process. Nothing is opened, read or asked before a port is used.
 *
 * @param options What to use instead of the ordinary ports.
 * @returns Clock, chance, network, files, environment, log and system.
 */
export function createPorts(options: CreatePortsOptions = {}): Ports {
  return {
    clock: createClock(),
    random: createRandom(),
    fetch: (input, init) => fetch(input, init),
    files: createFiles(),
    env: createEnv(),
    log: options.log ?? createLog({ write: (bytes) => Deno.stderr.write(bytes) }),
    system: createSystemInfo(),
  };
}
