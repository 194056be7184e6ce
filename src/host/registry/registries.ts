/**
 * Which machines a document sees: the bundled ones, those of system and user, and for a file its project or siblings.
 *
 * @module
 */
import { loadReader } from "../../machine/load_reader.ts";
import type { Machine, Registry } from "../../machine/mod.ts";
import { createRegistry, libraryRegistry } from "../../machine/registry.ts";
import type { Ports } from "../../ports/mod.ts";
import { type Directories, SYSTEM_MACHINES } from "../config/directories.ts";
import { directoryOf, joinPath, nameOf } from "../paths.ts";
import { type FoundMachine, type MachineLayer, MachineScanner, type OwnFile } from "./scan.ts";
import { SharedWork } from "./shared_work.ts";

/** The name of the directory that a project keeps its machines in. */
const MACHINES_DIRECTORY = "machines";

/** A registry that knows where its machines are from. */
export interface LayeredRegistry extends Registry {
  /** A machine and where it was found. */
  find(name: string): FoundMachine | undefined;
  /** Names of bundled machines that machines of a project or beside a file take the place of, sorted. */
  readonly shadowed: readonly string[];
}

/** Makes registries. */
export interface Registries {
  /** What every document sees: bundled, system, user. */
  base(): Promise<LayeredRegistry>;
  /** What a file sees: the base, and its project or its siblings. */
  forFile(own: OwnFile): Promise<LayeredRegistry>;
  /** The base and the machines of a directory. */
  withDirectory(directory: string): Promise<LayeredRegistry>;
  /** Where a directory really is, links resolved; `undefined` if it is not there. */
  realDirectory(directory: string): Promise<string | undefined>;
  /** The bundled machines alone; nothing is read for them. */
  readonly bundled: Registry;
  /** Directories whose machines may be named by path: those of system and user. */
  readonly directories: readonly string[];
}

/**
 * Makes what makes registries.
 *
 * @param ports Files, time and log.
 * @param directories Kit's own directories.
 * @returns Registries; what a call gets is never older than the call, and files are read again only when they changed.
 */
export async function openRegistries(
  ports: Pick<Ports, "clock" | "files" | "log">,
  directories: Directories,
): Promise<Registries> {
  const library = await libraryRegistry();
  const scanner = new MachineScanner({ ports, loadReader });
  const layers: readonly (readonly [MachineLayer, string | undefined])[] = [
    ["system", SYSTEM_MACHINES],
    ["user", directories.data && joinPath(directories.data, MACHINES_DIRECTORY)],
  ];
  const scan = async (
    wanted: readonly (readonly [MachineLayer, string | undefined])[],
    own?: OwnFile,
  ): Promise<Map<string, FoundMachine>> => {
    const found = new Map<string, FoundMachine>();
    for (const [layer, directory] of wanted) {
      if (directory === undefined) continue;
      for (const [name, entry] of await scanner.scan(directory, layer, own)) {
        found.set(name, entry);
      }
    }
    return found;
  };
  const real = new SharedWork((directory) =>
    ports.files.realPath(directory).catch(() => undefined)
  );
  return {
    realDirectory: (directory) => real.ask(directory),
    bundled: library,
    directories: layers.flatMap(([, directory]) => directory ?? []),
    base: async () => layered(await scan(layers), library),
    forFile: async (own) =>
      layered(await scan([...layers, ...await projectLayers(own.path, ports)], own), library),
    withDirectory: async (directory) =>
      layered(await scan([...layers, ["local", directory]]), library),
  };
}

/**
 * Finds the project of a file.
 *
 * @param path The file, absolute.
 * @param ports Files.
 * @returns The project's root, or `undefined` where only siblings are seen.
 */
export async function projectRoot(
  path: string,
  ports: Pick<Ports, "files">,
): Promise<string | undefined> {
  const directory = directoryOf(path);
  if (nameOf(directory) === MACHINES_DIRECTORY) return directoryOf(directory);
  const machines = await ports.files.stat(joinPath(directory, MACHINES_DIRECTORY));
  return machines?.kind === "directory" ? directory : undefined;
}

async function projectLayers(
  path: string,
  ports: Pick<Ports, "files">,
): Promise<readonly (readonly [MachineLayer, string])[]> {
  const root = await projectRoot(path, ports);
  if (root === undefined) return [["local", directoryOf(path)]];
  return [["local", root], ["local", joinPath(root, MACHINES_DIRECTORY)]];
}

function layered(found: ReadonlyMap<string, FoundMachine>, library: Registry): LayeredRegistry {
  const machines = [...found.values()].map(({ machine }) => machine);
  const registry = createRegistry(machines, { base: library });
  const bundled = new Set(library.names());
  return {
    shadowed: [...found].flatMap(([name, { layer }]) =>
      layer === "local" && bundled.has(name) ? [name] : []
    ).sort(),
    get: (name) => registry.get(name),
    names: () => registry.names(),
    find(name): FoundMachine | undefined {
      const own = found.get(name);
      if (own !== undefined) return own;
      const machine = library.get(name);
      return machine && { machine, layer: "stdlib", path: undefined };
    },
  };
}

/**
 * Lays one machine over a registry: it always wins under its own name.
 *
 * @param machine The target.
 * @param base What it sees otherwise.
 * @returns The registry.
 */
export function withTarget(machine: Machine, base: Registry): Registry {
  return createRegistry([machine], { base });
}
