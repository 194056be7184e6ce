/** Files in memory, for tests that may only read. Paths are taken as they are written, without `.` and `..`. */
import {
  type DirectoryEntry,
  FileError,
  type Files,
  type FileStatus,
} from "../../src/ports/mod.ts";

const ROOT = "/project";

/** A file system in memory. Its current directory is `/project`. */
export class MemoryFiles implements Files {
  /** Texts by absolute path. */
  readonly texts = new Map<string, string>();
  /** Permission bits by absolute path. */
  readonly modes = new Map<string, number>();
  readonly #directories = new Set<string>(["/", ROOT]);
  /** A path whose writing fails. */
  failing: string | undefined;

  /** Fills the current directory. */
  constructor(texts: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(texts)) this.put(path, text);
  }

  /** Puts a file there, with its parents. */
  put(path: string, text: string): void {
    const full = absolute(path);
    for (let cut = full.lastIndexOf("/"); cut > 0; cut = full.lastIndexOf("/", cut - 1)) {
      this.#directories.add(full.slice(0, cut));
    }
    this.texts.set(full, text);
  }

  /** A file's text. */
  text(path: string): string | undefined {
    return this.texts.get(absolute(path));
  }

  async read(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return new TextEncoder().encode(await this.readText(path));
  }

  readText(path: string): Promise<string> {
    const text = this.text(path);
    return text === undefined ? failed("not-found", path) : Promise.resolve(text);
  }

  writeAtomic(
    path: string,
    content: string | Uint8Array<ArrayBuffer>,
    options: { readonly mode?: number; readonly exclusive?: boolean } = {},
  ): Promise<void> {
    const full = absolute(path);
    if (this.failing !== undefined && full.endsWith(this.failing)) {
      return failed("permission", path);
    }
    if (options.exclusive === true && this.texts.has(full)) return failed("exists", path);
    if (!this.#directories.has(parent(full))) return failed("not-found", path);
    this.texts.set(full, typeof content === "string" ? content : new TextDecoder().decode(content));
    this.modes.set(full, options.mode ?? 0o600);
    return Promise.resolve();
  }

  remove(path: string): Promise<void> {
    this.texts.delete(absolute(path));
    this.#directories.delete(absolute(path));
    return Promise.resolve();
  }

  makeDirectory(path: string): Promise<void> {
    for (let full = absolute(path); full !== ""; full = parent(full)) this.#directories.add(full);
    return Promise.resolve();
  }

  list(path: string): Promise<readonly DirectoryEntry[]> {
    const full = absolute(path);
    if (!this.#directories.has(full)) return failed("not-found", path);
    const below = (other: string): boolean => other !== full && parent(other) === full;
    const entries: DirectoryEntry[] = [
      ...[...this.texts.keys()].filter(below).map((other) => ({
        name: base(other),
        kind: "file" as const,
      })),
      ...[...this.#directories].filter(below).map((other) => ({
        name: base(other),
        kind: "directory" as const,
      })),
    ];
    return Promise.resolve(entries.toSorted((left, right) => left.name < right.name ? -1 : 1));
  }

  stat(path: string): Promise<FileStatus | undefined> {
    const full = absolute(path);
    const text = this.texts.get(full);
    if (text === undefined && !this.#directories.has(full)) return Promise.resolve(undefined);
    return Promise.resolve({
      kind: text === undefined ? "directory" : "file",
      size: new TextEncoder().encode(text ?? "").length,
      modifiedMs: 0,
      mode: this.modes.get(full),
    });
  }

  lstat(path: string): Promise<FileStatus | undefined> {
    return this.stat(path);
  }

  async realPath(path: string): Promise<string> {
    return await this.stat(path) === undefined ? failed("not-found", path) : absolute(path);
  }

  currentDirectory(): Promise<string> {
    return Promise.resolve(ROOT);
  }
}

function absolute(path: string): string {
  const full = path.startsWith("/") ? path : `${ROOT}/${path}`;
  const parts: string[] = [];
  for (const part of full.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function failed(failure: "not-found" | "exists" | "permission", path: string): Promise<never> {
  return Promise.reject(new FileError(failure, path));
}
