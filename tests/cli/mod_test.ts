import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../src/cli/table.ts";
import { cli } from "./harness.ts";

Deno.test("W64 runCli() without words prints the guide and ends with 0", async () => {
  const { code, stdout } = await cli([]);
  assertEquals(code, 0);
  for (const { name, summary } of COMMANDS) {
    assertStringIncludes(stdout, `  ${name.padEnd(11)}  ${summary}\n`);
  }
});

Deno.test("W64 runCli() --version prints the name and the version", async () => {
  assertEquals(await cli(["--version"]), { code: 0, stdout: "kit 9.9.9\n", stderr: "" });
});

Deno.test("runCli() help exit-codes names every code", async () => {
  const { code, stdout } = await cli(["help", "exit-codes"]);
  assertEquals(code, 0);
  const codes = stdout.split("\n").map((line) => /^ +(\d+) {2}/.exec(line)?.[1]).filter(Boolean);
  assertEquals(codes, ["0", "1", "2", "3", "4", "5", "129", "130", "143"]);
});

for (const command of COMMANDS) {
  Deno.test(`runCli() help ${command.name} and ${command.name} --help print the same`, async () => {
    const help = await cli(["help", command.name]);
    assertEquals(await cli([command.name, "--help"]), help);
    assertEquals(help.code, 0);
    assertStringIncludes(help.stdout, `Usage: kit ${command.name}`);
    for (const { name } of command.options) assertStringIncludes(help.stdout, `--${name}`);
    for (const line of command.examples) assertStringIncludes(help.stdout, `\n  ${line}\n`);
  });
}

const refused: [what: string, args: string[], message: string][] = [
  [
    "an unknown command and names a near one",
    ["rnu"],
    'There is no command "rnu": did you mean "run"?',
  ],
  [
    "an unknown command with nothing near",
    ["frobnicate"],
    'There is no command "frobnicate": kit help lists the commands',
  ],
  [
    "a flag before the command",
    ["--strict", "run"],
    'Flags follow the command: "--strict" comes before one',
  ],
  ["a topic that is no command", ["help", "lnit"], 'There is no command "lnit": did you mean'],
  ["runs without a store", ["runs"], "kit runs needs a store: --store sqlite:PATH"],
  [
    "a setting without a value",
    ["run", "m.mk", "--set", "x"],
    "invalid --set 'x'; expected k.path=value",
  ],
];
for (const [what, args, message] of refused) {
  Deno.test(`runCli() refuses ${what} with 2, on the standard error`, async () => {
    const { code, stdout, stderr } = await cli(args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `error: ${message}`);
  });
}

Deno.test("runCli() prints a wrong command line as JSON where JSON was asked for", async () => {
  const { code, stdout, stderr } = await cli(["run", "m.mk", "--format=json", "--set", "x"]);
  assertEquals([code, stderr], [2, ""]);
  assertEquals(JSON.parse(stdout), {
    command: "run",
    ok: false,
    items: [],
    diagnostics: [{
      severity: "error",
      message: "invalid --set 'x'; expected k.path=value",
      code: "invalid-input",
      path: null,
      hint: null,
    }],
    summary: {},
  });
});

Deno.test("runCli() shows no escape sequence of an argument on the terminal", async () => {
  const { stderr } = await cli(["\x1b[2Jrun"], { terminal: "both" });
  assert(!stderr.includes("\x1b[2J"));
  assertStringIncludes(stderr, "\\u001b[2Jrun");
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`runCli() ends with ${code} where ${signal} came`, async () => {
    const outcome = await cli(["help"], { signal: AbortSignal.abort(signal) });
    assertEquals(outcome.code, code);
  });
}
