/**
 * Finds and reads the machine that a call names.
 *
 * @module
 */
import type { Diagnostic, Machine, Registry } from "../machine/mod.ts";
import { FileError } from "../ports/mod.ts";
import { confineMachine } from "./confine.ts";
import type { HostCore } from "./core.ts";
import type { MachineReference } from "./host.ts";
import { referenceProblems } from "./inputs.ts";
import { joinPath } from "./paths.ts";
import { type Refusal, refuse } from "./refusal.ts";
import { type LayeredRegistry, type Registries, withTarget } from "./registry/registries.ts";
import { MAX_MACHINE_BYTES } from "./registry/scan.ts";

/** Most files of a directory that are named instead of it. */
const MAX_NAMED = 5;

/** What a checkpoint says of a machine that came inline. */
export const INLINE_PATH = "<inline>";

/** Where a machine came from. */
export interface MachineOrigin {
  /** The argument as it was given: a path, a name, or `<inline>`. */
  readonly path: string;
  /** The file, absolute; `undefined` for a name or inline. */
  readonly file: string | undefined;
  /** The text, byte for byte as UTF-8. */
  readonly source: string;
}

/** A machine that was found and read. */
export interface Target {
  /** Tells it from a refusal. */
  readonly kind: "found";
  /** The machine; `undefined` if the text has errors. */
  readonly machine: Machine | undefined;
  /** What could be made of it in spite of errors, for more findings. */
  readonly draft: Machine | undefined;
  /** What it sees. */
  readonly registry: Registry;
  /** Where it came from. */
  readonly origin: MachineOrigin;
  /** Problems of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** Sentences. */
  readonly warnings: readonly string[];
}

/**
 * Finds and reads a machine.
 *
 * @param reference Source or path, exactly one.
 * @param core The host.
 * @returns The machine, or why there is none.
 */
export async function findTarget(
  reference: MachineReference,
  core: HostCore,
): Promise<Target | Refusal> {
  const { source, path } = reference;
  const problems = referenceProblems(reference);
  if (problems.length > 0) return refuse("invalid-request", problems);
  if (source !== undefined) return await inlineTarget(source, core);
  return await namedTarget(path ?? "", core);
}

async function inlineTarget(source: string, core: HostCore): Promise<Target | Refusal> {
  if (source.length > core.limits.maxSourceChars) {
    return refuse("invalid-request", [
      `"source" has ${source.length} characters, over ${core.limits.maxSourceChars}`,
    ]);
  }
  const origin = { path: INLINE_PATH, file: undefined, source };
  return await readTarget(origin, { core, see: (registries) => registries.base() });
}

async function namedTarget(path: string, core: HostCore): Promise<Target | Refusal> {
  const registries = await core.registries();
  const place = await confineMachine(path, {
    host: core.options,
    machineDirectories: registries.directories,
    realDirectory: registries.realDirectory,
  });
  if (place.kind === "file") return await fileTarget(path, place.path, core);
  const base = await registries.base();
  const found = base.find(path);
  if (found !== undefined) {
    const { machine } = found;
    const origin = { path, file: undefined, source: machine.source };
    return {
      kind: "found",
      machine,
      draft: machine,
      registry: base,
      origin,
      diagnostics: [],
      warnings: [],
    };
  }
  const shown = Array.from(path).slice(0, 200).join("");
  if (core.options.door !== "mcp") {
    const inside = await machinesIn(path, core);
    if (inside !== undefined) {
      return refuse("prepare-failed", [`'${shown}' is a directory: ${inside}`]);
    }
  }
  // The same words whether or not a file is there that the door may not read.
  const hint = core.options.door === "mcp" && /[\\/]|\.mkl?$/.test(path)
    ? '; over MCP a file counts only in the workspace, a directory of machines or a project: give "source", ' +
      "or start Kit with --workspace DIR"
    : "";
  return refuse("prepare-failed", [
    `no such file or bundled machine: '${shown}' (bundled: [${base.names().join(", ")}])${hint}`,
  ]);
}

/** What can be named instead of a directory, as a clause; `undefined` if it is none. */
async function machinesIn(path: string, core: HostCore): Promise<string | undefined> {
  const { files } = core.options.ports;
  const status = await files.stat(path).catch(() => undefined);
  if (status?.kind !== "directory") return undefined;
  const entries = await files.list(path).catch(() => []);
  const found = entries.filter(({ kind, name }) => kind === "file" && /\.mkl?$/.test(name));
  if (found.length === 0) return "name a file; no *.mk lies in it";
  const named = found.slice(0, MAX_NAMED).map(({ name }) => joinPath(path, name));
  return `name the files in it: ${[...named, ...found.length > MAX_NAMED ? ["…"] : []].join(" ")}`;
}

async function fileTarget(
  given: string,
  file: string,
  core: HostCore,
): Promise<Target | Refusal> {
  let source: string;
  try {
    const bytes = await core.options.ports.files.read(file, { maxBytes: MAX_MACHINE_BYTES + 1 });
    if (bytes.length > MAX_MACHINE_BYTES) {
      return refuse("prepare-failed", [`"${given}" is over ${MAX_MACHINE_BYTES} bytes`]);
    }
    source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof FileError) && !(error instanceof TypeError)) throw error;
    const why = error instanceof FileError ? error.failure : "it is not UTF-8";
    return refuse("prepare-failed", [`Cannot read "${given}": ${why}`]);
  }
  return await readTarget({ path: given, file, source }, {
    core,
    see: (registries, name) => registries.forFile({ path: file, name }),
  });
}

async function readTarget(
  origin: MachineOrigin,
  { core, see }: {
    readonly core: HostCore;
    readonly see: (registries: Registries, name: string | undefined) => Promise<LayeredRegistry>;
  },
): Promise<Target> {
  const { machine, draft, diagnostics } = await (await core.machines()).read(
    origin.source,
    "enforced",
  );
  const seen = machine ?? draft;
  const registries = await core.registries();
  const layered = callsOthers(seen) ? await see(registries, seen?.name) : undefined;
  const base = layered ?? registries.bundled;
  return {
    kind: "found",
    machine,
    draft: seen,
    registry: seen === undefined ? base : withTarget(seen, base),
    origin,
    diagnostics,
    warnings: (layered?.shadowed ?? []).map(shadowWarning),
  };
}

/**
 * Says that a machine takes the place of a bundled one.
 *
 * @param name Of both.
 * @returns The sentence, in the words of the language.
 */
export function shadowWarning(name: string): string {
  return `machine '${name}' shadows the bundled stdlib machine`;
}

/** Whether a machine asks for others by name: only then those beside it are read. */
function callsOthers(machine: Machine | undefined): boolean {
  return [...machine?.states.values() ?? []].some(({ kind }) => kind === "call");
}
