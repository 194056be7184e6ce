import { assertEquals } from "@std/assert";
import { isJsonObject } from "../../src/json/mod.ts";
import { loadReader, runCase } from "../../src/machine/mod.ts";

const { readYaml } = await loadReader();
const names = [...Deno.readDirSync(new URL(".", import.meta.url))]
  .map(({ name }) => name)
  .filter((name) => name.endsWith(".yaml"))
  .sort();

for (const name of names) {
  const { value, diagnostics } = readYaml(
    Deno.readTextFileSync(new URL(name, import.meta.url)),
  );
  const description = isJsonObject(value) ? value.description : "a file that cannot be read";
  Deno.test(`conformance ${name}: ${description}`, async () => {
    assertEquals(diagnostics, []);
    const { mismatches } = await runCase(value ?? null, name.replace(/\.yaml$/, ""));
    assertEquals(mismatches, []);
  });
}
