/** Runs commands in process, with doubles for the outside. */
import { type CliContext, runCli } from "../../src/cli/mod.ts";
import type { Ports } from "../../src/ports/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";
import { MemoryFiles } from "./memory_files.ts";

/** What a command line came to. */
export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command line runs. */
export interface CliSurroundings extends Partial<Omit<CliContext, "ports" | "stdio">> {
  readonly ports?: Partial<Ports>;
  readonly files?: MemoryFiles;
  readonly variables?: Readonly<Record<string, string>>;
  readonly terminal?: "none" | "both";
}

/** Runs a command line. */
export async function cli(args: string[], around: CliSurroundings = {}): Promise<CliOutcome> {
  const { ports, files = new MemoryFiles(), variables = {}, terminal = "none", ...rest } = around;
  let stdout = "";
  let stderr = "";
  const code = await runCli(args, {
    version: "9.9.9",
    ...rest,
    ports: {
      ...manualPorts(),
      fetch: () => Promise.reject(new TypeError("no network in unit tests")),
      files,
      env: { get: (name) => variables[name] },
      log: { write: (level, message) => void (stderr += `${level}: ${message}\n`) },
      system: { os: "linux", home: "/home/ann" },
      ...ports,
    },
    stdio: {
      write: (text) => void (stdout += text),
      writeError: (text) => void (stderr += text),
      stdoutIsTerminal: terminal === "both",
      stderrIsTerminal: terminal === "both",
    },
  });
  return { code, stdout, stderr };
}
