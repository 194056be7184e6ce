/**
 * Reads texts. This file loads the YAML library: import it lazily, through `load_reader.ts`.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { Diagnostic } from "./document.ts";
import { type ReadOptions, type ReadResult, readValue } from "./read.ts";
import { readYamlDocument, type YamlDocument } from "./yaml_document.ts";

/** A text read as YAML. */
export interface YamlResult {
  /** The value; absent if there is an error. */
  readonly value?: JsonValue;
  /** Every problem, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a text as one YAML document of any kind, such as a file of scenarios.
 *
 * @param text The text.
 * @returns The value and every problem; never throws.
 */
export function readYaml(text: string): YamlResult {
  const { value, diagnostics } = readYamlDocument(text);
  if (diagnostics.some(({ severity }) => severity === "error")) return { diagnostics };
  return { value: value ?? null, diagnostics };
}

/**
 * Reads a text as a machine.
 *
 * @param text The text.
 * @param options How strictly.
 * @returns The machine and every problem; never throws.
 */
export function parseMachine(text: string, options: ReadOptions = {}): ReadResult {
  const document: YamlDocument = readYamlDocument(text);
  return readValue(document, { ...options, source: text });
}
