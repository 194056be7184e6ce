/**
 * This process: its arguments, standard streams, signals, parent and end.
 *
 * @module
 */

/** How much is read at once: what a pipe holds. */
const READ_SIZE = 65_536;

/** Where the bytes of the client come from and where ours go. */
export interface Stdio {
  /**
   * Reads what is there, waiting for at least one byte.
   *
   * @returns The bytes, good until the next call, or `undefined` at the end of input.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Writes to stdout.
   *
   * @returns How many bytes were taken, at least one.
   * @throws {Error} If nobody reads any more.
   */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
  /** Writes to stderr, as `write` does to stdout. */
  writeError(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
  /** Whether stdin is a terminal, where a person types. */
  readonly inputIsTerminal: boolean;
  /** Whether stdout is a terminal, where a person reads. */
  readonly outputIsTerminal: boolean;
  /** Whether stderr is a terminal. */
  readonly errorIsTerminal: boolean;
  /** Width of the terminal in columns, or `undefined` where there is none. */
  readonly columns: number | undefined;
}

/** A signal that ends the process. */
export type EndSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

/** Exit codes by signal, 128 and its number. */
export const SIGNAL_EXIT_CODES: Readonly<Record<EndSignal, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/** How often the parent is looked at. */
const PARENT_LOOK_MS = 1_000;

/** What the program asks of its process. */
export interface Process {
  /** The command line after the program's name. */
  readonly args: readonly string[];
  /** The standard streams. */
  readonly stdio: Stdio;
  /**
   * Calls back when the system asks the process to end.
   *
   * @returns Stops listening.
   */
  onEndSignal(listener: (signal: EndSignal) => void): () => void;
  /**
   * Calls back once when the parent is gone, which shows as a changed parent id. Looks once a second and does not keep
   * the process alive.
   *
   * @returns Stops looking.
   */
  onParentGone(listener: () => void): () => void;
  /** Calls back with what nobody caught; the process lives on. */
  onUncaught(listener: (reason: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/**
 * Opens the process.
 *
 * @returns This process.
 */
export function openProcess(): Process {
  // Read now: a parent that is gone before anybody looks would show its heir as the parent.
  const parent = Deno.ppid;
  return {
    args: Deno.args,
    stdio: openStdio(),
    onEndSignal,
    onParentGone: (listener) => onParentGone(parent, listener),
    onUncaught,
    exit: (code) => Deno.exit(code),
  };
}

function openStdio(): Stdio {
  const buffer = new Uint8Array(READ_SIZE);
  return {
    async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const count = await Deno.stdin.read(buffer);
      return count === null ? undefined : buffer.subarray(0, count);
    },
    write: (bytes) => Deno.stdout.write(bytes),
    writeError: (bytes) => Deno.stderr.write(bytes),
    get inputIsTerminal(): boolean {
      return Deno.stdin.isTerminal();
    },
    get outputIsTerminal(): boolean {
      return Deno.stdout.isTerminal();
    },
    get errorIsTerminal(): boolean {
      return Deno.stderr.isTerminal();
    },
    get columns(): number | undefined {
      try {
        return Deno.consoleSize().columns;
      } catch {
        return undefined;
      }
    },
  };
}

function onEndSignal(listener: (signal: EndSignal) => void): () => void {
  const handlers: [EndSignal, () => void][] = [];
  const signals: readonly EndSignal[] = ["SIGTERM", "SIGINT", "SIGHUP"];
  for (const signal of signals) {
    const handler = (): void => listener(signal);
    try {
      Deno.addSignalListener(signal, handler);
      handlers.push([signal, handler]);
    } catch {
      // Not every system has every signal; the ones it lacks cannot arrive either.
    }
  }
  return () => {
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  };
}

function onParentGone(parent: number, listener: () => void): () => void {
  const watch = { isOver: false };
  lookForParent(parent, watch, listener);
  return () => {
    watch.isOver = true;
  };
}

async function lookForParent(
  parent: number,
  watch: { readonly isOver: boolean },
  listener: () => void,
): Promise<void> {
  while (!watch.isOver) {
    await pauseWithoutTimer(PARENT_LOOK_MS);
    if (watch.isOver || Deno.ppid === parent) continue;
    listener();
    return;
  }
}

/**
 * Waits for something that never happens. Keeps nothing alive, and costs nothing, where the first timer of a process
 * costs 4 MB and 6 ms.
 */
async function pauseWithoutTimer(ms: number): Promise<void> {
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { value } = Atomics.waitAsync(never, 0, 0, ms);
  await value;
}

function onUncaught(listener: (reason: unknown) => void): void {
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    listener(event.error);
  });
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    listener(event.reason);
  });
}
