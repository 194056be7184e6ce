// deno-lint-ignore-file no-console -- a chore prints
/**
 * Makes the `jsr:` imports loadable on networks that cannot reach jsr.io, by putting stand-ins into `vendor/`.
 *
 * It does nothing where `vendor/` has the packages already or jsr.io answers, and never overwrites what Deno put
 * there. It has no imports, so that it runs before anything can be resolved.
 *
 * @module
 */

interface StandIn {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

const PROBE_TIMEOUT_MS = 3000;
const root = new URL("../", import.meta.url);

/** One row for each `jsr:` import of `deno.json`: its export names and the files of `scripts/standins/`. */
const EXPORTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "assert": { ".": "assert.ts" },
  "jsonc": { ".": "jsonc.ts" },
  "streams": { ".": "text_line_stream.ts", "./text-line-stream": "text_line_stream.ts" },
};

const missing = (await standIns()).filter(({ name, version }) =>
  !exists(`vendor/jsr.io/@std/${name}/${version}_meta.json`)
);
if (missing.length > 0 && !(await reachable())) {
  for (const standIn of missing) await install(standIn);
  console.error(
    `jsr.io cannot be reached: vendor/ holds stand-ins for ${
      missing.map(({ name }) => `@std/${name}`).join(", ")
    }`,
  );
}

async function standIns(): Promise<StandIn[]> {
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const found: StandIn[] = [];
  for (const target of Object.values<string>(config.imports)) {
    const [, name, version] = /^jsr:@std\/([^@/]+)@(.+)$/.exec(target) ?? [];
    if (name === undefined || version === undefined) continue;
    const exports = EXPORTS[name];
    if (exports === undefined) {
      throw new Error(`No stand-in for @std/${name}: add it to EXPORTS in scripts/deps.ts`);
    }
    found.push({ name, version, exports });
  }
  return found;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(path, root));
    return true;
  } catch {
    return false;
  }
}

async function reachable(): Promise<boolean> {
  try {
    const answer = await fetch("https://jsr.io/@std/assert/meta.json", {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

async function install({ name, version, exports }: StandIn): Promise<void> {
  const folder = new URL(`vendor/jsr.io/@std/${name}/`, root);
  await Deno.mkdir(new URL(`${version}/`, folder), { recursive: true });
  for (const file of new Set(Object.values(exports))) {
    const text = await Deno.readTextFile(new URL(`standins/${file}`, import.meta.url));
    await Deno.writeTextFile(new URL(`${version}/${file}`, folder), text);
  }
  await Deno.writeTextFile(
    new URL("meta.json", folder),
    JSON.stringify({ scope: "std", name, latest: version, versions: { [version]: {} } }),
  );
  const listed = Object.fromEntries(
    Object.entries(exports).map(([key, file]) => [key, `./${file}`]),
  );
  // Written last: its presence is what says that the package is there.
  await Deno.writeTextFile(
    new URL(`${version}_meta.json`, folder),
    JSON.stringify({ manifest: {}, exports: listed }),
  );
}
