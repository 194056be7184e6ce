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

/**
 * The arguments of `deno` that compile the program.
 *
 * @param output The file to write.
 * @param options `version` of the Deno that compiles; `triple` of another system.
 * @returns The arguments, `compile` first.
 */
export function compileArguments(
  output: string,
  options: { readonly version: string; readonly triple?: string },
): string[] {
  return [
    "compile",
    "--quiet",
    ...(older(options.version, TEXT_IMPORTS_SINCE) ? ["--unstable-raw-imports"] : []),
    ...PERMISSIONS,
    ...(options.triple === undefined ? [] : ["--target", options.triple]),
    "--output",
    output,
    "mcp.ts",
  ];
}

function older(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}
