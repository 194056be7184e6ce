import { assertEquals, assertRejects } from "@std/assert";
import { Output, printable, table } from "../../src/cli/output.ts";

function output(
  color: string,
  variables: Readonly<Record<string, string>> = {},
  stdout: "terminal" | "pipe" = "terminal",
): Output {
  return new Output(
    {
      write: () => {},
      writeError: () => {},
      stdoutIsTerminal: stdout === "terminal",
      stderrIsTerminal: false,
    },
    { color, env: { get: (name) => variables[name] } },
  );
}

const colors: [what: string, out: Output, text: string][] = [
  ["colours on a terminal", output("auto"), "\x1b[31mx\x1b[39m"],
  ["nothing where the output is piped", output("auto", {}, "pipe"), "x"],
  ["nothing where NO_COLOR is set", output("auto", { NO_COLOR: "1" }), "x"],
  ["colours where NO_COLOR is empty", output("auto", { NO_COLOR: "" }), "\x1b[31mx\x1b[39m"],
  ["nothing on a dumb terminal", output("auto", { TERM: "dumb" }), "x"],
  ["nothing with --color never", output("never"), "x"],
  [
    "colours with --color always, piped and NO_COLOR set",
    output("always", { NO_COLOR: "1" }, "pipe"),
    "\x1b[31mx\x1b[39m",
  ],
];
for (const [what, out, text] of colors) {
  Deno.test(`Output.style() gives ${what}`, () => {
    assertEquals(out.style("red", "x"), text);
  });
}

for (const [given, columns] of [[undefined, 80], [0, 80], [120, 120]] as const) {
  Deno.test(`Output.columns is ${columns} where the terminal says ${given}`, () => {
    const stdio = { write: () => {}, writeError: () => {}, stdoutIsTerminal: true };
    const out = new Output(
      { ...stdio, stderrIsTerminal: true, ...(given === undefined ? {} : { columns: given }) },
      { color: "auto", env: { get: () => undefined } },
    );
    assertEquals(out.columns, columns);
  });
}

const shown: [text: string, safe: string][] = [
  ["plain ä 😀\n\tx", "plain ä 😀\n\tx"],
  ["\x1b[2J", "\\u001b[2J"],
  ["a\u202eb", "a\\u202eb"],
  ["bell\x07", "bell\\u0007"],
  ["\r over", "\\u000d over"],
  ["\x9b31m", "\\u009b31m"],
];
for (const [text, safe] of shown) {
  Deno.test(`printable() shows ${JSON.stringify(text)} as ${JSON.stringify(safe)}`, () => {
    assertEquals(printable(text), safe);
  });
}

Deno.test("table() aligns columns and leaves no blanks at the end", () => {
  assertEquals(table([["Name", "B"], ["x", "longer"], ["longest", ""]]), [
    "Name     B",
    "x        longer",
    "longest",
  ]);
});

class BrokenPipe extends Error {
  override name = "BrokenPipe";
}

function failing(error: Error): Output {
  const write = (): Promise<void> => Promise.reject(error);
  return new Output(
    { write, writeError: write, stdoutIsTerminal: false, stderrIsTerminal: false },
    { color: "auto", env: { get: () => undefined } },
  );
}

Deno.test("Output.line() goes on where nobody reads any more", async () => {
  const out = failing(new BrokenPipe());
  await out.line("x");
  await out.json({});
  await out.error("x");
});

Deno.test("Output.line() fails where writing fails for another reason", async () => {
  await assertRejects(() => failing(new Error("disk full")).line("x"), Error, "disk full");
});
