/**
 * `kit init`.
 *
 * @module
 */
import { machineSchema } from "../../machine/mod.ts";
import { FileError, type Files } from "../../ports/mod.ts";
import { UsageError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import { type Envelope, printEnvelope } from "../envelope.ts";
import { EXIT } from "../exit_codes.ts";
import {
  CONFIGURATION,
  CONFIGURATION_SCHEMA,
  ENVIRONMENT,
  HELLO_MACHINE,
  HELLO_TESTS,
} from "../init_files.ts";
import { openHost } from "../open_host.ts";
import { printable } from "../output.ts";

interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

interface Item {
  readonly name: string;
  readonly status: "ok" | "exists";
  readonly [key: string]: unknown;
}

const READABLE = 0o644;
const PRIVATE = 0o600;

/**
 * Writes a first machine, its tests and a configuration. Nothing is overwritten; what this call made is taken away
 * again if a part of it fails.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { context, format, out } = invocation;
  const places = await directories(invocation);
  const items = await write(context.ports.files, newFiles(places));
  const created = items.filter(({ status }) => status === "ok").length;
  const envelope: Envelope = {
    command: "init",
    ok: true,
    items,
    diagnostics: [],
    summary: { created, unchanged: items.length - created },
  };
  if (format === "json") await out.json(envelope);
  else {
    await printEnvelope(envelope, out, ({ name }) => printable(String(name)));
    await out.line(nextSteps(places));
  }
  return EXIT.ok;
}

interface Places {
  readonly config: string;
  readonly machines: string;
}

async function directories(invocation: Invocation): Promise<Places> {
  const { args } = invocation;
  const dir = args.value("dir");
  if (!args.has("user")) {
    const base = dir === undefined || dir === "." ? "" : `${dir.replace(/[/\\]+$/, "")}/`;
    return { config: base, machines: `${base}machines/` };
  }
  if (dir !== undefined) throw new UsageError("--user and --dir exclude each other");
  const host = openHost(invocation);
  try {
    const { directories } = await host.configuration();
    if (directories.config === undefined || directories.data === undefined) {
      throw new UsageError("--user needs a home directory, and none is known: set HOME");
    }
    return { config: `${directories.config}/`, machines: `${directories.data}/machines/` };
  } finally {
    await host.close();
  }
}

function newFiles({ config, machines }: Places): NewFile[] {
  const schema = `${JSON.stringify(CONFIGURATION_SCHEMA, null, 2)}\n`;
  const machine = `${JSON.stringify(machineSchema(), null, 2)}\n`;
  return [
    { path: `${config}kit.jsonc`, text: CONFIGURATION, mode: READABLE },
    { path: `${config}kit.schema.json`, text: schema, mode: READABLE },
    { path: `${config}.env`, text: ENVIRONMENT, mode: PRIVATE },
    { path: `${machines}machine.schema.json`, text: machine, mode: READABLE },
    { path: `${machines}hello.mk`, text: HELLO_MACHINE, mode: READABLE },
    { path: `${machines}hello.test.yaml`, text: HELLO_TESTS, mode: READABLE },
  ];
}

async function write(files: Files, wanted: readonly NewFile[]): Promise<Item[]> {
  const items: Item[] = [];
  const made: string[] = [];
  try {
    for (const file of wanted) {
      for (const directory of await missingParents(files, file.path)) {
        await files.makeDirectory(directory);
        made.push(directory);
        items.push({ name: `${directory}/`, status: "ok" });
      }
      const created = await createFile(files, file);
      if (created) made.push(file.path);
      items.push({ name: file.path, status: created ? "ok" : "exists" });
    }
  } catch (error) {
    for (const path of made.toReversed()) await files.remove(path).catch(() => undefined);
    throw error;
  }
  return items;
}

/** Parents that are not there, the outermost first. */
async function missingParents(files: Files, path: string): Promise<string[]> {
  const missing: string[] = [];
  let cut = path.lastIndexOf("/");
  while (cut > 0) {
    const parent = path.slice(0, cut);
    if (await files.stat(parent) !== undefined) break;
    missing.unshift(parent);
    cut = parent.lastIndexOf("/");
  }
  return missing;
}

async function createFile(files: Files, { path, text, mode }: NewFile): Promise<boolean> {
  if (await files.lstat(path) !== undefined) return false;
  try {
    await files.writeAtomic(path, text, { mode, exclusive: true });
    return true;
  } catch (error) {
    if (error instanceof FileError && error.failure === "exists") return false;
    throw error;
  }
}

function nextSteps({ machines }: Places): string {
  const machine = `${machines}hello.mk`;
  return `
Next:
  kit test ${machine} --script ${machines}hello.test.yaml
  kit run ${machine} --provider scripted --set name=Ann`;
}
