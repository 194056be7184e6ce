/**
 * Machines by name, as `call:` sees them.
 *
 * @module
 */
import { compareCodePoints } from "./compare.ts";
import type { Machine, Registry } from "./document.ts";

/** How a registry is made. */
export interface RegistryOptions {
  /** What answers where no machine of the list has the name, such as the bundled library. */
  readonly base?: Registry;
}

/**
 * Makes a registry of machines that were read.
 *
 * @param machines The machines; of two with the same name the later one wins, and over the base every one of them.
 * @param options The base.
 * @returns The registry.
 */
export function createRegistry(
  machines: Iterable<Machine>,
  options: RegistryOptions = {},
): Registry {
  const own = new Map<string, Machine>();
  for (const machine of machines) own.set(machine.name, machine);
  const { base } = options;
  const names = [...new Set([...own.keys(), ...base?.names() ?? []])].sort(compareCodePoints);
  return {
    get: (name) => own.get(name) ?? base?.get(name),
    names: () => names,
  };
}

/**
 * Gives the standard machines. They are loaded now, without any YAML; each one is made when it is first asked for.
 *
 * @returns The same registry every time.
 */
export async function libraryRegistry(): Promise<Registry> {
  const { library } = await import("./library.ts");
  return library;
}
