import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { INFO } from "../../mcp.ts";
import { TOOL_NAMES, toolInstructions } from "../../src/tools/mod.ts";

Deno.test("toolInstructions() of all tools is what the program says without flags", () => {
  assertEquals(toolInstructions(), INFO.instructions);
});

const rows: [only: string[], text: string][] = [
  [["consensus"], "k_consensus asks a model several times and votes."],
  [["run"], "k_run executes a machine."],
  [["run", "check"], "k_run executes a machine (k_check helps to find and write one)."],
  [
    ["react_loop", "run", "resume"],
    "k_react_loop lets it use a calculator; k_run executes a machine and may suspend for a " +
    "person, then k_resume continues it with the handle.",
  ],
  [["check", "describe_machine"], ""],
];
for (const [only, text] of rows) {
  Deno.test(`toolInstructions() of ${only.join(", ")} names no other tool, and the prefix`, () => {
    assertEquals(toolInstructions({ only, prefix: "k_" }), text);
  });
}

for (const name of TOOL_NAMES) {
  Deno.test(`toolInstructions() without ${name} does not name it`, () => {
    const only = TOOL_NAMES.filter((other) => other !== name);
    const text = toolInstructions({ only, prefix: "p_" });
    const named: readonly string[] = text.match(/\bp_\w+/g) ?? [];
    assertFalse(named.includes(`p_${name}`));
  });
}

Deno.test("toolInstructions() refuses tools that do not exist", () => {
  assertThrows(() => toolInstructions({ only: ["nope"] }), RangeError, "nope");
});
