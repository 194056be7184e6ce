/**
 * Reads the machines of one directory: its own files only, by the name that each document gives itself.
 *
 * @module
 */
import type { Machine, Reader } from "../../machine/mod.ts";
import { FileError, type Ports } from "../../ports/mod.ts";
import { isWithin, joinPath } from "../paths.ts";
import { SharedWork } from "./shared_work.ts";

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

/** A file that is run or checked itself: it is no sibling of its own. */
export interface OwnFile {
  /** Absolute, links resolved. */
  readonly path: string;
  /** What its machine calls itself, as far as that can be read. */
  readonly name: string | undefined;
}

/** What a scan needs. */
export interface ScanOptions {
  /** Files, time and log. */
  readonly ports: Pick<Ports, "clock" | "files" | "log">;
  /** Loads what reads texts; called only where there is a file to read. */
  readonly loadReader: () => Promise<Reader>;
}

/** Most bytes of a machine file. */
export const MAX_MACHINE_BYTES = 4_194_304;
/** Most files of one directory that are looked at. */
const MAX_FILES = 2000;
/** Most files whose machines are kept; the one read longest ago goes first. */
const MAX_KEPT = 4000;
/** Most sentences that are known to have been told; the oldest is forgotten first. */
const MAX_TOLD = 1000;
/**
 * How long a file must have been left alone before its size and time stand for its text, in milliseconds: the coarsest
 * clock of a file system ticks every 2 s, and two edits within one tick leave the same time.
 */
const SETTLED_MS = 2000;
const MACHINE_FILE = /\.mkl?$/;

interface KeptFile {
  readonly stamp: string;
  readonly machine: Machine | undefined;
}

/** A file of a directory that was looked at; read once for all who share the look. */
interface SeenFile {
  readonly path: string;
  read(): Promise<Machine | undefined>;
}

/**
 * Reads directories. A look at one is shared by the calls that asked before it began; what was read is kept as long as
 * a file's size and time stay the same.
 */
export class MachineScanner {
  readonly #options: ScanOptions;
  readonly #kept = new Map<string, KeptFile>();
  readonly #told = new Map<string, string>();
  readonly #looks = new SharedWork<readonly SeenFile[]>((directory) => this.#look(directory));

  /** Makes a scanner. */
  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /**
   * Reads a directory.
   *
   * @param directory The directory; a missing one holds nothing.
   * @param layer What its machines count as.
   * @param own The file that is run or checked, if it may be there: it is not read here.
   * @returns Machines by name; broken files and links that leave the directory are logged and left out, once each.
   */
  async scan(
    directory: string,
    layer: MachineLayer,
    own?: OwnFile,
  ): Promise<ReadonlyMap<string, FoundMachine>> {
    const found = new Map<string, FoundMachine>();
    const paths = new Map<string, string>();
    for (const { path, read } of await this.#looks.ask(directory)) {
      const machine = path === own?.path ? undefined : await read();
      const name = path === own?.path ? own.name : machine?.name;
      if (name === undefined) continue;
      const before = paths.get(name);
      if (before !== undefined) {
        this.#tell(
          `machine "${name}" is in "${before}" and in "${path}": a call finds the latter, ` +
            "unless the former is what runs; give one of them another name",
        );
      }
      paths.set(name, path);
      if (machine !== undefined) found.set(name, { machine, layer, path });
    }
    return found;
  }

  async #look(directory: string): Promise<readonly SeenFile[]> {
    const paths = await this.#machineFiles(directory);
    return paths.map((path) => {
      let reading: Promise<Machine | undefined> | undefined;
      return { path, read: () => reading ??= this.#read(path) };
    });
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
        else this.#tell(`"${path}" is a link that leaves its directory; it is left out`);
      }
      return paths;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const absent = error.failure === "not-found" || error.failure === "not-a-directory";
      if (!absent) this.#tell(`Cannot list "${directory}": ${error.failure}`);
      return [];
    }
  }

  async #read(path: string): Promise<Machine | undefined> {
    const { clock, files } = this.#options.ports;
    try {
      const status = await files.stat(path);
      const modified = status?.modifiedMs;
      const stamp = `${status?.size}:${modified}`;
      const kept = this.#kept.get(path);
      if (kept?.stamp === stamp) return kept.machine;
      const settled = modified !== undefined && clock.now() - modified > SETTLED_MS;
      const bytes = await files.read(path, { maxBytes: MAX_MACHINE_BYTES + 1 });
      const machine = bytes.length > MAX_MACHINE_BYTES ? undefined : await this.#parse(bytes);
      if (machine === undefined) this.#tell(`"${path}" holds no machine that can be read`, stamp);
      if (settled) this.#keep(path, { stamp, machine });
      return machine;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#tell(`Cannot read "${path}": ${error.failure}`);
      return undefined;
    }
  }

  #keep(path: string, file: KeptFile): void {
    this.#kept.delete(path);
    this.#kept.set(path, file);
    dropOldest(this.#kept, MAX_KEPT);
  }

  async #parse(bytes: Uint8Array<ArrayBuffer>): Promise<Machine | undefined> {
    const text = new TextDecoder().decode(bytes);
    const reader = await this.#options.loadReader();
    return reader.parseMachine(text, { grammar: "lenient" }).machine;
  }

  /** Logs a warning once; again only if it is of another state of the file. */
  #tell(message: string, stamp = ""): void {
    if (this.#told.get(message) === stamp) return;
    this.#told.set(message, stamp);
    dropOldest(this.#told, MAX_TOLD);
    this.#options.ports.log.write("warning", message);
  }
}

/** Keeps a map that grows by one at a time below its bound. */
function dropOldest<Value>(map: Map<string, Value>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function sortBySuffix<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((left, right) => {
    const suffix = Number(left.name.endsWith(".mkl")) - Number(right.name.endsWith(".mkl"));
    return suffix !== 0 ? suffix : left.name < right.name ? -1 : 1;
  });
}
