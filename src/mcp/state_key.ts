/**
 * The key that signs states which travel through a client.
 *
 * @module
 */
import { FileError, type Ports } from "../ports/mod.ts";

/** Length of the key in bytes. */
const KEY_BYTES = 32;
/** Sets the key apart from others that are made of the same secret. */
const PURPOSE = "kit requestState v1";

/** Where the key comes from. */
export interface StateKeyOptions {
  /** A secret of the operator's, if there is one. */
  readonly secret: string | undefined;
  /** A directory that is the user's alone, for a key that outlives the process; `undefined` if there is none. */
  readonly directory: string | undefined;
}

/**
 * Finds the key, or makes one: from the operator's secret, else from a file that only the user can read, else for this
 * process alone.
 *
 * @param ports Chance, files and log.
 * @param options Where to look.
 * @returns 32 bytes.
 */
export async function loadStateKey(
  ports: Pick<Ports, "random" | "files" | "log">,
  options: StateKeyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { secret, directory } = options;
  if (secret !== undefined) {
    const bytes = new TextEncoder().encode(`${PURPOSE}\n${secret}`);
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  }
  try {
    if (directory !== undefined) return await keyFile(ports, directory);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    ports.log.write("warning", `Answers to questions will not outlive this process: ${cause}`);
  }
  return ports.random.bytes(KEY_BYTES);
}

/**
 * The directory for what Kit keeps between processes: `KIT_STATE_DIR`, else where the system has such things.
 *
 * @param ports Environment and system.
 * @returns A path, or `undefined` if the system names no home.
 */
export function stateDirectory(ports: Pick<Ports, "env" | "system">): string | undefined {
  const { env, system } = ports;
  const own = env.get("KIT_STATE_DIR");
  if (own !== undefined && own !== "") return own;
  const shared = env.get(system.os === "windows" ? "APPDATA" : "XDG_STATE_HOME");
  if (shared !== undefined && shared !== "") return `${shared}/kit`;
  return system.home === undefined ? undefined : `${system.home}/.local/state/kit`;
}

async function keyFile(
  ports: Pick<Ports, "random" | "files">,
  directory: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const path = `${directory}/request-state.key`;
  const known = await readKey(ports, path);
  if (known !== undefined) return known;
  const key = ports.random.bytes(KEY_BYTES);
  await ports.files.makeDirectory(directory, { mode: 0o700 });
  try {
    await ports.files.writeAtomic(path, key, { mode: 0o600, exclusive: true });
    return key;
  } catch (error) {
    // Another process was faster; its key is the one.
    const theirs = error instanceof FileError && error.failure === "exists"
      ? await readKey(ports, path)
      : undefined;
    if (theirs === undefined) throw error;
    return theirs;
  }
}

async function readKey(
  ports: Pick<Ports, "files">,
  path: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const bytes = await ports.files.read(path, { maxBytes: KEY_BYTES });
    return bytes.length === KEY_BYTES ? bytes : undefined;
  } catch (error) {
    if (error instanceof FileError && error.failure === "not-found") return undefined;
    throw error;
  }
}
