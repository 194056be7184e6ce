/**
 * The tools `list_files`, `read_file` and `write_file`: files of one workspace and no other.
 *
 * @module
 */
import { type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import type { HostTool } from "../../machine/mod.ts";
import { FileError, type Ports } from "../../ports/mod.ts";
import { joinPath, nameOf } from "../paths.ts";
import { type ConfinedPath, type Workspace, WorkspaceError } from "../workspace.ts";
import { clamp, inputInteger, inputText, observation } from "./observation.ts";

/** Most entries of a listing. */
const MAX_ENTRIES = 200;
/** Bytes that are read if the input names no number. */
const DEFAULT_READ_BYTES = 65_536;
/** Most bytes that are read or written. */
const MAX_BYTES = 262_144;
/** Suffixes that may be written; machines are not among them, so that no machine writes itself. */
const WRITABLE = [
  ".txt",
  ".md",
  ".csv",
  ".tsv",
  ".json",
  ".jsonl",
  ".yaml",
  ".yml",
  ".xml",
  ".toml",
  ".log",
  ".html",
];
const YES = ["1", "true", "yes", "on"];

/** What file tools work with. */
export interface FileToolOptions {
  /** The workspace; a text says why there is none. */
  readonly workspace: () => Promise<Workspace | string>;
  /** Whether files may be written. */
  readonly allowWrite: boolean;
  /** Files. */
  readonly files: Ports["files"];
}

/**
 * Makes the three tools.
 *
 * @param options Where they work and what they may do.
 * @returns The tools by name. Failures are observations.
 */
export function fileTools(options: FileToolOptions): ReadonlyMap<string, HostTool> {
  return new Map<string, HostTool>([
    ["list_files", {
      effect: "read",
      run: (input) => within({ tool: "list_files", work: list }, input, options),
    }],
    ["read_file", {
      effect: "read",
      run: (input) => within({ tool: "read_file", work: read }, input, options),
    }],
    ["write_file", { effect: "effect", run: (input) => write(input, options) }],
  ]);
}

type Work = (
  input: JsonObject,
  workspace: Workspace,
  files: Ports["files"],
) => Promise<JsonObject>;

async function within(
  { tool, work }: { readonly tool: string; readonly work: Work },
  input: JsonObject,
  options: FileToolOptions,
): Promise<string> {
  const path = inputText(input, "path") ?? "";
  const workspace = await options.workspace();
  if (typeof workspace === "string") {
    return observation({ tool, stub: true, error: workspace }, { path });
  }
  try {
    return observation({ tool, stub: false }, await work(input, workspace, options.files));
  } catch (error) {
    return observation({ tool, stub: false, error: reason(error) }, { path });
  }
}

async function list(
  input: JsonObject,
  workspace: Workspace,
  files: Ports["files"],
): Promise<JsonObject> {
  const place = await workspace.resolve(inputText(input, "path") ?? "");
  const entries: JsonObject[] = [];
  for (const { name } of await files.list(place.real)) {
    if (name.startsWith(".")) continue;
    const entry = await describe(name, place, { workspace, files });
    if (entry !== undefined) entries.push(entry);
  }
  await workspace.confirm(place);
  return {
    path: place.shown,
    entries: entries.slice(0, MAX_ENTRIES),
    count: entries.length,
    truncated: entries.length > MAX_ENTRIES,
  };
}

/** Leaves out what is neither file nor directory, and links that lead outside or nowhere. */
async function describe(
  name: string,
  directory: ConfinedPath,
  { workspace, files }: { readonly workspace: Workspace; readonly files: Ports["files"] },
): Promise<JsonObject | undefined> {
  try {
    const { real } = await workspace.resolve(joinPath(directory.shown, name));
    const status = await files.stat(real);
    if (status?.kind === "directory") return { name, kind: "dir" };
    return status?.kind === "file" ? { name, kind: "file", bytes: status.size } : undefined;
  } catch (error) {
    if (error instanceof WorkspaceError || error instanceof FileError) return undefined;
    throw error;
  }
}

async function read(
  input: JsonObject,
  workspace: Workspace,
  files: Ports["files"],
): Promise<JsonObject> {
  const wanted = inputInteger(member(input, "max_bytes"));
  if (wanted === "invalid") throw new WorkspaceError("max_bytes is not a whole number");
  const path = inputText(input, "path") ?? "";
  if (path.trim() === "") throw new WorkspaceError("empty path");
  const place = await workspace.resolve(path);
  const status = await files.stat(place.real);
  if (status?.kind !== "file") throw new FileError("not-a-file", place.shown);
  const maxBytes = clamp(wanted ?? DEFAULT_READ_BYTES, 1, MAX_BYTES);
  const bytes = await files.read(place.real, { maxBytes });
  await workspace.confirm(place);
  const size = Math.max(status.size, bytes.length);
  return {
    path: place.shown,
    content: decodeStart(bytes, { cut: size > bytes.length }),
    bytes: size,
    truncated: size > bytes.length,
  };
}

/** Text of the start of a file; a character cut in two at the end is left out. */
function decodeStart(
  bytes: Uint8Array<ArrayBuffer>,
  options: { readonly cut: boolean },
): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: options.cut });
}

async function write(input: JsonObject, options: FileToolOptions): Promise<string> {
  const tool = "write_file";
  const path = inputText(input, "path") ?? "";
  const workspace = await options.workspace();
  if (typeof workspace === "string") {
    return observation({ tool, stub: true, error: workspace }, { path, written: false });
  }
  try {
    return observation(
      { tool, stub: false },
      await writeConfined(input, path, { ...options, open: workspace }),
    );
  } catch (error) {
    return observation({ tool, stub: false, error: reason(error) }, { path, written: false });
  }
}

async function writeConfined(
  input: JsonObject,
  path: string,
  options: FileToolOptions & { readonly open: Workspace },
): Promise<JsonObject> {
  const { open, files } = options;
  const content = inputText(input, "content");
  if (content === undefined) throw new WorkspaceError("missing content");
  if (!options.allowWrite) {
    throw new WorkspaceError(
      "writing is not allowed: start Kit with --allow-write, or set KIT_FS_WRITE=1",
    );
  }
  if (path.trim() === "") throw new WorkspaceError("empty path");
  checkSuffix(nameOf(path.replaceAll("\\", "/")));
  const bytes = new TextEncoder().encode(content);
  if (bytes.length > MAX_BYTES) throw new WorkspaceError(`content is over ${MAX_BYTES} bytes`);
  const place = await open.resolveNew(path);
  checkSuffix(nameOf(place.real));
  const there = await files.stat(place.real);
  if (there !== undefined && there.kind !== "file") throw new FileError("not-a-file", place.shown);
  const existed = there !== undefined;
  const overwrite = isYes(member(input, "overwrite"));
  if (existed && !overwrite) {
    throw new WorkspaceError(`file "${place.shown}" exists: pass overwrite to replace it`);
  }
  // Exclusive creation closes the gap between looking and writing; a replaced file was resolved above.
  await files.writeAtomic(place.real, bytes, { mode: 0o600, exclusive: !existed });
  await open.confirm(place);
  return { path: place.shown, bytes: bytes.length, written: true, existed };
}

function checkSuffix(name: string): void {
  const dot = name.lastIndexOf(".");
  const suffix = dot < 0 ? "" : name.slice(dot).toLowerCase();
  if (WRITABLE.includes(suffix)) return;
  throw new WorkspaceError(`suffix "${suffix}" is not allowed: use one of ${WRITABLE.join(" ")}`);
}

function isYes(value: JsonValue | undefined): boolean {
  return value === true || (typeof value === "string" && YES.includes(value.trim().toLowerCase()));
}

function reason(error: unknown): string {
  if (error instanceof WorkspaceError) return error.message;
  if (error instanceof FileError) return REASONS[error.failure];
  throw error;
}

/** Texts without paths: what stands in a `FileError` may name places that are no business of a machine. */
const REASONS: Readonly<Record<FileError["failure"], string>> = {
  "not-found": "no such file or directory",
  "exists": "file exists: pass overwrite to replace it",
  "permission": "permission denied",
  "not-a-file": "not a file",
  "not-a-directory": "not a directory",
  "io": "input or output failed",
};
