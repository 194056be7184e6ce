/**
 * What the command line of the server says.
 *
 * @module
 */

/** A flag of `kit mcp`. */
export type ServerFlag =
  | "allow-write"
  | "checkpoint-dir"
  | "config"
  | "log-level"
  | "max-message-bytes"
  | "provider"
  | "script"
  | "store"
  | "tool-prefix"
  | "tools"
  | "workspace";

/** Flags that have a value. */
const VALUED: readonly ServerFlag[] = [
  "config",
  "provider",
  "script",
  "workspace",
  "checkpoint-dir",
  "store",
  "tools",
  "tool-prefix",
  "max-message-bytes",
  "log-level",
];
/** Flags that have none. */
const BARE: readonly ServerFlag[] = ["allow-write"];

/** Flags as they were given; a bare one has the value `"true"`. */
export type ServerFlags = ReadonlyMap<ServerFlag, string>;

/**
 * Reads the command line of the server.
 *
 * @param args What follows the program's name, and `mcp` if it was there.
 * @returns The flags.
 * @throws {RangeError} At the first word that is no flag of the server, or has no value where it needs one.
 */
export function parseServerFlags(args: readonly string[]): ServerFlags {
  const flags = new Map<ServerFlag, string>();
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    const [, name = "", inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const bare = BARE.find((flag) => flag === name);
    const valued = VALUED.find((flag) => flag === name);
    if (bare !== undefined && inline === undefined) {
      flags.set(bare, "true");
    } else if (valued !== undefined) {
      if (inline === undefined) at += 1;
      const value = inline ?? args[at];
      if (value === undefined || value === "") {
        throw new RangeError(`Cannot start the server: flag "--${name}" needs a value`);
      }
      flags.set(valued, value);
    } else {
      const known = [...VALUED, ...BARE].map((flag) => `--${flag}`).join(", ");
      throw new RangeError(`Cannot start the server: "${word}" is no flag of it; known: ${known}`);
    }
  }
  return flags;
}

/**
 * Reads a flag that is a positive whole number.
 *
 * @param flags All flags.
 * @param name Which one.
 * @returns The number, or `undefined` if the flag was not given.
 * @throws {RangeError} If it is something else.
 */
export function countFlag(flags: ServerFlags, name: ServerFlag): number | undefined {
  const text = flags.get(name);
  if (text === undefined) return undefined;
  const value = /^[1-9]\d*$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value)) return value;
  const found = JSON.stringify(text);
  throw new RangeError(
    `Cannot start the server: --${name} must be a whole number above 0, not ${found}`,
  );
}
