/**
 * What a server is made of.
 *
 * @module
 */
import type { LineWriter } from "../jsonrpc/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { ServerInfo } from "./server_info.ts";
import type { Tool } from "./tool.ts";

/** What a server asks of the outside. */
export type ServerPorts = Pick<Ports, "clock" | "random" | "log">;

/** What a server is made of. */
export interface ServerOptions {
  /** Who it says it is. */
  readonly info: ServerInfo;
  /** Gives the tools when they are first needed; the same ones every time. */
  readonly tools: () => Promise<readonly Tool[]>;
  /** The way out. */
  readonly writer: LineWriter;
  /** Gives clock, chance and log when they are first needed; the same ones every time. */
  readonly ports: () => Promise<ServerPorts>;
  /** Gives the key of states that travel through a client, at least 32 bytes, when it is first needed. */
  readonly stateKey: () => Promise<Uint8Array<ArrayBuffer>>;
}
