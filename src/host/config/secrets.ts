/**
 * Finds the values of keys: the process environment first, then `.env` files.
 *
 * @module
 */
import { FileError, type Ports } from "../../ports/mod.ts";
import { joinPath } from "../paths.ts";
import { parseDotenv } from "./dotenv.ts";

/** Most bytes of a `.env` file. */
const MAX_ENV_BYTES = 65_536;

/** Where keys are looked up. */
export interface Secrets {
  /** The value of a variable; empty values do not hide those of a lower layer. */
  get(name: string): string | undefined;
  /** The `.env` files that were read. */
  readonly files: readonly string[];
}

/**
 * Reads the `.env` files of some directories.
 *
 * @param ports Environment, files and log.
 * @param directories Where to look, the strongest first.
 * @returns The lookup. A file that cannot be read is logged and left out.
 */
export async function readSecrets(
  ports: Pick<Ports, "env" | "files" | "log">,
  directories: readonly (string | undefined)[],
): Promise<Secrets> {
  const layers: ReadonlyMap<string, string>[] = [];
  const files: string[] = [];
  for (const directory of directories) {
    if (directory === undefined) continue;
    const path = joinPath(directory, ".env");
    const text = await readOptional(ports, path);
    if (text === undefined) continue;
    layers.push(parseDotenv(text));
    files.push(path);
  }
  return { files, get: (name) => firstValue([ports.env, ...layers], name) };
}

function firstValue(
  layers: readonly { get(name: string): string | undefined }[],
  name: string,
): string | undefined {
  for (const layer of layers) {
    const value = layer.get(name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

async function readOptional(
  ports: Pick<Ports, "files" | "log">,
  path: string,
): Promise<string | undefined> {
  try {
    const bytes = await ports.files.read(path, { maxBytes: MAX_ENV_BYTES });
    return new TextDecoder().decode(bytes);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const absent = error.failure === "not-found" || error.failure === "not-a-directory";
    if (!absent) ports.log.write("warning", `Cannot read "${path}": ${error.failure}`);
    return undefined;
  }
}
