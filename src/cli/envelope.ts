/**
 * The JSON that commands print where no MCP tool has an object for the same thing.
 *
 * @module
 */
import type { Output } from "./output.ts";

/** One problem, of a whole command or in one of its files. */
export interface EnvelopeDiagnostic {
  /** How bad it is. */
  readonly severity: "error" | "warning" | "note";
  /** What is wrong. */
  readonly message: string;
  /** A fixed word: of a whole command `invalid-input` or `unexpected-error`, in a file that of the finding. */
  readonly code: string;
  /** The file, or `null`. */
  readonly path: string | null;
  /** What to do, or `null`. */
  readonly hint: string | null;
  /** The line in the file, from 1. */
  readonly line?: number;
  /** The column in the line, from 1, in code points. */
  readonly column?: number;
}

/** What a command did. */
export interface Envelope {
  /** The command. */
  readonly command: string;
  /** Whether all went well. */
  readonly ok: boolean;
  /** One for each thing that was looked at; the members depend on the command. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Problems of the whole command and in its files. */
  readonly diagnostics: readonly EnvelopeDiagnostic[];
  /** Counts. */
  readonly summary: Readonly<Record<string, unknown>>;
}

/**
 * Prints an envelope as text: a line for each item, its problems below it, then the counts.
 *
 * @param envelope What the command did.
 * @param out Where to print.
 * @param label What an item is called, and its status.
 */
export async function printEnvelope(
  envelope: Envelope,
  out: Output,
  label: (item: Readonly<Record<string, unknown>>) => string,
): Promise<void> {
  for (const item of envelope.items) {
    const status = String(item.status ?? "ok");
    await out.line(`${out.style(statusStyle(status), status.toUpperCase())} ${label(item)}`);
    for (const [key, prefix] of DETAILS) {
      for (const text of texts(item[key])) await out.line(`  ${prefix}: ${text}`);
    }
  }
  for (const { severity, message } of envelope.diagnostics) {
    await out.line(`${severity}: ${message}`);
  }
  const counts = Object.entries(envelope.summary).map(([key, value]) => `${key}=${value}`);
  if (counts.length > 0) await out.line(out.style("dim", counts.join(" · ")));
}

const DETAILS: readonly [key: string, prefix: string][] = [
  ["warnings", "warning"],
  ["errors", "error"],
  ["findings", "lint"],
  ["llm_findings", "llm"],
  ["mismatches", "mismatch"],
];

/**
 * How a status looks.
 *
 * @param status A word such as `ok`, `warning`, `error`, `pass`, `fail`.
 * @returns Green for what is well, yellow for what is odd, red for the rest.
 */
export function statusStyle(status: string): "green" | "yellow" | "red" {
  if (["ok", "pass", "done", "exists", "created"].includes(status)) return "green";
  return ["warning", "suspended", "running", "skipped"].includes(status) ? "yellow" : "red";
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
