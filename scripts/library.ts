/**
 * Reads the standard machines once and keeps their values beside them, so that a program which only uses them needs no
 * YAML. Run it after a change of `src/machine/library/*.mk`; a test fails until then.
 *
 * @module
 */
import { readYaml } from "../src/machine/reader.ts";

const FOLDER = new URL("../src/machine/library/", import.meta.url);

const values: Record<string, unknown> = {};
const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
  name.endsWith(".mk")
).sort();
for (const name of names) {
  const { value, diagnostics } = readYaml(Deno.readTextFileSync(new URL(name, FOLDER)));
  if (value === undefined) throw new Error(`Cannot read "${name}": ${diagnostics[0]?.message}`);
  values[name.slice(0, -".mk".length)] = value;
}
Deno.writeTextFileSync(new URL("values.json", FOLDER), JSON.stringify(values, null, 2) + "\n");
