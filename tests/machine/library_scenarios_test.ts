import { assert, assertEquals } from "@std/assert";
import { isJsonObject } from "../../src/json/mod.ts";
import {
  createCoverage,
  libraryRegistry,
  listScenarios,
  loadReader,
  runScenario,
} from "../../src/machine/mod.ts";

const { readYaml } = await loadReader();
const registry = await libraryRegistry();

for (const name of registry.names()) {
  const { value, diagnostics } = readYaml(
    Deno.readTextFileSync(new URL(`library/${name}.yaml`, import.meta.url)),
  );
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const coverage = createCoverage();
  const scenarios = listScenarios(value ?? null);

  for (const [index, scenario] of scenarios.entries()) {
    const title = isJsonObject(scenario) ? scenario["name"] : index;
    Deno.test(`${name}: ${title}`, async () => {
      assertEquals(errors, []);
      const machine = registry.get(name);
      assert(machine !== undefined);
      const { mismatches } = await runScenario(machine, scenario, { registry });
      assertEquals(mismatches, []);
    });
  }

  Deno.test(`the scenarios of ${name} reach every state and every gate`, async () => {
    const machine = registry.get(name);
    assert(machine !== undefined);
    for (const scenario of scenarios) {
      await runScenario(machine, scenario, { onEvent: (event) => coverage.observe(event) });
    }
    const { missedStates, missedGates } = coverage.report(machine);
    assertEquals([missedStates, missedGates], [[], []]);
  });
}
