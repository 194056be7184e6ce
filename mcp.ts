/**
 * The program: the MCP server when it is started without words or with `mcp`, else the command line.
 *
 * Before the first answer nothing is loaded that the answer does not need, and nothing is waited for (README.md of
 * `src/mcp`, "What waits for the first answer").
 *
 * @module
 */
import deno from "./deno.json" with { type: "json" };
import type { PairedServer } from "./src/cli/mod.ts";
import type { Host, SuspensionStore } from "./src/host/mod.ts";
import { readLines } from "./src/jsonrpc/mod.ts";
import {
  countFlag,
  loadStateKey,
  parseServerFlags,
  serve,
  type ServerFlags,
  type ServerInfo,
  stateDirectory,
  type Tool,
} from "./src/mcp/mod.ts";
import {
  createEnv,
  createLog,
  createPorts,
  type DrainableLog,
  type EndSignal,
  openProcess,
  openStdio,
  type Process,
  rebindConsole,
  SIGNAL_EXIT_CODES,
  type Stdio,
} from "./src/platform/mod.ts";
import { type LogLevel, type Ports, setAmbientPorts } from "./src/ports/mod.ts";

/** How long the end may take once a signal came. */
const END_MS = 400;
/** How long log lines may take to leave at the end. */
const LOG_MS = 100;
/** Exit code for a command line that cannot be used. */
const USAGE = 2;
/** Length of the key that signs states in the demonstration. */
const STATE_KEY_BYTES = 32;
const LOG_LEVELS: readonly LogLevel[] = ["error", "warning", "info", "debug"];
/** Flags whose values name tools, so that a mistake in them is told at once. */
const TOOL_FLAGS = ["tools", "tool-prefix"] as const;

/** Who the server says it is. */
export const INFO: ServerInfo = {
  name: "kit",
  title: "Kit",
  version: deno.version,
  description: "Votes, tool loops and state machines with provenance, for agent hosts",
  instructions:
    "consensus asks a model several times and votes; react_loop lets it use a calculator; " +
    "run executes a machine (check and list_machines help to find and write one) and may suspend " +
    "for a person, then resume continues it with the handle.",
};

/** What a server offers on the standard streams. */
export interface StdioServerOptions {
  /** Who it says it is. */
  readonly info: ServerInfo;
  /** The ports. */
  readonly ports: Ports;
  /** The standard streams. */
  readonly stdio: Stdio;
  /** This process. */
  readonly process: Process;
  /** Gives the tools when they are first needed. */
  readonly tools: () => Promise<readonly Tool[]>;
  /** Gives the key of states that travel through a client. */
  readonly stateKey: () => Promise<Uint8Array<ArrayBuffer>>;
  /** The longest line that is read, in bytes. */
  readonly maxLineBytes?: number;
  /** Ends what the tools began. */
  readonly close?: () => Promise<void>;
}

/**
 * Serves MCP on the standard streams until the client is gone or the system ends the process.
 *
 * @param options What is served.
 * @returns The exit code.
 */
export async function serveStdio(options: StdioServerOptions): Promise<number> {
  const { process, ports, stdio } = options;
  const stop = new AbortController();
  let exitCode = 0;
  function end(signal: EndSignal): void {
    exitCode = SIGNAL_EXIT_CODES[signal];
    stop.abort();
  }
  process.onUncaught((reason) => {
    const cause = reason instanceof Error ? reason.stack ?? reason.message : String(reason);
    ports.log.write("error", `Nobody caught: ${cause}`);
  });
  const serving = serve({
    ...options,
    read: () => stdio.read(),
    write: (bytes) => stdio.write(bytes),
    signal: stop.signal,
    onStarted: () => {
      process.onEndSignal(end);
      process.onParentGone(() => stop.abort());
    },
  });
  // Whoever was told to end ends, whatever does not.
  const late = aborted(stop.signal).then(() => ports.clock.sleep(END_MS));
  await Promise.race([serving, late]);
  if (options.close !== undefined) {
    await Promise.race([options.close(), ports.clock.sleep(END_MS)]);
  }
  return exitCode;
}

function aborted(signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  return over.promise;
}

/** Runs the program and ends the process. */
export async function main(): Promise<never> {
  const process = openProcess();
  const stdio = openStdio();
  const log = createLog({
    write: (bytes) => stdio.writeError(bytes),
    level: logLevel(process.args, createEnv()),
  });
  const ports = createPorts({ log });
  setAmbientPorts(ports);
  const program = { process, stdio, log, ports };
  const [word] = process.args;
  const isServer = word === "mcp" || (word === undefined && !stdio.inputIsTerminal) ||
    (word?.startsWith("--") === true && !COMMAND_FLAGS.has(word));
  const exitCode = isServer ? await runServer(program) : await runCommand(program);
  if (log.isBusy) await Promise.race([log.drained(), ports.clock.sleep(LOG_MS)]);
  return process.exit(exitCode);
}

/** Flags that stand for a command. */
const COMMAND_FLAGS: ReadonlySet<string> = new Set(["--help", "--version"]);

interface Program {
  readonly process: Process;
  readonly stdio: Stdio;
  readonly log: DrainableLog;
  readonly ports: Ports;
}

async function runServer(program: Program): Promise<number> {
  const { process, stdio, ports, log } = program;
  rebindConsole(log);
  let flags: ServerFlags;
  let maxLineBytes: number | undefined;
  try {
    flags = parseServerFlags(process.args.filter((word, at) => at > 0 || word !== "mcp"));
    maxLineBytes = countFlag(flags, "max-message-bytes");
  } catch (error) {
    log.write("error", error instanceof Error ? error.message : String(error));
    return USAGE;
  }
  if (stdio.inputIsTerminal) {
    log.write(
      "warning",
      "Waiting for an MCP client on standard input; kit help shows the commands",
    );
  }
  const opening = openTools(ports, flags);
  if (TOOL_FLAGS.some((flag) => flags.has(flag))) {
    const problem = await opening.tools().then(() => undefined, (error) => error);
    if (problem !== undefined) {
      log.write("error", problem instanceof Error ? problem.message : String(problem));
      return USAGE;
    }
  }
  return await serveStdio({
    info: INFO,
    ports,
    stdio,
    process,
    tools: opening.tools,
    stateKey: () => stateKey(ports),
    close: opening.close,
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
  });
}

interface Opening {
  readonly tools: () => Promise<readonly Tool[]>;
  readonly close: () => Promise<void>;
}

function openTools(ports: Ports, flags: ServerFlags): Opening {
  let opened: Promise<{ readonly host: Host; readonly tools: readonly Tool[] }> | undefined;
  return {
    tools: async () => (await (opened ??= createTools(ports, flags))).tools,
    close: async () => {
      if (opened !== undefined) await (await opened).host.close();
    },
  };
}

async function createTools(
  ports: Ports,
  flags: ServerFlags,
): Promise<{ readonly host: Host; readonly tools: readonly Tool[] }> {
  const [{ createHost }, { createTools }] = await Promise.all([
    import("./src/host/mod.ts"),
    import("./src/tools/mod.ts"),
  ]);
  const location = flags.get("store") ?? ports.env.get("KIT_STORE");
  const host = createHost({
    ports,
    door: "mcp",
    version: deno.version,
    ...optional("configPath", flags.get("config")),
    ...optional("provider", flags.get("provider")),
    ...optional("scriptPath", flags.get("script")),
    ...optional("workspace", flags.get("workspace")),
    ...optional("checkpointDirectory", flags.get("checkpoint-dir")),
    ...(flags.has("allow-write") ? { allowWrite: true } : {}),
    ...(location === undefined || location === ""
      ? {}
      : { openStore: () => openStore(ports, location) }),
  });
  const only = flags.get("tools")?.split(",").map((name) => name.trim());
  const tools = createTools(host, {
    ...optional("only", only),
    ...optional("prefix", flags.get("tool-prefix")),
  });
  return { host, tools };
}

async function openStore(ports: Ports, location: string): Promise<SuspensionStore> {
  const { openStore } = await import("./src/stores/mod.ts");
  const key = ports.env.get("KIT_STORE_KEY");
  return await openStore(location, { ports, ...optional("key", key === "" ? undefined : key) });
}

async function stateKey(ports: Ports): Promise<Uint8Array<ArrayBuffer>> {
  const secret = ports.env.get("KIT_STATE_KEY");
  return await loadStateKey(ports, {
    secret: secret === "" ? undefined : secret,
    directory: stateDirectory(ports),
  });
}

async function runCommand(program: Program): Promise<number> {
  const { process, stdio, ports } = program;
  const stop = new AbortController();
  process.onEndSignal((signal) => stop.abort(signal));
  const { runCli } = await import("./src/cli/mod.ts");
  return await runCli(process.args, {
    version: deno.version,
    ports,
    stdio: {
      write: (text) => writeText(stdio.write, text),
      writeError: (text) => writeText(stdio.writeError, text),
      stdoutIsTerminal: stdio.outputIsTerminal,
      stderrIsTerminal: stdio.errorIsTerminal,
      ...optional("columns", stdio.columns),
    },
    signal: stop.signal,
    openServer: () => openPairedServer(ports),
    openStore: (location) => openStore(ports, location),
  });
}

async function writeText(write: Stdio["write"], text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += await write(bytes.subarray(written));
}

/** A server in this process with the offline provider, for a client in this process. */
function openPairedServer(ports: Ports): PairedServer {
  const input = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const output = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const reader = input.readable.getReader();
  const toServer = input.writable.getWriter();
  const toClient = output.writable.getWriter();
  const opening = openTools(ports, new Map([["provider", "scripted"]]));
  const serving = serve({
    info: INFO,
    ports,
    tools: opening.tools,
    stateKey: () => Promise.resolve(ports.random.bytes(STATE_KEY_BYTES)),
    read: async () => (await reader.read()).value,
    write: async (bytes) => {
      await toClient.write(bytes.slice());
      return bytes.length;
    },
  });
  const ended = serving.then(async () => {
    await toClient.close();
    await opening.close();
  });
  return {
    send: (line) => toServer.write(new TextEncoder().encode(`${line}\n`)),
    lines: textLines(output.readable),
    close: async () => {
      await toServer.close();
      await ended;
    },
  };
}

async function* textLines(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = bytes.getReader();
  for await (const lines of readLines(async () => (await reader.read()).value)) {
    for (const line of lines) if (typeof line === "string") yield line;
  }
}

function logLevel(args: readonly string[], env: Ports["env"]): LogLevel {
  const at = args.findIndex((word) => word === "--log-level" || word.startsWith("--log-level="));
  const flag = at === -1 ? undefined : args[at]?.split("=")[1] ?? args[at + 1];
  const wanted = flag ?? env.get("KIT_LOG_LEVEL");
  return LOG_LEVELS.find((level) => level === wanted) ?? "warning";
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  const found: Partial<Record<Key, Value>> = {};
  if (value !== undefined) found[key] = value;
  return found;
}

if (import.meta.main) await main();
