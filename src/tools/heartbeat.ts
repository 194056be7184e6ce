/**
 * Tells a client how far a call is: when something is finished, and at least every ten seconds in between, because
 * hosts cut off calls that say nothing.
 *
 * @module
 */
import type { ToolContext } from "../mcp/mod.ts";
import type { Clock } from "../ports/mod.ts";

/** Longest pause between two reports, in milliseconds. */
const HEARTBEAT_MS = 10_000;

/** Tells how far a call is. */
export interface Heartbeat {
  /** Something is finished: so many of so many. */
  done(count: number, total: number): void;
}

/** How a heart beats. */
export interface HeartbeatOptions {
  /** Takes the reports. */
  readonly context: ToolContext;
  /** Time. */
  readonly clock: Clock;
  /** What is counted: `sample`. */
  readonly what: string;
  /** How many there will be, or at most. */
  readonly total: number;
  /** Whether `total` is only a bound. */
  readonly atMost?: boolean;
}

/**
 * Runs work with a heart that beats until it is over.
 *
 * @param options What is counted.
 * @param work The work; it is given what takes its progress.
 * @returns What the work gave.
 */
export async function withHeartbeat<T>(
  options: HeartbeatOptions,
  work: (heartbeat: Heartbeat) => Promise<T>,
): Promise<T> {
  const { context, what, clock } = options;
  if (!context.wantsProgress) return await work(SILENT);
  const over = new AbortController();
  const of = options.atMost === true ? "of at most" : "of";
  let finished = 0;
  let beats = 0;
  const beating = beat(clock, over.signal, (seconds) => {
    beats++;
    const next = Math.min(finished + 1, options.total);
    context.progress({
      // Between two whole numbers, and rising with every beat.
      progress: finished + 1 - 1 / (1 + beats),
      total: options.total,
      message: `waiting for ${what} ${next} ${of} ${options.total} · ${seconds} s`,
    });
  });
  try {
    return await work({
      done(count, total): void {
        if (count <= finished) return;
        finished = count;
        beats = 0;
        context.progress({ progress: count, total, message: `${what} ${count} ${of} ${total}` });
      },
    });
  } finally {
    over.abort();
    await beating;
  }
}

/** Where nobody listens nothing is written, and no timer runs. */
const SILENT: Heartbeat = { done: () => {} };

async function beat(
  clock: Clock,
  signal: AbortSignal,
  tell: (seconds: number) => void,
): Promise<void> {
  const started = clock.monotonic();
  try {
    while (!signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, { signal });
      tell(Math.round((clock.monotonic() - started) / 1000));
    }
  } catch {
    // The work is over: that is what the signal says.
  }
}
