/**
 * What a program pays for an import, as whole processes: Kit, the testing kit, and two libraries that do part of the
 * same. Those are left out where npm is not there.
 *
 * @module
 */
import { ensureNpm, NPM_SETS, ROOT } from "../peers/install.ts";

const folder = await ensureNpm(NPM_SETS.ai).catch(() => undefined);
const directory = await Deno.makeTempDir();

interface Program {
  readonly name: string;
  readonly code: string;
  readonly cwd: string | undefined;
  readonly flags: readonly string[];
}

const KIT_FLAGS = [`--config=${ROOT}/deno.json`];
const PROGRAMS: readonly Program[] = [
  { name: "nothing", code: "", cwd: ROOT, flags: KIT_FLAGS },
  {
    name: "consensus of Kit",
    code: importOf("consensus", `${ROOT}/mod.ts`),
    cwd: ROOT,
    flags: KIT_FLAGS,
  },
  { name: "the AI SDK", code: importOf("generateText", "ai"), cwd: folder, flags: [] },
  { name: "the OpenAI SDK", code: importOf("OpenAI", "openai"), cwd: folder, flags: [] },
];

for (const { name, code, cwd, flags } of PROGRAMS) {
  if (cwd === undefined) continue;
  const file = `${cwd === ROOT ? directory : cwd}/import_${name.replaceAll(" ", "_")}.mjs`;
  await Deno.writeTextFile(file, code);
  const options = { group: "import", baseline: name === "nothing" };
  Deno.bench(`a program that imports ${name}`, options, async () => {
    const command = new Deno.Command("deno", {
      args: ["run", "-A", ...flags, file],
      cwd,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    });
    const { success, stderr } = await command.output();
    if (!success) throw new Error(new TextDecoder().decode(stderr).slice(0, 300));
  });
}

function importOf(name: string, from: string): string {
  return `import { ${name} } from ${
    JSON.stringify(from)
  };\nif (!${name}) throw new Error("missing");\n`;
}
