/**
 * Progress of one call: strictly rising, not too often, and never silent for long.
 *
 * @module
 */
import type { Clock } from "../ports/mod.ts";
import type { Progress } from "./tool.ts";

/** How long two reports of one call are apart at least. */
export const PROGRESS_INTERVAL_MS = 100;
/** After how much silence a call says that it still works; looked at this often, so that ten seconds never pass. */
export const HEARTBEAT_MS = 5_000;
/** By how much a report rises that brings no higher number of its own. */
const SMALL_STEP = 0.001;
/** How long a message may be. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** What a reporter needs. */
export interface ProgressReporterOptions {
  /** For intervals. */
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  /** Takes what is to be sent. */
  readonly send: (progress: Progress) => void;
}

/** Sends the progress of one call on. */
export class ProgressReporter {
  readonly #clock: ProgressReporterOptions["clock"];
  readonly #send: ProgressReporterOptions["send"];
  readonly #end = new AbortController();
  readonly #startedAt: number;
  #sent: Progress | undefined;
  #sentAt = -Infinity;
  #held: Progress | undefined;

  /**
   * Starts with nothing reported; from now on silence is broken.
   *
   * @param options The clock, and where reports go.
   */
  constructor(options: ProgressReporterOptions) {
    this.#clock = options.clock;
    this.#send = options.send;
    this.#startedAt = this.#clock.monotonic();
    this.#beat().catch(() => {});
  }

  /**
   * Takes a report. The first and the last one always go out; of those that come too soon the latest is held back.
   *
   * @param progress The report; dropped if its number is not finite.
   */
  report(progress: Progress): void {
    if (!Number.isFinite(progress.progress) || this.#end.signal.aborted) return;
    const wait = this.#sentAt + PROGRESS_INTERVAL_MS - this.#clock.monotonic();
    if (wait <= 0) {
      this.#emit(progress);
      return;
    }
    const isScheduled = this.#held !== undefined;
    this.#held = progress;
    if (!isScheduled) this.#emitLater(wait).catch(() => {});
  }

  /** Sends what is held back and nothing more. */
  finish(): void {
    if (this.#end.signal.aborted) return;
    if (this.#held !== undefined) this.#emit(this.#held);
    this.#end.abort();
  }

  /** Sends nothing more, not even what is held back. */
  drop(): void {
    this.#held = undefined;
    this.#end.abort();
  }

  async #emitLater(ms: number): Promise<void> {
    await this.#clock.sleep(ms, { signal: this.#end.signal });
    if (this.#held !== undefined) this.#emit(this.#held);
  }

  async #beat(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(HEARTBEAT_MS, { signal: this.#end.signal });
      const now = this.#clock.monotonic();
      if (now - this.#sentAt < HEARTBEAT_MS) continue;
      const seconds = Math.round((now - this.#startedAt) / 1_000);
      const { progress = 0, message, total } = this.#last ?? {};
      this.#emit({
        progress,
        ...(total === undefined ? {} : { total }),
        message: `${message ?? "working"} (${seconds} s)`,
      }, { isHeartbeat: true });
    }
  }

  /** What the tool itself said last: heartbeats repeat its message, not their own. */
  #last: Progress | undefined;

  #emit(progress: Progress, options: { readonly isHeartbeat?: boolean } = {}): void {
    if (options.isHeartbeat !== true) this.#last = progress;
    const before = this.#sent?.progress ?? -Infinity;
    const value = progress.progress > before ? progress.progress : before + SMALL_STEP;
    const { total, message } = progress;
    this.#held = undefined;
    this.#sentAt = this.#clock.monotonic();
    this.#sent = {
      progress: value,
      ...(total !== undefined && Number.isFinite(total) && total >= value ? { total } : {}),
      ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }),
    };
    this.#send(this.#sent);
  }
}
