import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../src/cli/arguments.ts";
import type { Command } from "../../src/cli/command.ts";
import { readArguments } from "../../src/cli/read_arguments.ts";
import { COMMANDS } from "../../src/cli/table.ts";

function command(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}

const refused: [what: string, name: string, args: string[], message: string][] = [
  [
    "an unknown flag and names a near one",
    "run",
    ["m.mk", "--max-token", "5"],
    'kit run has no flag "--max-token": did you mean "--max-tokens"?',
  ],
  [
    "an unknown flag with nothing near",
    "run",
    ["m.mk", "--xyz"],
    'kit run has no flag "--xyz": kit help run lists its flags',
  ],
  [
    "a flag without its value",
    "run",
    ["m.mk", "--config"],
    "--config needs a value: --config FILE",
  ],
  [
    "a value for a flag that takes none",
    "run",
    ["m.mk", "--hitl=yes"],
    '--hitl takes no value, but "yes" was given',
  ],
  [
    "a value that is not among the choices",
    "run",
    ["m.mk", "--on-truncate", "stop"],
    '--on-truncate takes report, halt, not "stop"',
  ],
  [
    "a format that the command cannot print",
    "run",
    ["m.mk", "--format", "sarif"],
    '--format takes auto, text, json, not "sarif"',
  ],
  [
    "a flag given twice",
    "run",
    ["m.mk", "--config", "a", "--config", "b"],
    "--config was given twice",
  ],
  ["a missing word", "run", [], "kit run needs MACHINE"],
  ["a missing list of words", "check", [], "kit check needs FILE (one or more)"],
  ["a word too many", "run", ["a.mk", "b.mk"], 'kit run does not know what to do with "b.mk"'],
  [
    "a word that is not among the choices",
    "completions",
    ["fisch"],
    'SHELL is one of bash, zsh, fish, not "fisch": did you mean "fish"?',
  ],
];
for (const [what, name, args, message] of refused) {
  Deno.test(`readArguments() refuses ${what}`, () => {
    assertEquals(
      assertThrows(() => readArguments(command(name), args), UsageError).message,
      message,
    );
  });
}

Deno.test("readArguments() keeps every value of a flag that may repeat, in order", () => {
  const args = readArguments(command("run"), ["--set", "a=1", "m.mk", "--set=b=2"]);
  assertEquals(args.values("set"), ["a=1", "b=2"]);
  assertEquals(args.positionals, ["m.mk"]);
});

Deno.test("readArguments() takes everything after -- as words", () => {
  assertEquals(readArguments(command("check"), ["--", "--odd.mk"]).positionals, ["--odd.mk"]);
});

Deno.test("readArguments() asks for no words where help is wanted", () => {
  assert(readArguments(command("run"), ["-h"]).has("help"));
});

for (const text of ["0", "-1", "1.5", "ten", "", "9007199254740993"]) {
  Deno.test(`Arguments.positiveInteger() refuses "${text}"`, () => {
    const args = readArguments(command("run"), ["m.mk", `--max-tokens=${text}`]);
    assertEquals(
      assertThrows(() => args.positiveInteger("max-tokens"), UsageError).message,
      `--max-tokens takes a whole number above 0, not "${text}"`,
    );
  });
}

Deno.test("Arguments.positiveInteger() gives undefined without the flag and the number with it", () => {
  const args = readArguments(command("run"), ["m.mk", "--max-tokens", "1200"]);
  assertEquals(args.positiveInteger("max-tokens"), 1200);
  assertEquals(args.positiveInteger("llm-samples"), undefined);
});
