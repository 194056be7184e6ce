/**
 * What counts as a person's reply: the variable `KIT_CONFIRM`.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";
import { kitVariable } from "./directories.ts";

/** Which replies confirm a decision. */
export interface Confirmation {
  /** Whether only what a person typed, into a form or at a command line, confirms; otherwise every reply does. */
  readonly peopleOnly: boolean;
  /** What is odd about the variable. */
  readonly warnings: readonly string[];
}

/** Most characters of the variable that a warning repeats. */
const MAX_SHOWN = 40;

/**
 * Reads `KIT_CONFIRM`. A word that is not known counts as the strict one: whoever set it wanted something.
 *
 * @param env The environment.
 * @returns Which replies confirm; with a warning if the word is not known.
 */
export function confirmation(env: Ports["env"]): Confirmation {
  const word = kitVariable(env, "CONFIRM");
  if (word === undefined || word === "all") return { peopleOnly: false, warnings: [] };
  if (word === "elicitation") return { peopleOnly: true, warnings: [] };
  const shown = Array.from(word).slice(0, MAX_SHOWN).join("");
  const warning =
    `KIT_CONFIRM is "${shown}", which counts as "elicitation": write "elicitation" or "all"`;
  return { peopleOnly: true, warnings: [warning] };
}
