/**
 * How much a result says.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import { textArgument } from "./arguments.ts";

/**
 * Reads the argument `detail`.
 *
 * @param args The arguments.
 * @returns What was asked for; `summary` by default.
 */
export function detailArgument(args: JsonObject): "summary" | "full" {
  return textArgument(args, "detail") === "full" ? "full" : "summary";
}
