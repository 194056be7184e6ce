/**
 * Where a command keeps runs: the place that a flag or a variable names, before it is opened.
 *
 * @module
 */
import { type Arguments, InputError } from "./arguments.ts";
import type { CliContext } from "./context.ts";

/** A place that somebody named. */
export interface StorePlace {
  /** As it was written: `sqlite:PATH` or `postgres://…`. It may hold a password. */
  readonly location: string;
  /** Who named it. */
  readonly source: "--store" | "KIT_STORE";
}

/** What names a place. */
export interface StoreSurroundings {
  /** The flags. */
  readonly args: Arguments;
  /** The environment and files. */
  readonly context: CliContext;
}

/** Stands for a password. */
const MASK = "***";

/**
 * Finds where runs are kept.
 *
 * @param surroundings Flags and environment; the flag wins.
 * @returns The place; `undefined` where none is named.
 */
export function storePlace({ args, context }: StoreSurroundings): StorePlace | undefined {
  const flag = args.value("store");
  const location = flag ?? context.ports.env.get("KIT_STORE") ?? "";
  if (location === "") return undefined;
  return { location, source: flag === undefined ? "KIT_STORE" : "--store" };
}

/**
 * Says that a store is not there, so that looking makes none.
 *
 * @param place Where it should be.
 * @param surroundings Files.
 * @returns A sentence; `undefined` if it is there, or if only its database can tell.
 */
export async function missingStore(
  { location, source }: StorePlace,
  { context }: StoreSurroundings,
): Promise<string | undefined> {
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/s.exec(location)?.[1];
  if (path === undefined || (await context.ports.files.stat(path)) !== undefined) return undefined;
  return `There is no store at "${path}", which ${source} names: the first run with it makes one`;
}

/**
 * Says that a store cannot be opened, as the operator's to mend.
 *
 * @param error What the store said.
 * @param place Where it is.
 * @param surroundings The environment.
 * @returns The error to throw.
 */
export function unusableStore(
  error: unknown,
  { source }: StorePlace,
  { context }: StoreSurroundings,
): InputError {
  const why = error instanceof Error ? error.message : String(error);
  const key = (context.ports.env.get("KIT_STORE_KEY") ?? "") === "" ? "" : " and KIT_STORE_KEY";
  return new InputError(`${why}; check ${source}${key}`, { cause: error });
}

/**
 * Shows a place without its password.
 *
 * @param location The place.
 * @returns The place with each password as `***`; `PLACE` where one cannot be told from the rest.
 */
export function shownPlace(location: string): string {
  if (location.startsWith("sqlite:")) return location;
  const url = URL.parse(location);
  if (url === null) return "PLACE";
  if (url.password !== "") url.password = MASK;
  for (const name of [...url.searchParams.keys()]) {
    if (/pass|secret|key/i.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}
