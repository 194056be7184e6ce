/**
 * What the core asks of the outside. Only the room `platform` implements these on Deno; tests hand in doubles.
 *
 * @module
 */
import type { Clock } from "./clock.ts";

/** Chance. */
export interface Random {
  /** A number in [0, 1), for jitter. */
  float(): number;
  /** Unguessable bytes, for handles and nonces. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/** The `fetch` of the web platform. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What a directory entry is. Links are reported as what they are, not as what they lead to. */
export interface DirectoryEntry {
  /** The name within the directory. */
  readonly name: string;
  /** `link` for symbolic links. */
  readonly kind: "file" | "directory" | "link" | "other";
}

/** What is known of a path. */
export interface FileStatus {
  /** What it is, with links resolved by `stat` and not by `lstat`. */
  readonly kind: "file" | "directory" | "link" | "other";
  /** Size in bytes. */
  readonly size: number;
  /** Last change, milliseconds since the epoch, or `undefined` if unknown. */
  readonly modifiedMs: number | undefined;
  /** Permission bits, or `undefined` where the system has none. */
  readonly mode: number | undefined;
}

/** Why a file could not be used. */
export type FileFailure =
  | "not-found"
  | "exists"
  | "permission"
  | "not-a-file"
  | "not-a-directory"
  | "io";

/** What {@linkcode Files} throws. */
export class FileError extends Error {
  /** The class, also where `instanceof` cannot tell. */
  override readonly name = "FileError";
  /** What went wrong. */
  readonly failure: FileFailure;
  /** The path as it was asked for. */
  readonly path: string;
  /** Wraps a failure of the system. */
  constructor(failure: FileFailure, path: string, options?: ErrorOptions) {
    super(`${FAILURE_TEXT[failure]}: "${path}"`, options);
    this.failure = failure;
    this.path = path;
  }
}

const FAILURE_TEXT: Readonly<Record<FileFailure, string>> = {
  "not-found": "No such file or directory",
  "exists": "File exists already",
  "permission": "Permission denied",
  "not-a-file": "Not a file",
  "not-a-directory": "Not a directory",
  "io": "Input or output failed",
};

/** Files. Paths are absolute or relative to the current directory. Every method rejects with {@linkcode FileError}. */
export interface Files {
  /** Reads a whole file, at most `maxBytes` of it. */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads a whole file as UTF-8, ill-formed parts replaced. */
  readText(path: string): Promise<string>;
  /**
   * Writes a whole file so that at any moment the old or the new content is there, never half: a temporary file
   * beside it, synced, renamed over it. `mode` (default 0600) holds from creation on. `exclusive` fails with `exists`
   * if the path is taken.
   */
  writeAtomic(
    path: string,
    content: string | Uint8Array<ArrayBuffer>,
    options?: { readonly mode?: number; readonly exclusive?: boolean },
  ): Promise<void>;
  /** Removes a file; a missing one is no error. */
  remove(path: string): Promise<void>;
  /** Makes a directory and its parents. */
  makeDirectory(path: string, options?: { readonly mode?: number }): Promise<void>;
  /** Lists a directory, sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** What a path is, links followed; `undefined` if nothing is there. */
  stat(path: string): Promise<FileStatus | undefined>;
  /** What a path is, links not followed; `undefined` if nothing is there. */
  lstat(path: string): Promise<FileStatus | undefined>;
  /** The path with every link resolved. */
  realPath(path: string): Promise<string>;
  /** The current directory, absolute. Rejects with `not-found` if it was removed. */
  currentDirectory(): Promise<string>;
}

/** Environment variables, read at the moment of asking. */
export interface Env {
  /** A variable's value, or `undefined` if it is not set or may not be read. */
  get(name: string): string | undefined;
}

/** Severity of a log line, falling. */
export type LogLevel = "error" | "warning" | "info" | "debug";

/** Log lines for people, on stderr. Never blocks and never throws; lines are dropped when nobody reads them. */
export interface Log {
  /**
   * Writes one line.
   *
   * @param level How severe.
   * @param message One line; control characters are escaped.
   */
  write(level: LogLevel, message: string): void;
}

/** What the system is. */
export interface SystemInfo {
  /** As `Deno.build.os`, for paths and signals. */
  readonly os: string;
  /** The user's home directory, or `undefined`. */
  readonly home: string | undefined;
}

/** All ports in one hand. */
export interface Ports {
  /** Time. */
  readonly clock: Clock;
  /** Chance. */
  readonly random: Random;
  /** The network. */
  readonly fetch: Fetch;
  /** Files. */
  readonly files: Files;
  /** Environment variables. */
  readonly env: Env;
  /** The log. */
  readonly log: Log;
  /** The system. */
  readonly system: SystemInfo;
}
