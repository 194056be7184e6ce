/**
 * Which files a door may name. The command line may name any; over MCP the caller is a model, and only places that the
 * operator gave are open to it.
 *
 * @module
 */
import { FileError, type Ports } from "../ports/mod.ts";
import { kitVariable } from "./config/directories.ts";
import type { HostOptions } from "./options.ts";
import { directoryOf, isAbsolutePath, isWithin, joinPath, nameOf, normalizePath } from "./paths.ts";

/** What came of a path. */
export type Confined =
  | {
    /** It may be used; links are resolved as far as it exists. */
    readonly kind: "file";
    /** Absolute. */
    readonly path: string;
  }
  | {
    /** `absent`: nothing is there, or nothing that the door may know of. `outside`: it may not be used. */
    readonly kind: "absent" | "outside";
  };

/** What finding a machine file needs. */
export interface MachinePlaces {
  /** What the host is made from. */
  readonly host: HostOptions;
  /** Places of machines. */
  readonly machineDirectories: readonly string[];
  /** Where a directory really is, links resolved; `undefined` if it is not there. */
  readonly realDirectory: (directory: string) => Promise<string | undefined>;
}

/**
 * Finds a machine file.
 *
 * @param path As a call names it.
 * @param places What the host is made from, and places of machines.
 * @returns The file, if the door may name it.
 */
export async function confineMachine(path: string, places: MachinePlaces): Promise<Confined> {
  const { ports } = places.host;
  if (hasControl(path)) return { kind: "absent" };
  const current = await currentDirectory(ports);
  const workspace = workspaceOf(places.host);
  let outside = false;
  for (const base of isAbsolutePath(path) ? [undefined] : [current, workspace]) {
    const candidate = base === undefined ? path : joinPath(base, path);
    if (!isAbsolutePath(candidate)) continue;
    const real = await realFile(normalizePath(candidate), ports);
    if (real === undefined) continue;
    if (await isOpen(real, { current, places })) return { kind: "file", path: real };
    outside = true;
  }
  return { kind: outside ? "outside" : "absent" };
}

/** Whether the door may name a file; what costs more is asked later. */
async function isOpen(
  file: string,
  { current, places }: {
    readonly current: string | undefined;
    readonly places: MachinePlaces;
  },
): Promise<boolean> {
  const { host, machineDirectories, realDirectory } = places;
  if (host.door !== "mcp") return true;
  for (const directory of [workspaceOf(host), ...machineDirectories]) {
    const real = directory === undefined ? undefined : await realDirectory(directory);
    if (real !== undefined && isWithin(file, real)) return true;
  }
  const project = await projectOf(current, host.ports);
  const real = project === undefined ? undefined : await realDirectory(project);
  return real !== undefined && isWithin(file, real);
}

function workspaceOf({ ports, workspace }: HostOptions): string | undefined {
  return workspace ?? kitVariable(ports.env, "FS_ROOT");
}

/**
 * Finds the place of a checkpoint file, existing or not.
 *
 * @param path As a call names it.
 * @param host What the host is made from.
 * @returns The place; over MCP only below `--checkpoint-dir`, and `absent` where that directory is not there.
 */
export async function confineCheckpoint(path: string, host: HostOptions): Promise<Confined> {
  const { ports, door, checkpointDirectory } = host;
  if (path === "" || hasControl(path)) return { kind: "outside" };
  if (door !== "mcp") {
    const current = await currentDirectory(ports);
    return { kind: "file", path: normalizePath(joinPath(current ?? ".", path)) };
  }
  if (checkpointDirectory === undefined) return { kind: "outside" };
  const root = await ports.files.realPath(checkpointDirectory).catch(() => undefined);
  if (root === undefined) return { kind: "absent" };
  const target = normalizePath(joinPath(root, path));
  const parent = await ports.files.realPath(directoryOf(target)).catch(() => undefined);
  if (parent === undefined || !isWithin(parent, root)) return { kind: "outside" };
  const place = joinPath(parent, nameOf(target));
  const there = await ports.files.lstat(place);
  const plain = there === undefined || there.kind === "file";
  return plain && nameOf(target) !== ".." ? { kind: "file", path: place } : { kind: "outside" };
}

async function realFile(path: string, ports: Pick<Ports, "files">): Promise<string | undefined> {
  try {
    const status = await ports.files.stat(path);
    return status?.kind === "file" ? await ports.files.realPath(path) : undefined;
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** The current directory, if it is a project: it has machines or a config. Never a root. */
async function projectOf(
  current: string | undefined,
  ports: Pick<Ports, "files" | "system">,
): Promise<string | undefined> {
  if (current === undefined || current === "/" || current === ports.system.home) return undefined;
  for (const name of ["machines", "kit.jsonc"]) {
    if ((await ports.files.stat(joinPath(current, name))) !== undefined) return current;
  }
  return nameOf(current) === "machines" ? current : undefined;
}

async function currentDirectory(ports: Pick<Ports, "files">): Promise<string | undefined> {
  return await ports.files.currentDirectory().catch(() => undefined);
}

function hasControl(path: string): boolean {
  // deno-lint-ignore no-control-regex -- control characters are what is refused
  return /[\u0000-\u001f\u007f]/.test(path);
}
