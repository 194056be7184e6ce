/**
 * Makes the host of a command from its flags.
 *
 * @module
 */
import { createHost, type Host, type HostOptions } from "../host/mod.ts";
import { UsageError } from "./arguments.ts";
import type { Invocation } from "./command.ts";
import { storePlace } from "./store_place.ts";

/**
 * Makes a host of the `cli` door. Whoever opens it closes it.
 *
 * @param invocation The command's flags and surroundings.
 * @param options What no flag says.
 * @returns A host that has read nothing yet.
 */
export function openHost(
  { args, context }: Invocation,
  options: Partial<HostOptions> = {},
): Host {
  const place = storePlace({ args, context });
  const { openStore } = context;
  return createHost({
    ports: context.ports,
    door: "cli",
    version: context.version,
    ...optional("configPath", args.value("config")),
    ...optional("provider", args.value("provider")),
    ...optional("scriptPath", args.value("script")),
    ...optional("workspace", args.value("workspace")),
    ...(args.has("allow-write") ? { allowWrite: true } : {}),
    ...(place === undefined || openStore === undefined
      ? {}
      : { openStore: () => openStore.call(context, place.location) }),
    ...options,
  });
}

/**
 * Checks that a flag names a directory, if it was given.
 *
 * @param invocation The command's flags and surroundings.
 * @param flag The flag, without dashes.
 * @throws {UsageError} If there is no such directory.
 */
export async function needDirectory({ args, context }: Invocation, flag: string): Promise<void> {
  const path = args.value(flag);
  if (path === undefined) return;
  if ((await context.ports.files.stat(path))?.kind === "directory") return;
  throw new UsageError(`--${flag} needs a directory, and "${path}" is none`);
}

/**
 * A member that is only there if it has a value.
 *
 * @param key Its name.
 * @param value Its value, or `undefined`.
 * @returns An object to spread.
 */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  const found: Partial<Record<Key, Value>> = {};
  if (value !== undefined) found[key] = value;
  return found;
}
