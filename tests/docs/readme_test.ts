/** README.md and the maps of the rooms say what is true. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { EXIT_CODES_HELP } from "../../src/cli/exit_codes.ts";
import { readArguments } from "../../src/cli/read_arguments.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { checkMachine, lintMachine, parseMachine } from "../../src/machine/mod.ts";

const readme = await Deno.readTextFile("README.md");

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"))]
    .map(([, text = ""]) => text);
}

Deno.test("every JSON block of README.md is JSON", () => {
  const found = blocks("json");
  assert(found.length >= 3);
  for (const text of found) JSON.parse(text);
});

Deno.test("every host entry of README.md starts kit with the variables that Kit reads", () => {
  for (const text of blocks("json")) {
    const [[name, entry] = ["", undefined]] = Object.entries<Record<string, unknown>>(
      Object.values<Record<string, Record<string, unknown>>>(JSON.parse(text)).at(-1) ?? {},
    );
    assertEquals(name, "kit");
    assertEquals(entry?.command, "kit");
    const variables = Object.keys(entry?.env ?? {});
    assert(variables.includes("EXECUTIONKIT_BASE_URL"));
    assert(variables.includes("EXECUTIONKIT_MODEL"));
  }
});

Deno.test("the machine of README.md is clean under check, and under lint but for its note on escalation", async () => {
  const [text = ""] = blocks("yaml");
  const { machine, diagnostics } = await parseMachine(text);
  assert(machine !== undefined);
  assertEquals([...diagnostics, ...checkMachine(machine)].map(({ code }) => code), []);
  assertEquals(lintMachine(machine).map(({ code }) => code), ["prose-escalate"]);
});

const commandLines = [
  ...blocks("sh").flatMap((text) => text.split("\n")),
  ...[...readme.matchAll(/`(kit [^`]*)`/g)].map(([, line = ""]) => line),
].filter((line) => /^kit [a-z]/.test(line));

Deno.test("README.md shows command lines of kit", () => {
  assert(commandLines.length >= 5);
});

for (const line of commandLines) {
  Deno.test(`README.md: "${line.replace(/\s*#.*/, "")}" is a command line that Kit takes`, () => {
    const [name = "", ...args] = words(line.replace(/ #.*/, "")).slice(1);
    const command = COMMANDS.find((command) => command.name === name);
    assert(command !== undefined, `no command ${name}`);
    readArguments(command, args);
  });
}

Deno.test("the exit codes of README.md are those of kit help exit-codes", () => {
  const codes = [...EXIT_CODES_HELP.matchAll(/^ +(\d+) {2}/gm)].map(([, code = ""]) => code);
  const [, table = ""] = /## Exit codes\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const listed = [...table.matchAll(/^\| ([\d, ]+?) *\|/gm)]
    .flatMap(([, cell = ""]) => cell.split(", "));
  assertEquals(listed, codes);
});

for (const path of ["README.md", "src/README.md"]) {
  Deno.test(`every link of ${path} to a file leads to one`, async () => {
    const text = await Deno.readTextFile(path);
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
    const targets = [...text.matchAll(/\]\(([^):#]+)\)/g)].map(([, target = ""]) => target);
    assert(targets.length > 0);
    for (const target of targets) await Deno.stat(folder + target);
  });
}

Deno.test("src/README.md names every room", async () => {
  const map = await Deno.readTextFile("src/README.md");
  for await (const { name, isDirectory } of Deno.readDir("src")) {
    if (isDirectory) assertStringIncludes(map, `[${name}](${name}/README.md)`);
  }
});

Deno.test("CHANGELOG.md has a part for what is not released yet", async () => {
  assertStringIncludes(await Deno.readTextFile("CHANGELOG.md"), "\n## Unreleased\n");
});

/** Words of a command line; quotes keep blanks together. */
function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)]
    .map(([word]) => word.replace(/["']/g, ""));
}
