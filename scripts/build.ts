// deno-lint-ignore-file no-console -- a chore prints
/**
 * Compiles the program for the five systems of a release, packs each with the licence and README.md, and sums them up in
 * `dist/SHA256SUMS`.
 *
 * `deno compile` downloads the base program of each system from Deno's servers; where they cannot be reached, a system is
 * named on the command line and `DENORT_BIN` is its base program.
 *
 *     deno task build [TRIPLE…]
 *
 * @module
 */
import { type ArchiveFile, tarGz, zip } from "./archive.ts";
import { compileArguments, lazyModules, type Target, TARGETS } from "./compile.ts";

const root = new URL("../", import.meta.url);
const dist = new URL("dist/", root);
const include = await lazyModules(root);

await Deno.mkdir(dist, { recursive: true });
const wanted = chosen(Deno.args);
const sums: string[] = [];
for (const target of wanted) {
  const bytes = await pack(target, await compile(target));
  await Deno.writeFile(new URL(target.archive, dist), bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  sums.push(`${digest.toHex()}  ${target.archive}\n`);
  console.log(`dist/${target.archive}: ${(bytes.length / 1e6).toFixed(1)} MB`);
}
await Deno.writeTextFile(new URL("SHA256SUMS", dist), sums.join(""));
console.log("dist/SHA256SUMS");

function chosen(triples: readonly string[]): readonly Target[] {
  const unknown = triples.filter((name) => !TARGETS.some(({ triple }) => triple === name));
  if (unknown.length > 0) {
    console.error(`No such target: ${unknown.join(", ")}. Targets:`);
    for (const { triple } of TARGETS) console.error(`  ${triple}`);
    Deno.exit(2);
  }
  return triples.length === 0 ? TARGETS : TARGETS.filter(({ triple }) => triples.includes(triple));
}

async function compile(target: Target): Promise<Uint8Array<ArrayBuffer>> {
  const folder = new URL(`${target.triple}/`, dist);
  await Deno.mkdir(folder, { recursive: true });
  const output = `dist/${target.triple}/${target.program}`;
  const { triple } = target;
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: compileArguments(output, { version: Deno.version.deno, triple, include }),
    cwd: root,
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) {
    console.error(`Could not compile for ${triple}: see above; DENORT_BIN names a base program`);
    Deno.exit(1);
  }
  return await Deno.readFile(new URL(target.program, folder));
}

async function pack(
  target: Target,
  program: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const files: ArchiveFile[] = [{ name: target.program, bytes: program, program: true }];
  for (const name of ["LICENSE", "README.md", "CHANGELOG.md"]) {
    files.push({ name, bytes: await Deno.readFile(new URL(name, root)) });
  }
  return target.archive.endsWith(".zip") ? await zip(files) : await tarGz(files);
}
