import { assertEquals } from "@std/assert";
import { placeFindings, quoted } from "../../src/machine/finding.ts";
import { machineText, readMachine, state } from "./machines.ts";

const names: [name: string, text: string][] = [
  ["a", "'a'"],
  ["it's", `"it's"`],
  ['say "it\'s"', `'say "it\\'s"'`],
  ["a\nb\t\x01", "'a\\nb\\t\\x01'"],
  ["back\\slash", "'back\\\\slash'"],
  ["é😀", "'é😀'"],
];
for (const [name, text] of names) {
  Deno.test(`quoted() writes ${text}`, () => {
    assertEquals(quoted(name), text);
  });
}

const machine = readMachine(machineText(state("a")));

Deno.test("placeFindings() gives a finding its place, stage and line of text", () => {
  assertEquals(
    placeFindings(machine, "check", [
      { severity: "error", code: "c", message: "m", hint: undefined, path: ["budget"] },
      { severity: "note", code: "d", message: "n", hint: "h", line: 2 },
      { severity: "warning", code: "e", message: "o" },
    ]),
    [
      {
        severity: "error",
        code: "c",
        message: "m",
        path: ["budget"],
        stage: "check",
        position: { line: 3, column: 9 },
        excerpt: "budget: 9",
      },
      {
        severity: "note",
        code: "d",
        message: "n",
        stage: "check",
        hint: "h",
        position: { line: 2, column: 1 },
        excerpt: "entry: a",
      },
      { severity: "warning", code: "e", message: "o", stage: "check" },
    ],
  );
});

Deno.test("placeFindings() shows 200 findings, errors first to stay, and counts the rest", () => {
  const warnings = Array.from({ length: 250 }, (_, index) => ({
    severity: "warning" as const,
    code: `w${index}`,
    message: "m",
  }));
  const error = { severity: "error" as const, code: "last", message: "m" };
  const placed = placeFindings(machine, "lint", [...warnings, error]);
  assertEquals(placed.length, 201);
  assertEquals(placed.slice(198).map(({ code }) => code), ["w198", "last", "more-problems"]);
  assertEquals(placed[200]?.message, "51 more problems are not shown");
});

Deno.test("placeFindings() cuts messages and hints to 1,000 code points", () => {
  const long = "x".repeat(5_000);
  const [found] = placeFindings(machine, "check", [
    { severity: "error", code: "c", message: long, hint: long },
  ]);
  assertEquals([found?.message.length, found?.hint?.length], [1_000, 1_000]);
});
