import { assertEquals } from "@std/assert";
import { loadReader } from "../../src/machine/load_reader.ts";
import { createRegistry, examineMachine } from "../../src/machine/mod.ts";
import { machineText, state, TO_END } from "./machines.ts";

const { parseMachine } = await loadReader();
const codes = (text: string, strict = false) => {
  const { errors, warnings, lint } = examineMachine(parseMachine(text), {
    registry: createRegistry([]),
    strict,
  });
  return [errors, warnings, lint].map((list) => list.map(({ code }) => code));
};

Deno.test("examineMachine() parts errors, warnings and findings", () => {
  const text = machineText(
    `  a: { call: gone, output: yes, gates: [{ when: x, then: ok, to: END }] }`,
    "budget: 1",
  );
  assertEquals(codes(text), [
    ["unknown-machine"],
    ["yaml-boolean", "missing-catch-all", "budget-headroom"],
    ["missing-catch-all"],
  ]);
});

Deno.test("examineMachine() finds in a document that breaks the grammar what names refer to", () => {
  const text = machineText(
    `  a: { promt: p, structure: s, output: o, gates: [{ when: x, then: ok, to: q }] }`,
  );
  assertEquals(codes(text), [["unknown-key", "unknown-state"], [], []]);
});

const drafts: [what: string, text: string, found: string[]][] = [
  ["a condition that is no text", machineText(state("a", "{ when: 5, then: ok, to: q }")), [
    "wrong-type",
    "unknown-state",
  ]],
  ["gates around one that is none", machineText(state("a", `x, { when: y, then: ok, to: q }`)), [
    "wrong-type",
    "unknown-state",
  ]],
  ["no output", machineText(`  a: { call: gone, gates: [${TO_END}] }`), [
    "missing-key",
    "unknown-machine",
  ]],
  ["no entry", "machine: m\nbudget: 2\nstates:\n" + state("a", "{ when: x, then: ok, to: q }"), [
    "missing-key",
    "unknown-state",
  ]],
  [
    "a state that is none, to which a gate leads",
    machineText(
      state("a", "{ when: x, then: ok, to: b }") + "\n  b: later",
    ),
    ["wrong-type"],
  ],
  ["two policies", machineText(state("a", "{ when: x, then: ok, fail: true, to: q }")), [
    "several-policies",
    "unknown-state",
  ]],
  ["a fail gate that leads somewhere", machineText(state("a", "{ when: x, fail: true, to: q }")), [
    "unknown-key",
  ]],
  ["no states", "machine: m\nentry: a\nbudget: 1\nstates: []", ["wrong-type"]],
  ["a reserved id", machineText(state("a") + "\n" + state("__proto__")), ["reserved-name"]],
];
for (const [what, text, found] of drafts) {
  Deno.test(`examineMachine() finds with ${what}: ${found.join(", ")}`, () => {
    assertEquals(codes(text)[0], found);
  });
}

Deno.test("examineMachine() says nothing beyond the syntax where that is broken", () => {
  assertEquals(codes("machine: m\nentry: a: b"), [["colon-in-text"], [], []]);
});

Deno.test("examineMachine() finds nothing in a sound machine", () => {
  assertEquals(codes(machineText(state("a", TO_END))), [[], [], []]);
});
