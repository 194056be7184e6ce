/**
 * The tools that machines find at every door, with the backends that operator and environment chose.
 *
 * @module
 */
import type { HostTool } from "../../machine/mod.ts";
import type { ToolsConfig } from "../config/config.ts";
import { kitVariable } from "../config/directories.ts";
import type { BackendReport } from "../config/outcome.ts";
import type { Secrets } from "../config/secrets.ts";
import type { HostOptions } from "../options.ts";
import { normalizePath } from "../paths.ts";
import { openWorkspace, type Workspace } from "../workspace.ts";
import { calcTool } from "./calc.ts";
import { fileTools } from "./files.ts";
import { searchTool } from "./search.ts";
import { searchKbTool } from "./search_kb.ts";
import { sendReplyTool } from "./send_reply.ts";

/** What the tools are made from. */
export interface HostToolOptions {
  /** What the host is made from. */
  readonly host: HostOptions;
  /** What the config says of tools. */
  readonly config: ToolsConfig;
  /** Where keys are looked up. */
  readonly secrets: Secrets;
}

/** Which backend a tool uses, and who chose it. */
export type Backends = Readonly<Record<"search" | "kb" | "mail" | "fs", BackendReport>>;

const KNOWN_BACKENDS: Readonly<Record<keyof Backends, readonly string[]>> = {
  search: ["stub", "fake", "tavily"],
  kb: ["stub", "fake"],
  mail: ["stub", "fake"],
  fs: ["stub", "local"],
};

/**
 * Makes the tools.
 *
 * @param options Configuration and keys.
 * @returns The tools by name.
 */
export function hostTools(options: HostToolOptions): ReadonlyMap<string, HostTool> {
  const { ports } = options.host;
  const backends = chooseBackends(options);
  const tools = new Map<string, HostTool>([
    ["calc", calcTool()],
    [
      "search",
      searchTool({
        backend: backends.search.backend,
        key: options.secrets.get("TAVILY_API_KEY"),
        ports,
      }),
    ],
    ["search_kb", searchKbTool()],
    ["send_reply", sendReplyTool({ backend: backends.mail.backend })],
  ]);
  const files = fileTools({
    workspace: workspaceOpener(options, backends.fs.backend),
    allowWrite: mayWrite(options),
    files: ports.files,
  });
  for (const [name, tool] of files) tools.set(name, tool);
  return tools;
}

/**
 * Chooses the backend of every tool: environment, then config, then the default. Unknown names mean the stub.
 *
 * @param options Configuration and keys.
 * @returns The choices.
 */
export function chooseBackends({ host, config, secrets }: HostToolOptions): Backends {
  const { env } = host.ports;
  const choose = (tool: keyof Backends, usual: string): BackendReport => {
    const fromEnv = kitVariable(env, `${tool.toUpperCase()}_BACKEND`);
    const fromConfig = config[tool];
    const backend = known(tool, fromEnv ?? fromConfig ?? usual);
    const source = fromEnv !== undefined ? "env" : fromConfig !== undefined ? "config" : "default";
    return { tool, backend, source };
  };
  const tavily = secrets.get("TAVILY_API_KEY") !== undefined;
  return {
    search: choose("search", tavily ? "tavily" : "stub"),
    kb: choose("kb", "stub"),
    mail: choose("mail", "stub"),
    fs: choose("fs", "local"),
  };
}

/**
 * Tells whether file tools may write: `--allow-write`, then `KIT_FS_WRITE`, then the config, else not.
 *
 * @param options Configuration.
 * @returns Whether they may.
 */
export function mayWrite({ host, config }: Pick<HostToolOptions, "host" | "config">): boolean {
  if (host.allowWrite !== undefined) return host.allowWrite;
  const variable = kitVariable(host.ports.env, "FS_WRITE");
  if (variable !== undefined) return ["1", "true", "yes", "on"].includes(variable.toLowerCase());
  return config.write ?? false;
}

function known(tool: keyof Backends, backend: string): string {
  return KNOWN_BACKENDS[tool].includes(backend) ? backend : "stub";
}

function workspaceOpener(
  options: HostToolOptions,
  backend: string,
): () => Promise<Workspace | string> {
  let opened: Promise<Workspace | string> | undefined;
  return () => opened ??= backend === "local" ? open(options) : Promise.resolve(OFFLINE);
}

const OFFLINE = "no files are bound: set KIT_FS_BACKEND=local";
const NO_WORKSPACE =
  "no workspace is configured: start Kit with --workspace DIR, or set KIT_FS_ROOT";

/**
 * The directory that an operator gave to file tools: `--workspace`, then `KIT_FS_ROOT`, then the config.
 *
 * @param options Configuration.
 * @returns The directory as it was written, or `undefined` if none was.
 */
export function workspaceRoot(
  { host, config }: Pick<HostToolOptions, "host" | "config">,
): string | undefined {
  return host.workspace ?? kitVariable(host.ports.env, "FS_ROOT") ?? config.workspace;
}

/**
 * Opens the directory of file tools.
 *
 * @param root The directory.
 * @param ports Files and system.
 * @returns The workspace, or a sentence that says why there is none.
 */
export async function openRoot(
  root: string,
  ports: HostOptions["ports"],
): Promise<Workspace | string> {
  const workspace = await openWorkspace(root, ports).catch(() => undefined);
  return workspace ?? `workspace "${root}" is not a directory that can be read`;
}

async function open({ host, config }: HostToolOptions): Promise<Workspace | string> {
  const { files, system } = host.ports;
  const named = workspaceRoot({ host, config });
  if (named === undefined && host.door !== "cli") return NO_WORKSPACE;
  const root = named ?? await files.currentDirectory().catch(() => undefined);
  if (root === undefined) return NO_WORKSPACE;
  const workspace = await openRoot(root, host.ports);
  if (typeof workspace === "string") return workspace;
  const home = system.home === undefined ? undefined : normalizePath(system.home);
  const wide = workspace.root === "/" || /^[A-Za-z]:\/?$/.test(workspace.root) ||
    workspace.root === home;
  return named === undefined && wide ? NO_WORKSPACE : workspace;
}
