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
  assertEquals(codes(text), [["missing-key", "unknown-key", "unknown-state"], [], []]);
});

Deno.test("examineMachine() says nothing beyond the syntax where that is broken", () => {
  assertEquals(codes("machine: m\nentry: a: b"), [["colon-in-text"], [], []]);
});

Deno.test("examineMachine() finds nothing in a sound machine", () => {
  assertEquals(codes(machineText(state("a", TO_END))), [[], [], []]);
});
