/**
 * A server on a byte stream, from the first byte to the end.
 *
 * @module
 */
import { LineWriter } from "../jsonrpc/line_writer.ts";
import { readLines, type ReadLinesOptions } from "../jsonrpc/read_lines.ts";
import { Server } from "./server.ts";
import type { ServerOptions } from "./server_options.ts";

/** How long calls may take to end after the end of input. */
export const DRAIN_MS = 1_500;
/** How long a client may read nothing of what is still to leave after the end of input. */
export const FLUSH_MS = 5_000;

/** What a server runs on. */
export interface ServeOptions extends Omit<ServerOptions, "writer">, ReadLinesOptions {
  /** Gives the next bytes of the client, or `undefined` at the end. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Takes bytes for the client and tells how many; rejects when it is gone. */
  readonly write: (bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  /** Called once the first answer has left: the time for all that may wait. */
  readonly onStarted?: () => void;
  /** Settles to end the server at once: calls are given up, what is written may leave. */
  readonly stopped?: Promise<void>;
}

/** Why a server ended. */
export type ServeEnd = "input-ended" | "output-broken" | "stopped";

/**
 * Serves one client.
 *
 * @param options What it runs on.
 * @returns Why it ended, when all is written that can be.
 */
export async function serve(options: ServeOptions): Promise<ServeEnd> {
  const writer = new LineWriter({ write: options.write });
  const server = new Server({ ...options, writer });
  if (options.onStarted !== undefined) writer.started.then(options.onStarted);
  const end = await Promise.race([
    pump(server, writer, options).then((): ServeEnd => "input-ended"),
    writer.broken.then((): ServeEnd => "output-broken"),
    ...(options.stopped === undefined ? [] : [options.stopped.then((): ServeEnd => "stopped")]),
  ]);
  server.abort();
  if (end === "stopped") await writer.drained();
  return end;
}

async function pump(server: Server, writer: LineWriter, options: ServeOptions): Promise<void> {
  for await (const lines of readLines(() => readOrEnd(options), options)) {
    for (const line of lines) server.receive(line);
    if (writer.isCongested) await writer.relieved();
  }
  await server.end({ drainMs: DRAIN_MS });
  await flush(writer, options);
}

/** An input that cannot be read has ended. */
async function readOrEnd(options: ServeOptions): Promise<Uint8Array | undefined> {
  try {
    return await options.read();
  } catch (error) {
    const { log } = await options.ports();
    log.write("error", `Cannot read the input: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Waits for a client that still reads, however slowly, and not for one that does not. */
async function flush(writer: LineWriter, options: ServeOptions): Promise<void> {
  while (writer.isBusy) {
    const before = writer.writtenBytes;
    const { clock } = await options.ports();
    using deadline = clock.deadline(FLUSH_MS);
    const over = Promise.withResolvers<void>();
    deadline.signal.addEventListener("abort", () => over.resolve(), { once: true });
    await Promise.race([writer.drained(), over.promise]);
    if (writer.isBusy && writer.writtenBytes === before) return;
  }
}
