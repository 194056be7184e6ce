/**
 * Log lines on stderr. A client may open the pipe and never read it, so writing never waits: while one write is under
 * way lines gather up to a bound, and beyond it they are dropped and counted.
 *
 * @module
 */
import type { Log, LogLevel } from "../ports/mod.ts";

/** How many characters may wait for stderr. */
const MAX_WAITING_CHARACTERS = 65_536;
/** How long one line may be. */
const MAX_LINE_CHARACTERS = 4_096;
/** Rank of each level; a line is written if its rank is at most that of the threshold. */
const RANK: Readonly<Record<LogLevel, number>> = { error: 0, warning: 1, info: 2, debug: 3 };
// deno-lint-ignore no-control-regex -- control characters are what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/gu;

/** A log, and how to wait for it. */
export interface DrainableLog extends Log {
  /** Whether lines wait or are being written. */
  readonly isBusy: boolean;
  /** Settles once everything that was not dropped has left, or nobody can read it. */
  drained(): Promise<void>;
}

/** Where log lines go. */
export interface LogOptions {
  /** Writes bytes and tells how many it took; rejects when nobody can read them. */
  readonly write: (bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  /** The least severe level that is written; default `info`. */
  readonly level?: LogLevel;
}

/**
 * Makes a log.
 *
 * @param options Where lines go and which.
 * @returns A log that writes `kit: level: message` lines.
 */
export function createLog(options: LogOptions): DrainableLog {
  const threshold = RANK[options.level ?? "info"];
  let waiting = "";
  let dropped = 0;
  let pumping: Promise<void> | undefined;

  async function pump(): Promise<void> {
    while (waiting !== "" || dropped > 0) {
      if (dropped > 0) waiting += `kit: warning: ${dropped} log lines were dropped\n`;
      const bytes = new TextEncoder().encode(waiting);
      waiting = "";
      dropped = 0;
      let written = 0;
      while (written < bytes.length) written += await options.write(bytes.subarray(written));
    }
  }

  return {
    get isBusy(): boolean {
      return pumping !== undefined;
    },
    write(level: LogLevel, message: string): void {
      if (RANK[level] > threshold) return;
      const line = `kit: ${level}: ${oneLine(message)}\n`;
      if (waiting.length + line.length > MAX_WAITING_CHARACTERS) {
        dropped += 1;
        return;
      }
      waiting += line;
      // A broken stderr silences the log for good: the pump stays rejected and nothing is written again.
      pumping ??= pump().then(() => {
        pumping = undefined;
      }, () => {});
    },
    async drained(): Promise<void> {
      await pumping;
    },
  };
}

function oneLine(message: string): string {
  const cut = message.length > MAX_LINE_CHARACTERS
    ? `${message.slice(0, MAX_LINE_CHARACTERS)}…`
    : message;
  return cut.replace(CONTROL_CHARACTERS, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
