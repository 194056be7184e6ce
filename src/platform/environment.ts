/**
 * Environment variables and facts about the system.
 *
 * @module
 */
import type { Env, SystemInfo } from "../ports/mod.ts";

/**
 * Makes the port to the environment variables.
 *
 * @returns A port that answers `undefined` where a variable is not set, may not be read, or has an impossible name.
 */
export function createEnv(): Env {
  return { get: readVariable };
}

/**
 * Makes the port to facts about the system.
 *
 * @returns The operating system, and the home directory as the environment names it at the moment of asking.
 */
export function createSystemInfo(): SystemInfo {
  return {
    os: Deno.build.os,
    get home(): string | undefined {
      const home = readVariable(Deno.build.os === "windows" ? "USERPROFILE" : "HOME");
      return home === "" ? undefined : home;
    },
  };
}

function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}
