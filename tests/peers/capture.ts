/**
 * Reads what `tap.ts` wrote down: one file for each process of the server.
 *
 * @module
 */

/** One line that passed. */
export interface Passed {
  /** From the client, or from the server. */
  readonly from: "client" | "server";
  /** The line. */
  readonly line: string;
}

/** The life of one server process. */
export interface Session {
  /** The log it was read from. */
  readonly path: string;
  /** Lines of both sides in order. */
  readonly lines: readonly Passed[];
  /** The revision that the session settled on, or that its modern requests named. */
  readonly revision: string | undefined;
  /** Milliseconds from the end of input, or from a signal, to the exit. */
  readonly exitMs: number | undefined;
  /** Exit code. */
  readonly exitCode: number | undefined;
  /** Signals that the client sent. */
  readonly signals: readonly string[];
}

interface Entry {
  readonly at: number;
  readonly event: string;
  readonly line?: string;
  readonly code?: number;
  readonly signal?: string;
}

/**
 * Reads the sessions of one log.
 *
 * @param log The path that `tap.ts` was given, or a folder with a slash at its end for all that lie there.
 */
export async function readCaptures(log: string): Promise<readonly Session[]> {
  const folder = log.slice(0, log.lastIndexOf("/"));
  const sessions: Session[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (isCapture(path, log)) sessions.push(readSession(path, await Deno.readTextFile(path)));
  }
  return sessions;
}

function isCapture(path: string, log: string): boolean {
  return path.endsWith(".jsonl") && path.startsWith(log.endsWith("/") ? log : `${log}.`);
}

function readSession(path: string, text: string): Session {
  const entries = text.trim().split("\n").map((line): Entry => JSON.parse(line));
  const lines = entries.flatMap(toPassed);
  const exit = entries.find((entry) => entry.event === "exit");
  const end = entries.find((entry) => entry.event === "in-end" || entry.event === "signal");
  return {
    path,
    lines,
    revision: findRevision(lines),
    exitMs: exit === undefined ? undefined : exit.at - (end?.at ?? exit.at),
    exitCode: exit?.code,
    signals: entries.flatMap((entry) => entry.event === "signal" ? entry.signal ?? [] : []),
  };
}

function toPassed(entry: Entry): readonly Passed[] {
  if (entry.line === undefined) return [];
  if (entry.event === "in") return [{ from: "client", line: entry.line }];
  return entry.event === "out" ? [{ from: "server", line: entry.line }] : [];
}

function findRevision(lines: readonly Passed[]): string | undefined {
  for (const { from, line } of lines) {
    const message = parse(line);
    const agreed = at(at(message, "result"), "protocolVersion");
    if (from === "server" && typeof agreed === "string") return agreed;
    const meta = at(at(message, "params"), "_meta");
    const named = at(meta, "io.modelcontextprotocol/protocolVersion");
    if (from === "client" && typeof named === "string") return named;
  }
  return undefined;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Object(value)[key]
    : undefined;
}
