/**
 * The program: the MCP server when it is started without words or with `mcp`, else the command line.
 *
 * Before the first answer nothing is loaded that the answer does not need (README.md of `src/mcp`, "What waits for the
 * first answer"): here files are imported where everywhere else rooms are, and what may wait is no literal in `import()`.
 *
 * @module
 */
import type { PairedServer } from "./src/cli/mod.ts";
import type { Host, SuspensionStore } from "./src/host/mod.ts";
import type { ServerFlags, ServerInfo, ServerPorts, Tool } from "./src/mcp/mod.ts";
import { serve } from "./src/mcp/serve.ts";
import type { DrainableLog, EndSignal, Process, Stdio } from "./src/platform/mod.ts";
import { openProcess, SIGNAL_EXIT_CODES } from "./src/platform/process.ts";
import type { LogLevel, Ports } from "./src/ports/mod.ts";
import type { ToolOptions } from "./src/tools/mod.ts";

const CLI: string = "./src/cli/mod.ts";
const HOST: string = "./src/host/mod.ts";
const JSONRPC: string = "./src/jsonrpc/mod.ts";
const MCP: string = "./src/mcp/mod.ts";
const PLATFORM: string = "./src/platform/mod.ts";
const PORTS: string = "./src/ports/mod.ts";
const STORES: string = "./src/stores/mod.ts";
const TOOLS: string = "./src/tools/mod.ts";

/** The program's version; that of `deno.json`, which a test compares, since to read the file costs a start 0.3 ms. */
export const VERSION: string = "0.1.0";

/** How long the end may take once a signal came. */
const END_MS = 400;
/** How long log lines may take to leave at the end. */
const LOG_MS = 100;
/** Exit code for a command line that cannot be used. */
const USAGE = 2;
/** Length of the key that signs states in the demonstration. */
const STATE_KEY_BYTES = 32;
const LOG_LEVELS: readonly LogLevel[] = ["error", "warning", "info", "debug"];
/** Flags that stand for a command. */
const COMMAND_FLAGS: ReadonlySet<string> = new Set(["--help", "--version"]);
/** Flags whose values name tools, so that a mistake in them is told at once. */
const TOOL_FLAGS = ["tools", "tool-prefix"] as const;

/** Who the server says it is. */
export const INFO: ServerInfo = {
  name: "kit",
  title: "Kit",
  version: VERSION,
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
  /** Gives the tools when they are first needed. */
  readonly tools: (ports: Ports) => Promise<readonly Tool[]>;
  /** Gives the key of states that travel through a client. */
  readonly stateKey: (ports: Ports) => Promise<Uint8Array<ArrayBuffer>>;
  /** The longest line that is read, in bytes. */
  readonly maxLineBytes?: number;
  /** Ends what the tools began. */
  readonly close?: () => Promise<void>;
}

/**
 * Serves MCP on the standard streams until the client is gone or the system ends the process, and ends the process.
 *
 * @param options What is served.
 */
export async function serveStdio(options: StdioServerOptions): Promise<never> {
  return await new Program().serve(options);
}

/** Runs the program and ends the process. */
export async function main(): Promise<never> {
  const program = new Program();
  return await program.run();
}

/** This process with its streams; everything else is opened when it is first needed. */
class Program {
  readonly #process: Process = openProcess();
  readonly #stdio: Stdio = this.#process.stdio;
  #opening: Promise<Ports> | undefined;
  #log: DrainableLog | undefined;

  async run(): Promise<never> {
    const { args } = this.#process;
    const [word] = args;
    if (word === undefined) {
      return this.#stdio.inputIsTerminal ? await this.#command() : await this.#server(new Map());
    }
    const isServer = word === "mcp" || (word.startsWith("--") && !COMMAND_FLAGS.has(word));
    if (!isServer) return await this.#command();
    if (this.#stdio.inputIsTerminal) {
      await this.#say("warning", "Waiting for an MCP client on standard input; try: kit help");
    }
    const { parseServerFlags }: typeof import("./src/mcp/mod.ts") = await import(MCP);
    try {
      return await this.#server(parseServerFlags(word === "mcp" ? args.slice(1) : args));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      await this.#say("error", error.message);
      return await this.#exit(USAGE);
    }
  }

  async #server(flags: ServerFlags): Promise<never> {
    const opening = openTools(flags);
    const isNamed = TOOL_FLAGS.some((flag) => flags.has(flag));
    if (isNamed) await opening.tools(await this.ports());
    const maxLineBytes = flags.size === 0 ? undefined : await messageCap(flags);
    return await this.serve({
      info: isNamed ? { ...INFO, instructions: await instructionsFor(flags) } : INFO,
      tools: opening.tools,
      stateKey,
      close: opening.close,
      ...optional("maxLineBytes", maxLineBytes),
    });
  }

  async serve(options: StdioServerOptions): Promise<never> {
    const stdio = this.#stdio;
    const stop = Promise.withResolvers<void>();
    let exitCode = 0;
    let isWatched = false;
    const watch = (): void => {
      if (isWatched) return;
      isWatched = true;
      this.#watch((code) => {
        exitCode = code;
        stop.resolve();
      });
    };
    const serving = serve({
      info: options.info,
      // From the first tool on there is something to give up in order.
      tools: async () => {
        watch();
        return await options.tools(await this.ports());
      },
      ports: (): Promise<ServerPorts> => this.ports(),
      stateKey: async () => await options.stateKey(await this.ports()),
      ...optional("maxLineBytes", options.maxLineBytes),
      read: () => stdio.read(),
      write: (bytes) => stdio.write(bytes),
      stopped: stop.promise,
      onStarted: watch,
    });
    const closed = serving.then(async () => {
      if (options.close === undefined || this.#opening === undefined) return;
      await Promise.race([options.close(), this.#pause(END_MS)]);
    });
    // Whoever was told to end ends, whatever does not.
    await Promise.race([closed, stop.promise.then(() => this.#pause(END_MS))]);
    return await this.#exit(exitCode);
  }

  #watch(end: (exitCode: number) => void): void {
    this.#process.onEndSignal((signal: EndSignal) => end(SIGNAL_EXIT_CODES[signal]));
    this.#process.onParentGone(() => end(0));
  }

  async #command(): Promise<never> {
    const ports = await this.ports({ isServer: false });
    const stop = new AbortController();
    this.#process.onEndSignal((signal) => stop.abort(signal));
    const { runCli }: typeof import("./src/cli/mod.ts") = await import(CLI);
    const stdio = this.#stdio;
    const exitCode = await runCli(this.#process.args, {
      version: VERSION,
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
    return await this.#exit(exitCode);
  }

  /** Opens the ports, and what guards stdout and the log from code that is not ours, before any of it is loaded. */
  ports(options: { readonly isServer: boolean } = { isServer: true }): Promise<Ports> {
    return this.#opening ??= this.#openPorts(options);
  }

  async #openPorts(options: { readonly isServer: boolean }): Promise<Ports> {
    const platform: typeof import("./src/platform/mod.ts") = await import(PLATFORM);
    const { setAmbientPorts }: typeof import("./src/ports/mod.ts") = await import(PORTS);
    const log = platform.createLog({
      write: (bytes) => this.#stdio.writeError(bytes),
      level: logLevel(this.#process.args, platform.createEnv()),
    });
    const ports = platform.createPorts({ log });
    if (options.isServer) {
      platform.rebindConsole(log);
      this.#process.onUncaught((reason) => log.write("error", `Nobody caught: ${causeOf(reason)}`));
    }
    setAmbientPorts(ports);
    this.#log = log;
    return ports;
  }

  async #say(level: LogLevel, message: string): Promise<void> {
    const { log } = await this.ports();
    log.write(level, message);
  }

  async #pause(ms: number): Promise<void> {
    const { clock } = await this.ports();
    await clock.sleep(ms);
  }

  async #exit(exitCode: number): Promise<never> {
    if (this.#log?.isBusy === true) {
      await Promise.race([this.#log.drained(), this.#pause(LOG_MS)]);
    }
    return this.#process.exit(exitCode);
  }
}

async function messageCap(flags: ServerFlags): Promise<number | undefined> {
  const { countFlag }: typeof import("./src/mcp/mod.ts") = await import(MCP);
  return countFlag(flags, "max-message-bytes");
}

function causeOf(reason: unknown): string {
  return reason instanceof Error ? reason.stack ?? reason.message : String(reason);
}

interface Opening {
  readonly tools: (ports: Ports) => Promise<readonly Tool[]>;
  readonly close: () => Promise<void>;
}

function openTools(flags: ServerFlags): Opening {
  let opened: Promise<{ readonly host: Host; readonly tools: readonly Tool[] }> | undefined;
  return {
    tools: async (ports) => (await (opened ??= createTools(ports, flags))).tools,
    close: async () => {
      if (opened !== undefined) await (await opened).host.close();
    },
  };
}

async function createTools(
  ports: Ports,
  flags: ServerFlags,
): Promise<{ readonly host: Host; readonly tools: readonly Tool[] }> {
  const { createHost }: typeof import("./src/host/mod.ts") = await import(HOST);
  const { createTools }: typeof import("./src/tools/mod.ts") = await import(TOOLS);
  const location = flags.get("store") ?? ports.env.get("KIT_STORE");
  const host = createHost({
    ports,
    door: "mcp",
    version: VERSION,
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
  return { host, tools: createTools(host, toolOptions(flags)) };
}

function toolOptions(flags: ServerFlags): ToolOptions {
  const only = flags.get("tools")?.split(",").map((name) => name.trim());
  return { ...optional("only", only), ...optional("prefix", flags.get("tool-prefix")) };
}

/** What {@linkcode INFO} says, of the tools that are served and under their names. */
async function instructionsFor(flags: ServerFlags): Promise<string> {
  const { toolInstructions }: typeof import("./src/tools/mod.ts") = await import(TOOLS);
  return toolInstructions(toolOptions(flags));
}

async function openStore(ports: Ports, location: string): Promise<SuspensionStore> {
  const { openStore }: typeof import("./src/stores/mod.ts") = await import(STORES);
  return await openStore(location, {
    ports,
    ...optional("key", ports.env.get("KIT_STORE_KEY")),
    ...optional("proofKey", ports.env.get("KIT_STATE_KEY")),
  });
}

async function stateKey(ports: Ports): Promise<Uint8Array<ArrayBuffer>> {
  const { loadStateKey, stateDirectory }: typeof import("./src/mcp/mod.ts") = await import(MCP);
  const secret = ports.env.get("KIT_STATE_KEY");
  return await loadStateKey(ports, {
    secret: secret === "" ? undefined : secret,
    directory: stateDirectory(ports),
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
  const opening = openTools(new Map([["provider", "scripted"]]));
  const serving = serve({
    info: INFO,
    ports: () => Promise.resolve(ports),
    tools: () => opening.tools(ports),
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
  const { readLines }: typeof import("./src/jsonrpc/mod.ts") = await import(JSONRPC);
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
