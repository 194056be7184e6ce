/**
 * Two ends of a connection that never leaves the process.
 *
 * @module
 */

/** One end: what is written here is read at the other. */
export interface StreamEnd {
  /** What the other end wrote. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** What the other end will read. */
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
}

/** How a pair behaves. */
export interface PairedStreamsOptions {
  /** How many chunks may wait unread in each direction before a writer has to wait; default 16. */
  readonly highWaterMark?: number;
}

const DEFAULT_HIGH_WATER_MARK = 16;

/**
 * Makes a connection in memory, to let a client and a server talk in one process.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const { left, right } = pairedStreams();
 * const writer = left.writable.getWriter();
 * await writer.write(new TextEncoder().encode("ping\n"));
 * await writer.close();
 * assertEquals(await new Response(right.readable).text(), "ping\n");
 * ```
 *
 * @param options How it behaves.
 * @returns Both ends.
 */
export function pairedStreams(
  options: PairedStreamsOptions = {},
): { readonly left: StreamEnd; readonly right: StreamEnd } {
  const highWaterMark = options.highWaterMark ?? DEFAULT_HIGH_WATER_MARK;
  const there = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
    undefined,
    { highWaterMark },
    { highWaterMark },
  );
  const back = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
    undefined,
    { highWaterMark },
    { highWaterMark },
  );
  return {
    left: { readable: back.readable, writable: there.writable },
    right: { readable: there.readable, writable: back.writable },
  };
}
