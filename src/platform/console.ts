/**
 * Keeps `console` away from stdout, which belongs to the protocol.
 *
 * @module
 */
// deno-lint-ignore-file no-console -- the methods are replaced here, so that no dependency can print
import type { Log } from "../ports/mod.ts";

/** The methods of `console` that print to stdout on Deno. */
const PRINTING = [
  "log",
  "info",
  "debug",
  "dir",
  "dirxml",
  "table",
  "group",
  "groupCollapsed",
  "count",
  "countReset",
  "time",
  "timeLog",
  "timeEnd",
] as const;

/**
 * Sends everything that `console` would print to stdout to the log instead.
 *
 * @param log Where it goes.
 */
export function rebindConsole(log: Pick<Log, "write">): void {
  for (const name of PRINTING) {
    console[name] = (...values: unknown[]): void => log.write("debug", describe(name, values));
  }
  // These print to stderr already, but would wait for a client that does not read it.
  console.warn = (...values: unknown[]): void => log.write("warning", describe("warn", values));
  console.error = (...values: unknown[]): void => log.write("error", describe("error", values));
}

function describe(name: string, values: readonly unknown[]): string {
  const texts = values.map((value) => typeof value === "string" ? value : Deno.inspect(value));
  return `console.${name}: ${texts.join(" ")}`;
}
