import { assert, assertStringIncludes } from "@std/assert";
import { optionsOf } from "../../src/cli/read_arguments.ts";
import { completions, type Shell } from "../../src/cli/completions.ts";
import { COMMANDS } from "../../src/cli/table.ts";

const flagForms: Readonly<Record<Shell, (name: string) => string>> = {
  bash: (name) => `--${name}`,
  zsh: (name) => `--${name}`,
  fish: (name) => `-l ${name}`,
};

for (const shell of ["bash", "zsh", "fish"] as const) {
  Deno.test(`completions() of ${shell} names every command and every flag`, () => {
    const script = completions(shell, COMMANDS);
    for (const command of COMMANDS) {
      assertStringIncludes(script, command.name);
      for (const { name } of optionsOf(command)) {
        assertStringIncludes(script, flagForms[shell](name));
      }
    }
  });

  Deno.test(`completions() of ${shell} has no unbalanced single quote`, () => {
    for (const line of completions(shell, COMMANDS).split("\n")) {
      if (line.startsWith("#")) continue;
      assert(line.replaceAll("\\'", "").split("'").length % 2 === 1, line);
    }
  });
}

for (const shell of ["bash", "zsh", "fish"] as const) {
  Deno.test(`completions() of ${shell} offers every topic of help`, () => {
    const topics = [...COMMANDS.map(({ name }) => name), "exit-codes"].join(" ");
    assertStringIncludes(completions(shell, COMMANDS), topics);
  });
}
