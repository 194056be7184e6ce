/**
 * The ports that are used where a caller of the library hands in none.
 *
 * @module
 */
import type { Ports } from "./ports.ts";

let ambient: Ports | undefined;

/**
 * Sets the ports that {@linkcode ambientPorts} gives. `mod.ts` and `mcp.ts` do this once with those of `platform`.
 *
 * @param ports The ports.
 */
export function setAmbientPorts(ports: Ports): void {
  ambient = ports;
}

/**
 * The ports to use where none were handed in.
 *
 * @returns The ports set last.
 * @throws {Error} If none were set: a room was imported directly instead of through `mod.ts`.
 */
export function ambientPorts(): Ports {
  if (ambient === undefined) {
    throw new Error(
      'No ports are set: import from "jsr:@kit/mcp", or hand in the option "ports" (clock, random, fetch)',
    );
  }
  return ambient;
}
