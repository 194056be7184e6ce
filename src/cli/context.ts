/**
 * What a command is handed: the ports, the streams it prints on, and the ways out.
 *
 * @module
 */
import type { SuspensionStore } from "../host/mod.ts";
import type { Ports } from "../ports/mod.ts";

/** The streams of a program, as a command sees them. */
export interface CliStdio {
  /** Writes text to the standard output. */
  write(text: string): Promise<void> | void;
  /** Writes text to the standard error. */
  writeError(text: string): Promise<void> | void;
  /** Whether a person reads the standard output. */
  readonly stdoutIsTerminal: boolean;
  /** Whether a person reads the standard error. */
  readonly stderrIsTerminal: boolean;
  /** Width of the terminal in columns, if there is one; default 80. */
  readonly columns?: number;
}

/** A server in the same process, as a client sees it: lines in, lines out. */
export interface PairedServer {
  /** Hands the server one line, without its line feed. */
  send(line: string): Promise<void> | void;
  /** What the server writes, line by line; ends when the server has ended. */
  readonly lines: AsyncIterable<string>;
  /** Closes the server's input and waits for its end. */
  close(): Promise<void>;
}

/** What {@linkcode runCli} needs beside the arguments. */
export interface CliContext {
  /** The program's version. */
  readonly version: string;
  /** The outside. */
  readonly ports: Ports;
  /** The streams. */
  readonly stdio: CliStdio;
  /** Fires on SIGINT, SIGTERM or SIGHUP, with the signal's name as its reason. */
  readonly signal?: AbortSignal;
  /** Opens an MCP server in this process with the offline provider, for `kit demo`. */
  openServer?(): Promise<PairedServer> | PairedServer;
  /** Opens the store of suspended runs that a location names (`sqlite:PATH`, `postgres://…`), for `kit runs`. */
  openStore?(location: string): Promise<SuspensionStore>;
}
