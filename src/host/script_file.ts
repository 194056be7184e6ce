/**
 * Reads a script: a scenario file, a conformance case, or a script alone.
 *
 * @module
 */
import { isJsonObject, type JsonValue, member } from "../json/mod.ts";
import { loadReader } from "../machine/load_reader.ts";
import type { Script } from "../machine/mod.ts";
import { FileError, type FileFailure } from "../ports/mod.ts";
import type { HostOptions } from "./options.ts";

/** Most bytes of a script. */
const MAX_SCRIPT_BYTES = 4_194_304;
/** What keeps a file from being read, as a clause about it. */
const FAILURES: Readonly<Record<FileFailure, string>> = {
  "not-found": "there is no such file",
  "exists": "it exists already",
  "permission": "it may not be read",
  "not-a-file": "it is no file",
  "not-a-directory": "a part of its path is no directory",
  "io": "it could not be read",
};
const SCRIPT_KEYS = ["produce", "judge", "tokens"];

/**
 * Reads a script.
 *
 * @param path The file.
 * @param options What the host is made from.
 * @returns The script, or why it cannot be used.
 */
export async function readScript(path: string, { ports }: HostOptions): Promise<Script | string> {
  let text: string;
  try {
    const bytes = await ports.files.read(path, { maxBytes: MAX_SCRIPT_BYTES + 1 });
    if (bytes.length > MAX_SCRIPT_BYTES) return `it is over ${MAX_SCRIPT_BYTES} bytes`;
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof FileError) return FAILURES[error.failure];
    throw error;
  }
  const { value, diagnostics } = (await loadReader()).readYaml(text);
  const error = diagnostics.find(({ severity }) => severity === "error");
  if (error === undefined && value !== undefined) return scriptOf(value);
  const { message, position } = error ?? { message: "it is empty" };
  return position === undefined
    ? message
    : `${message} (line ${position.line}, column ${position.column})`;
}

/** A bare script, a conformance case, or the first scenario of a file. */
function scriptOf(value: JsonValue): Script | string {
  if (!isJsonObject(value)) return 'it is no object with "produce", "llm" or "scenarios"';
  const scenarios = member(value, "scenarios");
  const first = Array.isArray(scenarios) ? scenarios[0] : value;
  const script = isJsonObject(first) ? member(first, "llm") ?? first : undefined;
  if (!isJsonObject(script)) return "its first scenario has no script";
  if (Array.isArray(scenarios) || SCRIPT_KEYS.some((key) => Object.hasOwn(script, key))) {
    return {
      ...(member(script, "produce") === undefined
        ? {}
        : { produce: member(script, "produce") ?? null }),
      ...(member(script, "judge") === undefined ? {} : { judge: member(script, "judge") ?? null }),
      ...(member(script, "tokens") === undefined
        ? {}
        : { tokens: member(script, "tokens") ?? null }),
    };
  }
  return 'it has none of "produce", "judge", "tokens", "llm" and "scenarios"';
}
