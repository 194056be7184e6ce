/**
 * Short ways to machines for tests.
 *
 * @module
 */
import { loadReader } from "../../src/machine/load_reader.ts";
import type { Diagnostic, Machine } from "../../src/machine/mod.ts";

const { parseMachine } = await loadReader();

/**
 * Writes a machine of a few lines around its states.
 *
 * @param states The states' lines, as they stand below `states:`, indented by two.
 * @param top Lines that replace `machine: m`, `entry: a` and `budget: 9`, which are there unless the same key is.
 * @returns The text.
 */
export function machineText(states: string, top = ""): string {
  const lines = top === "" ? [] : top.split("\n");
  const defaults = ["machine: m", "entry: a", "budget: 9"].filter((line) =>
    !lines.some((own) => own.startsWith(line.slice(0, line.indexOf(":") + 1)))
  );
  return [...defaults, ...lines, "states:", states].join("\n");
}

/**
 * Writes a generative state.
 *
 * @param id Its id.
 * @param gates Its gates, without the brackets around them.
 * @param more Further members in flow style.
 * @returns One line.
 */
export function state(id: string, gates = TO_END, more = ""): string {
  return `  ${id}: { prompt: p, structure: s, output: o${
    more === "" ? "" : `, ${more}`
  }, gates: [${gates}] }`;
}

/** The gate that ends a run. */
export const TO_END = "{ when: otherwise, then: ok, to: END }";

/**
 * Reads a machine that must be readable.
 *
 * @param text The text.
 * @returns The machine.
 * @throws {Error} If it is not.
 */
export function readMachine(text: string): Machine {
  const { machine, diagnostics } = parseMachine(text);
  if (machine === undefined) throw new Error(JSON.stringify(diagnostics));
  return machine;
}

/**
 * Writes diagnostics in one line each: severity, code, place and message.
 *
 * @param diagnostics The diagnostics.
 * @returns The lines.
 */
export function lines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position, message }) =>
    `${severity} ${code} ${position?.line}:${position?.column} ${message}`
  );
}
