/**
 * Files on Deno.
 *
 * @module
 */
import {
  type DirectoryEntry,
  FileError,
  type FileFailure,
  type Files,
  type FileStatus,
} from "../ports/mod.ts";

/** How many bytes are asked of the system at once. */
const READ_SIZE = 65_536;
/** Permission bits of new files: for the owner alone. */
const PRIVATE_FILE = 0o600;
/** Bytes of chance in the name of a temporary file. */
const TEMPORARY_NAME_BYTES = 6;

type WriteOptions = { readonly mode?: number; readonly exclusive?: boolean };

/**
 * Makes the port to the file system.
 *
 * @returns A port whose every method rejects with {@linkcode FileError} and nothing else.
 */
export function createFiles(): Files {
  return {
    read: (path, options = {}) =>
      failing(path, () => readBytes(path, options.maxBytes ?? Infinity)),
    readText: async (path) =>
      new TextDecoder().decode(await failing(path, () => readBytes(path, Infinity))),
    writeAtomic: (path, content, options = {}) =>
      failing(path, () => writeAtomic(path, content, options)),
    remove: (path) => failing(path, () => removeIfThere(path)),
    makeDirectory: (path, options = {}) =>
      failing(path, () => Deno.mkdir(path, { recursive: true, ...options })),
    list: (path) => failing(path, () => listDirectory(path)),
    stat: (path) => failing(path, () => statusOf(() => Deno.stat(path))),
    lstat: (path) => failing(path, () => statusOf(() => Deno.lstat(path))),
    realPath: (path) => failing(path, () => Deno.realPath(path)),
    currentDirectory: () => failing(".", () => Promise.resolve(Deno.cwd())),
  };
}

async function failing<Value>(path: string, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } catch (cause) {
    if (cause instanceof FileError) throw cause;
    throw new FileError(failureOf(cause), path, { cause });
  }
}

function failureOf(cause: unknown): FileFailure {
  if (cause instanceof Deno.errors.NotFound) return "not-found";
  if (cause instanceof Deno.errors.AlreadyExists) return "exists";
  if (cause instanceof Deno.errors.PermissionDenied) return "permission";
  if (cause instanceof Deno.errors.NotCapable) return "permission";
  if (cause instanceof Deno.errors.IsADirectory) return "not-a-file";
  if (cause instanceof Deno.errors.NotADirectory) return "not-a-directory";
  return "io";
}

async function readBytes(path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  // Asked before opening: to open a FIFO waits for a writer, and a device may have no end.
  const status = await Deno.stat(path);
  if (!status.isFile) throw new FileError("not-a-file", path);
  using file = await Deno.open(path, { read: true });
  let bytes = new Uint8Array(Math.min(maxBytes, Math.max(status.size, READ_SIZE)));
  let used = 0;
  while (used < maxBytes) {
    if (used === bytes.length) bytes = grown(bytes, maxBytes);
    const count = await file.read(bytes.subarray(used));
    if (count === null) break;
    used += count;
  }
  return bytes.subarray(0, used);
}

function grown(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(maxBytes, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

async function writeAtomic(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  options: WriteOptions,
): Promise<void> {
  const temporary = `${path}.${temporaryName()}.tmp`;
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  try {
    await writeNew(temporary, bytes, options.mode ?? PRIVATE_FILE);
    if (options.exclusive === true) await claim(temporary, path);
    else await Deno.rename(temporary, path);
  } catch (error) {
    await removeIfThere(temporary).catch(() => {});
    throw error;
  }
  await syncDirectory(path);
}

function temporaryName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TEMPORARY_NAME_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode });
  let written = 0;
  while (written < bytes.length) written += await file.write(bytes.subarray(written));
  await file.sync();
}

async function claim(temporary: string, path: string): Promise<void> {
  try {
    await Deno.link(temporary, path);
    await Deno.remove(temporary);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    // Not every file system has hard links: an empty file made exclusively claims the name as well.
    (await Deno.open(path, { write: true, createNew: true, mode: PRIVATE_FILE })).close();
    await Deno.rename(temporary, path);
  }
}

async function syncDirectory(path: string): Promise<void> {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  const parent = cut === -1 ? "." : cut === 0 ? "/" : path.slice(0, cut);
  try {
    using directory = await Deno.open(parent, { read: true });
    await directory.sync();
  } catch {
    // Some systems cannot open or sync a directory; the content itself was synced before the rename.
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function listDirectory(path: string): Promise<readonly DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const entry of Deno.readDir(path)) {
    entries.push({ name: entry.name, kind: kindOf(entry) });
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

async function statusOf(ask: () => Promise<Deno.FileInfo>): Promise<FileStatus | undefined> {
  try {
    const info = await ask();
    return {
      kind: kindOf(info),
      size: info.size,
      modifiedMs: info.mtime?.getTime(),
      mode: info.mode === null ? undefined : info.mode & 0o7777,
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

function kindOf(
  entry: { readonly isFile: boolean; readonly isDirectory: boolean; readonly isSymlink: boolean },
): FileStatus["kind"] {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "directory";
  return entry.isFile ? "file" : "other";
}
