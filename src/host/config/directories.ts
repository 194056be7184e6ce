/**
 * Kit's own directories.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";
import { joinPath } from "../paths.ts";

/** Where the operator's machines are for all users, on systems that have such a place. */
export const SYSTEM_MACHINES = "/usr/share/kit/machines";

/** Kit's own directories; `undefined` where the system tells no home. */
export interface Directories {
  /** Holds `kit.jsonc` and `.env`. */
  readonly config: string | undefined;
  /** Holds `machines`. */
  readonly data: string | undefined;
  /** Holds `checkpoints`. */
  readonly state: string | undefined;
}

/**
 * Finds Kit's directories: a variable of ours, of the reference, of XDG, or the usual place.
 *
 * @param ports Environment and system.
 * @returns The directories, whether or not they exist.
 */
export function kitDirectories(ports: Pick<Ports, "env" | "system">): Directories {
  return {
    config: find(ports, { own: "CONFIG", xdg: "XDG_CONFIG_HOME", usual: ".config" }),
    data: find(ports, { own: "DATA", xdg: "XDG_DATA_HOME", usual: ".local/share" }),
    state: find(ports, { own: "STATE", xdg: "XDG_STATE_HOME", usual: ".local/state" }),
  };
}

/**
 * Reads a variable under Kit's name, then under the reference's; an empty value counts as not set.
 *
 * @param env The environment.
 * @param name What follows `KIT_` and `MKLANG_`.
 * @returns The value, or `undefined`.
 */
export function kitVariable(env: Ports["env"], name: string): string | undefined {
  return env.get(`KIT_${name}`) || env.get(`MKLANG_${name}`) || undefined;
}

function find(
  { env, system }: Pick<Ports, "env" | "system">,
  names: { readonly own: string; readonly xdg: string; readonly usual: string },
): string | undefined {
  const own = kitVariable(env, `${names.own}_DIR`);
  if (own !== undefined) return own;
  const xdg = env.get(names.xdg);
  if (xdg !== undefined && xdg !== "") return joinPath(xdg, "kit");
  const roaming = system.os === "windows" ? env.get("APPDATA") : undefined;
  if (roaming !== undefined && roaming !== "") return joinPath(roaming, "kit");
  return system.home === undefined ? undefined : joinPath(system.home, names.usual, "kit");
}
