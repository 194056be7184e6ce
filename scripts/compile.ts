/**
 * How the program is compiled: for whom, and what it may do.
 *
 * @module
 */

/** A system that the program is compiled for. */
export interface Target {
  /** As `deno compile --target` names it. */
  readonly triple: string;
  /** As the archive is called. */
  readonly archive: string;
  /** The program's file name. */
  readonly program: string;
}

/** The five systems of a release. */
export const TARGETS: readonly Target[] = [
  { triple: "x86_64-unknown-linux-gnu", archive: "kit-linux-x64.tar.gz", program: "kit" },
  { triple: "aarch64-unknown-linux-gnu", archive: "kit-linux-arm64.tar.gz", program: "kit" },
  { triple: "x86_64-apple-darwin", archive: "kit-macos-x64.tar.gz", program: "kit" },
  { triple: "aarch64-apple-darwin", archive: "kit-macos-arm64.tar.gz", program: "kit" },
  { triple: "x86_64-pc-windows-msvc", archive: "kit-windows-x64.zip", program: "kit.exe" },
];

/** What the program may do is baked in: it starts no programs and loads no native code, and it never asks. */
const PERMISSIONS = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--deny-run",
  "--deny-ffi",
  "--no-prompt",
];

/** The first version of Deno that imports text without a flag. */
const TEXT_IMPORTS_SINCE = [2, 8];

/** What of a program depends on where and by whom it is compiled. */
export interface CompileOptions {
  /** The version of the Deno that compiles. */
  readonly version: string;
  /** The system, if it is another. */
  readonly triple?: string;
  /** Modules that no import with a literal names, from {@linkcode lazyModules}. */
  readonly include: readonly string[];
}

/**
 * The arguments of `deno` that compile the program.
 *
 * @param output The file to write.
 * @param options By whom and for whom.
 * @returns The arguments, `compile` first.
 */
export function compileArguments(output: string, options: CompileOptions): string[] {
  return [
    "compile",
    "--quiet",
    // The task "check" does this, once for all targets.
    "--no-check",
    // With a folder of its own every installed package would go in, those of tests too.
    "--node-modules-dir=none",
    ...(older(options.version, TEXT_IMPORTS_SINCE) ? ["--unstable-raw-imports"] : []),
    ...PERMISSIONS,
    ...(options.triple === undefined ? [] : ["--target", options.triple]),
    ...options.include.flatMap((path) => ["--include", path]),
    "--output",
    output,
    "mcp.ts",
  ];
}

/**
 * Finds the modules that are imported only when they are needed, by a name that is no literal: `deno compile` does not
 * see those. Each such import states its type as `typeof import("…")`.
 *
 * @param root The folder of `mcp.ts`.
 * @returns Paths from `root`, sorted.
 */
export async function lazyModules(root: URL): Promise<string[]> {
  const found = new Set<string>();
  for (const path of ["mcp.ts", ...await modulesBelow(root, "src")]) {
    const text = await Deno.readTextFile(new URL(path, root));
    for (const [, specifier = ""] of text.matchAll(/\btypeof import\("(\.[^"]+)"\)/g)) {
      found.add(new URL(specifier, new URL(path, "file:///")).pathname.slice(1));
    }
  }
  return [...found].toSorted();
}

async function modulesBelow(root: URL, folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await modulesBelow(root, path));
    else if (name.endsWith(".ts")) found.push(path);
  }
  return found;
}

function older(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}
