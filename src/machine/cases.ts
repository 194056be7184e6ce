/**
 * Conformance cases: one scenario a file, together with its machine.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import type { Machine, Registry } from "./document.ts";
import { byCodePoint } from "./level.ts";
import { machineFromValue } from "./read.ts";
import { runScenario, type ScenarioOptions, type ScenarioResult } from "./scenario.ts";

/**
 * Runs a conformance case: a mapping with `case`, `machine`, optional `registry`, and the keys of a scenario. Its machines
 * are read leniently, as the language says.
 *
 * @param document The file's value.
 * @param stem The file's name without its suffix, which `case` must equal.
 * @param options An observer.
 * @returns How it went.
 */
export async function runCase(
  document: JsonValue,
  stem: string,
  options: Pick<ScenarioOptions, "onEvent"> = {},
): Promise<ScenarioResult> {
  const problem = (text: string): ScenarioResult => ({
    name: stem,
    passed: false,
    mismatches: [text],
    warnings: [],
  });
  if (!isJsonObject(document)) return problem("case: the file is not a mapping");
  if (document.case !== stem) {
    return problem(
      `case: expected ${JSON.stringify(stem)}, got ${JSON.stringify(document.case ?? null)}`,
    );
  }
  try {
    const { machine, registry } = readCase(document);
    const scenario = { ...document, name: stem };
    return await runScenario(machine, scenario, { ...options, registry });
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Reads the machines of a case.
 *
 * @param document The case.
 * @returns The machine, and all of them by the names that `call:` has for them.
 * @throws {TypeError} If a machine cannot be read.
 */
export function readCase(
  document: JsonObject,
): { readonly machine: Machine; readonly registry: Registry } {
  const machine = read(document.machine, "machine");
  const called = isJsonObject(document.registry) ? Object.entries(document.registry) : [];
  const machines = new Map([[machine.name, machine]]);
  for (const [name, value] of called) machines.set(name, read(value, `registry.${name}`));
  const names = [...machines.keys()].sort(byCodePoint);
  return { machine, registry: { get: (name) => machines.get(name), names: () => names } };
}

function read(value: JsonValue | undefined, where: string): Machine {
  const { machine, diagnostics } = machineFromValue(value ?? null, { grammar: "lenient" });
  if (machine !== undefined) return machine;
  throw new TypeError(`${where}: ${diagnostics.map(({ message }) => message).join("; ")}`);
}
