import { assert, assertStringIncludes } from "@std/assert";
import { optionsOf } from "../../src/cli/read_arguments.ts";
import { completions, type Shell } from "../../src/cli/completions.ts";
import { COMMANDS } from "../../src/cli/table.ts";

const VOCABULARY = { commands: COMMANDS, machines: ["std_cot", "std_refine"] };

const flagForms: Readonly<Record<Shell, (name: string) => string>> = {
  bash: (name) => `--${name}`,
  zsh: (name) => `--${name}`,
  fish: (name) => `-l ${name}`,
};

for (const shell of ["bash", "zsh", "fish"] as const) {
  Deno.test(`completions() of ${shell} names every command and every flag`, () => {
    const script = completions(shell, VOCABULARY);
    for (const command of COMMANDS) {
      assertStringIncludes(script, command.name);
      for (const { name } of optionsOf(command)) {
        assertStringIncludes(script, flagForms[shell](name));
      }
    }
  });

  Deno.test(`completions() of ${shell} has no unbalanced single quote`, () => {
    for (const line of completions(shell, VOCABULARY).split("\n")) {
      if (line.startsWith("#")) continue;
      assert(line.replaceAll("\\'", "").split("'").length % 2 === 1, line);
    }
  });
}

for (const shell of ["bash", "zsh", "fish"] as const) {
  Deno.test(`completions() of ${shell} offers every topic of help`, () => {
    const topics = [...COMMANDS.map(({ name }) => name), "exit-codes"].join(" ");
    assertStringIncludes(completions(shell, VOCABULARY), topics);
  });
}

const offers: [shell: Shell, files: string, names: string][] = [
  [
    "bash",
    'COMPREPLY=($(compgen -W "std_cot std_refine" -- "$current"; compgen -f -- "$current"))',
    'COMPREPLY=($(compgen -W "std_cot std_refine" -- "$current"))',
  ],
  [
    "zsh",
    "':MACHINE:{compadd std_cot std_refine; _files}'",
    "'::NAME:(std_cot std_refine)'",
  ],
  [
    "fish",
    "complete -c kit -n '__fish_seen_subcommand_from run' -a 'std_cot std_refine'\n" +
    "complete -c kit -n '__fish_seen_subcommand_from run' -F\n",
    "complete -c kit -n '__fish_seen_subcommand_from machines' -a 'std_cot std_refine'\n",
  ],
];
for (const [shell, files, names] of offers) {
  Deno.test(`completions() of ${shell} offers the machines that have names`, () => {
    const script = completions(shell, VOCABULARY);
    assertStringIncludes(script, files);
    assertStringIncludes(script, names);
  });
}
