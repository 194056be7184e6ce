/**
 * Loads what reads texts on first use, so that a program which reads no machine pays nothing for YAML.
 *
 * @module
 */
import type { ReadOptions, ReadResult } from "./read.ts";
import type { YamlResult } from "./reader.ts";

/** What reads texts, once loaded. */
export interface Reader {
  /** Reads a text as a machine; never throws. */
  parseMachine(text: string, options?: ReadOptions): ReadResult;
  /** Reads a text as one YAML document of any kind; never throws. */
  readYaml(text: string): YamlResult;
}

/**
 * Loads the reader.
 *
 * @returns The reader, whose functions are synchronous.
 */
export async function loadReader(): Promise<Reader> {
  const { parseMachine, readYaml } = await import("./reader.ts");
  return { parseMachine, readYaml };
}

/**
 * Reads a text as a machine.
 *
 * Every problem is reported at once, each with its place, its cause and what to write instead.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const { machine, diagnostics } = await parseMachine(`
 * machine: hello
 * entry: greet
 * budget: 1
 * states:
 *   greet:
 *     prompt: Say hello.
 *     structure: One line.
 *     output: greeting
 *     gates: [{ when: otherwise, then: ok, to: END }]
 * `);
 * assertEquals(diagnostics, []);
 * assertEquals(machine?.name, "hello");
 * ```
 *
 * @param text The text.
 * @param options How strictly.
 * @returns The machine, unless there is an error, and every problem.
 */
export async function parseMachine(text: string, options: ReadOptions = {}): Promise<ReadResult> {
  return (await loadReader()).parseMachine(text, options);
}
