/**
 * A directory that nothing leaves: names are judged as text first, then links are resolved, and what was resolved is
 * looked at again after the work, so that a link that was swapped in between is noticed.
 *
 * @module
 */
import { FileError, type Ports } from "../ports/mod.ts";
import { directoryOf, isWithin, joinPath, nameOf } from "./paths.ts";

/** Most characters of a path. */
const MAX_PATH_CHARS = 1024;
/** Most names in a path. */
const MAX_PATH_DEPTH = 32;
/** Names that Windows gives to devices, whatever their suffix. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;

/** Why a path was refused; the message is for the machine and names no place outside. */
export class WorkspaceError extends Error {
  /** The class. */
  override readonly name = "WorkspaceError";
}

/** A path that was found to be inside. */
export interface ConfinedPath {
  /** As it was asked for, with `/` between the names; `"."` for the root. */
  readonly shown: string;
  /** Absolute, links resolved: use this one. */
  readonly real: string;
}

/** A directory that nothing leaves. */
export interface Workspace {
  /** The directory, absolute, links resolved. */
  readonly root: string;
  /**
   * Resolves a path that should exist.
   *
   * @throws {WorkspaceError} If its name is refused or it leads outside.
   * @throws {FileError} If it does not exist.
   */
  resolve(path: string): Promise<ConfinedPath>;
  /**
   * Resolves a path that may not exist yet, and makes its parent directories.
   *
   * @throws {WorkspaceError} If its name is refused or it leads outside.
   */
  resolveNew(path: string): Promise<ConfinedPath>;
  /**
   * Looks again whether a resolved path is still what it was.
   *
   * @throws {WorkspaceError} If a link was put in its way.
   */
  confirm(path: ConfinedPath): Promise<void>;
}

/**
 * Opens a workspace.
 *
 * @param root The directory; must exist.
 * @param ports Files and system.
 * @returns The workspace.
 * @throws {FileError} If the directory does not exist.
 */
export async function openWorkspace(
  root: string,
  ports: Pick<Ports, "files" | "system">,
): Promise<Workspace> {
  const { files } = ports;
  const real = await files.realPath(root);
  const status = await files.stat(real);
  if (status?.kind !== "directory") throw new FileError("not-a-directory", root);
  const windows = ports.system.os === "windows";
  const check = (shown: string, path: string): ConfinedPath => {
    if (!isWithin(path, real) || hasHiddenName(path.slice(real.length))) throw escapes(shown);
    return { shown, real: path };
  };
  return {
    root: real,
    async resolve(path): Promise<ConfinedPath> {
      const shown = confinedName(path, { windows });
      return check(shown, await files.realPath(joinPath(real, shown)));
    },
    async resolveNew(path): Promise<ConfinedPath> {
      const shown = confinedName(path, { windows });
      if (shown === ".") throw new WorkspaceError("a file name is missing");
      const parent = await resolveParent(directoryOf(shown), { root: real, files });
      if (!isWithin(parent, real) || hasHiddenName(parent.slice(real.length))) throw escapes(shown);
      const target = joinPath(parent, nameOf(shown));
      const there = await files.lstat(target);
      return check(shown, there?.kind === "link" ? await files.realPath(target) : target);
    },
    async confirm({ shown, real: path }): Promise<void> {
      const now = await files.realPath(path).catch(() => undefined);
      if (now !== path) throw new WorkspaceError(`path "${shown}" changed while it was used`);
    },
  };
}

/**
 * Judges a path by its text alone.
 *
 * @param path The path as a machine wrote it.
 * @param options `windows`: whether names that Windows reads differently are refused too.
 * @returns The path with `/` between its names; `"."` for an empty one.
 * @throws {WorkspaceError} If it is absolute, goes up, has a hidden name, or is odd.
 */
export function confinedName(path: string, options: { readonly windows: boolean }): string {
  const text = path.replaceAll("\\", "/");
  if (text.length > MAX_PATH_CHARS) {
    throw new WorkspaceError(`path is over ${MAX_PATH_CHARS} characters`);
  }
  // deno-lint-ignore no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new WorkspaceError("path has a control character");
  if (text.startsWith("/") || /^[A-Za-z]:/.test(text)) {
    throw new WorkspaceError("path is absolute: write it relative to the workspace");
  }
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length > MAX_PATH_DEPTH) {
    throw new WorkspaceError(`path has over ${MAX_PATH_DEPTH} names`);
  }
  for (const name of names) {
    if (name === "..") throw new WorkspaceError('path escapes the workspace: ".." is refused');
    if (name.startsWith(".")) throw new WorkspaceError("path has a name that starts with a dot");
    if (options.windows && (DEVICE_NAME.test(name) || /[:*?"<>|]|[. ]$/.test(name))) {
      throw new WorkspaceError("path has a name that this system reads differently");
    }
  }
  return names.length === 0 ? "." : names.join("/");
}

/** Makes missing parents one by one, each only below a directory whose links were resolved. */
async function resolveParent(
  directory: string,
  { root, files }: { readonly root: string; readonly files: Ports["files"] },
): Promise<string> {
  let parent = root;
  for (const name of directory.split("/").filter((part) => part !== "" && part !== ".")) {
    const next = joinPath(parent, name);
    if ((await files.lstat(next)) === undefined) await files.makeDirectory(next, { mode: 0o700 });
    parent = await files.realPath(next);
    if (!isWithin(parent, root)) throw escapes(directory);
  }
  return parent;
}

function hasHiddenName(path: string): boolean {
  return path.split(/[\\/]/).some((name) => name.startsWith("."));
}

function escapes(shown: string): WorkspaceError {
  return new WorkspaceError(`path "${shown}" escapes the workspace`);
}
