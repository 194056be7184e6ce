import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { fingerprintMachine } from "../../src/machine/mod.ts";
import { readMachine } from "./machines.ts";

const BASE = `mklang: "0.4"
machine: m
entry: a
budget: 5
context: { x: 1, y: [1, 2] }
states:
  a:
    prompt: Say hello
    structure: One line
    output: o
    gates:
      - { when: good, repair: 2, to: a }
      - { when: otherwise, escalate: true, to: END, ask: Really }
  b: { tool: t, input: { k: v }, output: p, gates: [{ when: otherwise, then: ok, to: a }] }
`;

const alike: [what: string, text: string][] = [
  ["a comment", "# changed\n" + BASE.replace("budget: 5", "budget: 5 # steps")],
  ["quotes", BASE.replace("Say hello", '"Say hello"')],
  ["layout", BASE.replace("{ x: 1, y: [1, 2] }", "\n  x: 1\n  y:\n    - 1\n    - 2")],
  [
    "the order of keys",
    BASE.replace("machine: m\nentry: a\n", "entry: a\nmachine: m\n")
      .replace("{ x: 1, y: [1, 2] }", "{ y: [1, 2], x: 1 }"),
  ],
  ["a default that is written out", BASE.replace("budget: 5", "budget: 5\ndefault_tier: balanced")],
  ["line endings", BASE.replaceAll("\n", "\r\n")],
  ["an anchor", BASE.replace("x: 1", "x: &one 1").replace("[1, 2]", "[*one, 2]")],
  ["another spelling of a number", BASE.replace("budget: 5", "budget: 5.0")],
];
for (const [what, text] of alike) {
  Deno.test(`fingerprintMachine() is the same with ${what}`, async () => {
    assertNotEquals(text, BASE);
    assertEquals(
      await fingerprintMachine(readMachine(text)),
      await fingerprintMachine(readMachine(BASE)),
    );
  });
}

const different: [what: string, from: string, to: string][] = [
  ["name", "machine: m", "machine: n"],
  ["version", '"0.4"', '"0.3"'],
  ["entry", "entry: a", "entry: b"],
  ["budget", "budget: 5", "budget: 6"],
  ["context value", "x: 1", "x: '1'"],
  ["context list", "[1, 2]", "[2, 1]"],
  ["state id", "  b:", "  c:"],
  ["prompt", "Say hello", "Say Hello"],
  ["structure", "One line", "One"],
  ["output", "output: o", "output: q"],
  ["condition", "when: good", "when: bad"],
  ["order of gates", "      - { when: good, repair: 2, to: a }\n", ""],
  ["repair limit", "repair: 2", "repair: 3"],
  ["policy", "repair: 2", "then: ok"],
  ["target", "to: END", "to: b"],
  ["question", "ask: Really", "ask: Sure"],
  ["tool", "tool: t", "tool: u"],
  ["kind", "tool: t", "call: t"],
  ["input", "k: v", "k: w"],
  ["visits", "output: o", "output: o\n    max_visits: 3"],
  ["tier", "output: o", "output: o\n    tier: fast"],
  ["reasoning", "output: o", "output: o\n    reason: true"],
  ["hook", "when: good,", "when: good, hook: h,"],
];
for (const [what, from, to] of different) {
  Deno.test(`fingerprintMachine() differs with another ${what}`, async () => {
    const text = BASE.replace(from, to);
    assertNotEquals(text, BASE);
    assertNotEquals(
      await fingerprintMachine(readMachine(text)),
      await fingerprintMachine(readMachine(BASE)),
    );
  });
}

Deno.test("fingerprintMachine() is 64 hex digits that never change between versions", async () => {
  const fingerprint = await fingerprintMachine(readMachine(BASE));
  assertMatch(fingerprint, /^[0-9a-f]{64}$/);
  assertEquals(fingerprint, "af57558dee7c2cf17d3dd29373cb9c65f26319408edf030a3fcef7528f220f01");
});
