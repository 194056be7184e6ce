/**
 * Makes the host of a command from its flags.
 *
 * @module
 */
import { createHost, type Host, type HostOptions } from "../host/mod.ts";
import type { Invocation } from "./command.ts";

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
  const store = args.value("store") ?? context.ports.env.get("KIT_STORE");
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
    ...(store === undefined || store === "" || openStore === undefined
      ? {}
      : { openStore: () => openStore.call(context, store) }),
    ...options,
  });
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
