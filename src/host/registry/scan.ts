/**
 * Reads the machines of one directory: its own files only, by the name that each document gives itself.
 *
 * @module
 */
import type { Machine, Reader } from "../../machine/mod.ts";
import { FileError, type Ports } from "../../ports/mod.ts";
import { isWithin, joinPath } from "../paths.ts";

/** Where a machine was found, weakest first; the reports spell it so. */
export type MachineLayer = "stdlib" | "system" | "user" | "local";

/** A machine and where it was found. */
export interface FoundMachine {
  /** The machine. */
  readonly machine: Machine;
  /** The layer. */
  readonly layer: MachineLayer;
  /** The file; `undefined` for the bundled ones. */
  readonly path: string | undefined;
}

/** What a scan needs. */
export interface ScanOptions {
  /** Files and log. */
  readonly ports: Pick<Ports, "files" | "log">;
  /** Loads what reads texts; called only where there is a file to read. */
  readonly loadReader: () => Promise<Reader>;
}

/** Most bytes of a machine file. */
export const MAX_MACHINE_BYTES = 4_194_304;
/** Most files of one directory that are looked at. */
const MAX_FILES = 2000;
const MACHINE_FILE = /\.mkl?$/;

interface CachedFile {
  readonly stamp: string;
  readonly machine: Machine | undefined;
}

/** Reads directories, and keeps what it read as long as a file's size and time stay the same. */
export class MachineScanner {
  readonly #options: ScanOptions;
  readonly #cache = new Map<string, CachedFile>();

  /** Makes a scanner. */
  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /**
   * Reads a directory.
   *
   * @param directory The directory; a missing one holds nothing.
   * @param layer What its machines count as.
   * @returns Machines by name; broken files and links that leave the directory are logged and left out.
   */
  async scan(directory: string, layer: MachineLayer): Promise<ReadonlyMap<string, FoundMachine>> {
    const found = new Map<string, FoundMachine>();
    for (const path of await this.#machineFiles(directory)) {
      const machine = await this.#read(path);
      if (machine === undefined) continue;
      const before = found.get(machine.name);
      if (before !== undefined) {
        this.#warn(
          `machine "${machine.name}" is in "${before.path}" and "${path}"; the latter wins`,
        );
      }
      found.set(machine.name, { machine, layer, path });
    }
    return found;
  }

  /** `.mk` before `.mkl`, so that of equal names `.mkl` wins; within each by name. */
  async #machineFiles(directory: string): Promise<readonly string[]> {
    const { files } = this.#options.ports;
    try {
      const root = await files.realPath(directory);
      const names = (await files.list(root)).filter(({ name, kind }) =>
        MACHINE_FILE.test(name) && (kind === "file" || kind === "link")
      );
      const paths: string[] = [];
      for (const { name, kind } of sortBySuffix(names).slice(0, MAX_FILES)) {
        const path = joinPath(root, name);
        const inside = kind === "file" ||
          isWithin(await files.realPath(path).catch(() => "/"), root);
        if (inside) paths.push(path);
        else this.#warn(`"${path}" is a link that leaves its directory; it is left out`);
      }
      return paths;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const absent = error.failure === "not-found" || error.failure === "not-a-directory";
      if (!absent) this.#warn(`Cannot list "${directory}": ${error.failure}`);
      return [];
    }
  }

  async #read(path: string): Promise<Machine | undefined> {
    const { files } = this.#options.ports;
    try {
      const status = await files.stat(path);
      const stamp = `${status?.size}:${status?.modifiedMs}`;
      const cached = this.#cache.get(path);
      if (cached?.stamp === stamp && status?.modifiedMs !== undefined) return cached.machine;
      const bytes = await files.read(path, { maxBytes: MAX_MACHINE_BYTES + 1 });
      const machine = bytes.length > MAX_MACHINE_BYTES ? undefined : await this.#parse(bytes);
      if (machine === undefined) this.#warn(`"${path}" holds no machine that can be read`);
      this.#cache.set(path, { stamp, machine });
      return machine;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#warn(`Cannot read "${path}": ${error.failure}`);
      return undefined;
    }
  }

  async #parse(bytes: Uint8Array<ArrayBuffer>): Promise<Machine | undefined> {
    const text = new TextDecoder().decode(bytes);
    const reader = await this.#options.loadReader();
    return reader.parseMachine(text, { grammar: "lenient" }).machine;
  }

  #warn(message: string): void {
    this.#options.ports.log.write("warning", message);
  }
}

function sortBySuffix<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((left, right) => {
    const suffix = Number(left.name.endsWith(".mkl")) - Number(right.name.endsWith(".mkl"));
    return suffix !== 0 ? suffix : left.name < right.name ? -1 : 1;
  });
}
