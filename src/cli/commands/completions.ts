/**
 * `kit completions`.
 *
 * @module
 */
import { libraryRegistry } from "../../machine/registry.ts";
import type { Invocation } from "../command.ts";
import { completions, type Shell } from "../completions.ts";
import { EXIT } from "../exit_codes.ts";

/**
 * Prints the completions of a shell. Of the machines that have names it offers the bundled ones, which are known without
 * reading a file.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run({ args, commands, out }: Invocation): Promise<number> {
  const machines = (await libraryRegistry()).names();
  await out.raw(completions(shellOf(args.word(0)), { commands, machines }));
  return EXIT.ok;
}

function shellOf(word: string): Shell {
  return word === "zsh" || word === "fish" ? word : "bash";
}
