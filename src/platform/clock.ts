/**
 * Time on Deno.
 *
 * @module
 */
import type { Clock, Deadline, LocalTime } from "../ports/mod.ts";

/** The longest delay that timers can do; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Makes the clock of this process.
 *
 * @returns A clock on `Date`, `performance` and timers.
 */
export function createClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep,
    deadline,
    local: localTime,
  };
}

function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const { signal } = options;
  if (signal === undefined) {
    return new Promise((resolve) => setTimeout(resolve, clampDelay(ms)));
  }
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, clampDelay(ms));
    signal.addEventListener("abort", stop, { once: true });
  });
}

function deadline(ms: number): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`Timed out after ${ms} ms`, "TimeoutError"));
  }, clampDelay(ms));
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

function clampDelay(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_DELAY_MS);
}

function localTime(instant: number): LocalTime {
  const at = new Date(instant);
  const date = `${digits(at.getFullYear(), 4)}-${digits(at.getMonth() + 1)}-${
    digits(at.getDate())
  }`;
  const time = `${digits(at.getHours())}:${digits(at.getMinutes())}:${digits(at.getSeconds())}`;
  // getTimezoneOffset() counts minutes west of Greenwich, an offset in ISO 8601 those east of it.
  const east = -at.getTimezoneOffset();
  const minutes = Math.abs(east);
  const offset = `${east < 0 ? "-" : "+"}${digits(Math.trunc(minutes / 60))}:${
    digits(Math.trunc(minutes % 60))
  }`;
  return { date, dateTime: `${date}T${time}${offset}` };
}

function digits(value: number, length = 2): string {
  return String(value).padStart(length, "0");
}
