import { assertEquals } from "@std/assert";
import { createCoverage, runScenario } from "../../src/machine/mod.ts";
import { machineOf } from "./support/running.ts";

const MACHINE = machineOf(`
machine: m
entry: a
budget: 9
states:
  a:
    structure: s
    prompt: p
    output: o
    gates:
      - { when: left, then: ok, to: b }
      - { when: right, repair: 1, to: a }
      - { when: otherwise, fail: true }
  b: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`);

Deno.test("createCoverage() names the states and gates that no scenario reached", async () => {
  const coverage = createCoverage();
  const onEvent = coverage.observe;
  await runScenario(MACHINE, { llm: { judge: [1, 0] }, expect: {} }, { onEvent });
  assertEquals(coverage.report(MACHINE), {
    machine: "m",
    states: 2,
    missedStates: [],
    gates: 4,
    missedGates: [{ state: "a", index: 2, when: "otherwise" }],
  });
});

Deno.test("createCoverage() has reached nothing before it saw anything", () => {
  const { missedStates, missedGates } = createCoverage().report(MACHINE);
  assertEquals(missedStates, ["a", "b"]);
  assertEquals(missedGates.length, 4);
});
