import { assert, assertEquals } from "@std/assert";
import { loadReader } from "../../src/machine/load_reader.ts";
import { machineFromValue } from "../../src/machine/mod.ts";
import { machineText, readMachine, state, TO_END } from "./machines.ts";

const { parseMachine, readYaml } = await loadReader();

const PLAIN = machineText(state("a"));
const marked: [what: string, text: string][] = [
  ["a byte order mark", "\ufeff" + PLAIN],
  ["CRLF", PLAIN.replaceAll("\n", "\r\n")],
  ["a document marker behind a byte order mark", "\ufeff---\n" + PLAIN],
  ["no line feed at the end", PLAIN.trimEnd()],
  ["comments", "# c\n" + PLAIN + "\n# d"],
];
for (const [what, text] of marked) {
  Deno.test(`parseMachine() reads the same machine with ${what}`, () => {
    const { machine, diagnostics } = parseMachine(text);
    const plain = readMachine(PLAIN);
    assertEquals(diagnostics, []);
    assertEquals([...machine?.states ?? []], [...plain.states]);
    assertEquals([machine?.name, machine?.entry, machine?.budget], ["m", "a", 9]);
    assertEquals(machine?.source, text);
  });
}

Deno.test("parseMachine() gives every member of every kind of state and gate", () => {
  const machine = readMachine(`mklang: "0.4"
machine: m
entry: a
budget: 5
default_tier: fast
result: r
context: { x: [1], __proto__: 1 }
tools: [{ name: t, description: d }, { name: u }]
hooks: [{ name: h }]
states:
  b: { call: k, input: { a: 1 }, tier: fast, accumulate: true, over: "{{x}}", max_visits: 2, output: r, gates: [${TO_END}] }
  a:
    prompt: p
    structure: s
    execution: e
    tier: reasoning
    reason: true
    parse: list
    sample: 3
    output: o
    gates:
      - { when: " OTHERWISE ", hook: h, then: ok, to: b }
      - { when: x, repair: 2, to: a }
      - { when: x, escalate: true, to: END, ask: q, reply_to: a.b }
      - { when: x, fail: true }
  c: { tool: t, output: o, gates: [${TO_END}] }
`);
  assertEquals(machine.version, "0.4");
  assertEquals(machine.defaultTier, "fast");
  assertEquals(machine.result, "r");
  assertEquals(machine.tools, [{ name: "t", description: "d" }, { name: "u" }]);
  assertEquals(machine.hooks, [{ name: "h" }]);
  assertEquals(Object.getPrototypeOf(machine.context), null);
  assertEquals(Object.keys(machine.context), ["x", "__proto__"]);
  assertEquals([...machine.states.keys()], ["b", "a", "c"]);
  const end = { when: "otherwise", catchAll: true, policy: "ok", to: "END" } as const;
  const { input, ...call } = readCall(machine.states.get("b"));
  assertEquals(call, {
    id: "b",
    kind: "call",
    call: "k",
    tier: "fast",
    accumulate: true,
    over: "{{x}}",
    maxVisits: 2,
    output: "r",
    gates: [end],
  });
  assertEquals(JSON.stringify(input), '{"a":1}');
  assertEquals(machine.states.get("a"), {
    id: "a",
    kind: "generative",
    prompt: "p",
    structure: "s",
    execution: "e",
    tier: "reasoning",
    reason: true,
    parse: "list",
    sample: 3,
    accumulate: false,
    output: "o",
    gates: [
      { when: " OTHERWISE ", catchAll: true, hook: "h", policy: "ok", to: "b" },
      { when: "x", catchAll: false, policy: "repair", repairLimit: 2, to: "a" },
      {
        when: "x",
        catchAll: false,
        policy: "escalate",
        to: "END",
        ask: "q",
        replyTo: "a.b",
      },
      { when: "x", catchAll: false, policy: "fail" },
    ],
  });
  assertEquals(machine.states.get("c")?.kind, "tool");
});

function readCall(state: unknown): Record<string, unknown> {
  assert(typeof state === "object" && state !== null);
  return { ...state };
}

Deno.test("parseMachine() gives defaults where a document says nothing", () => {
  const machine = readMachine(PLAIN);
  assertEquals(machine.version, undefined);
  assertEquals(machine.defaultTier, "balanced");
  assertEquals(machine.result, undefined);
  assertEquals(Object.keys(machine.context), []);
  assertEquals([machine.tools, machine.hooks], [[], []]);
});

Deno.test("Machine.position() finds a member, or the nearest above it", () => {
  const machine = readMachine(PLAIN);
  assertEquals(machine.position(["states", "a", "gates", 0, "to"]), { line: 5, column: 85 });
  assertEquals(machine.position(["states", "none"]), { line: 5, column: 3 });
});

Deno.test("machineFromValue() reads a value without positions and keeps it as JSON text", () => {
  const value = {
    machine: "m",
    entry: "a",
    budget: 1,
    states: {
      a: { call: "k", output: "o", gates: [{ when: "otherwise", fail: true }] },
    },
  };
  const { machine } = machineFromValue(value);
  assertEquals(machine?.name, "m");
  assertEquals(machine?.source, JSON.stringify(value));
  assertEquals(machine?.position(["states"]), undefined);
  assertEquals(machineFromValue(value, { source: "text" }).machine?.source, "text");
  const [problem] = machineFromValue({ ...value, budget: "1" }).diagnostics;
  assertEquals([problem?.code, problem?.position, problem?.path], [
    "wrong-type",
    undefined,
    ["budget"],
  ]);
});

const lenient: [what: string, text: string, check: string][] = [
  [
    "a state with keys of another kind",
    machineText(`  a: { tool: t, call: c, prompt: p, output: o, gates: [${TO_END}] }`),
    "tool",
  ],
  ["a state without a prompt", machineText(`  a: { output: o, gates: [${TO_END}] }`), "generative"],
  [
    "values of the wrong type",
    machineText(
      `  a: { prompt: 5, structure: [x], sample: many, tier: huge, output: o, gates: [${TO_END}] }`,
    ),
    "generative",
  ],
  ["an unknown key", PLAIN + "\nversion: 1", "generative"],
  ["a context of nothing", machineText(state("a"), "context:"), "generative"],
  ["no gates at all", machineText("  a: { prompt: p, output: o, gates: [] }"), "generative"],
];
for (const [what, text, kind] of lenient) {
  Deno.test(`parseMachine() reads leniently a document with ${what}, which it refuses otherwise`, () => {
    const { machine, diagnostics } = parseMachine(text, { grammar: "lenient" });
    assertEquals(diagnostics, []);
    assertEquals(machine?.states.get("a")?.kind, kind);
    assertEquals(parseMachine(text).machine, undefined);
  });
}

Deno.test("parseMachine() stands in for texts of the wrong type leniently", () => {
  const { machine } = parseMachine(
    machineText(`  a: { prompt: 5, structure: [x], output: o, gates: [${TO_END}] }`),
    { grammar: "lenient" },
  );
  const a = machine?.states.get("a");
  assert(a?.kind === "generative");
  assertEquals([a.prompt, a.structure, a.reason], ["5", '["x"]', false]);
});

Deno.test("parseMachine() takes the first policy of a gate leniently, and what is left of the rest", () => {
  const { machine } = parseMachine(
    machineText(state("a", "{ when: x, fail: true, repair: no, to: b }, { when: x, then: 1 }")),
    { grammar: "lenient" },
  );
  assertEquals(machine?.states.get("a")?.gates, [
    { when: "x", catchAll: false, policy: "repair", to: "b" },
    { when: "x", catchAll: false, policy: "ok" },
  ]);
});

const unreadable: [what: string, text: string, message: string][] = [
  ["no name", "entry: a\nbudget: 1\nstates: {}", "machine is not a string"],
  ["no entry", "machine: m\nbudget: 1\nstates: {}", "entry is not a string"],
  [
    "a budget that is no number",
    "machine: m\nentry: a\nbudget: x\nstates: {}",
    "budget is not a number",
  ],
  ["no states", "machine: m\nentry: a\nbudget: 1", "states is not a mapping"],
  ["a state that is none", machineText("  a: x"), "states.a is not a mapping"],
  ["no output", machineText("  a: { prompt: p, gates: [] }"), "states.a.output is not a string"],
  ["no gates", machineText("  a: { prompt: p, output: o }"), "states.a.gates is not a list"],
  ["a gate that is none", machineText(state("a", "END")), "states.a.gates[0] is not a mapping"],
  [
    "a gate without a condition",
    machineText(state("a", "{ then: ok, to: END }")),
    "states.a.gates[0].when is not a string",
  ],
  [
    "a gate without a policy",
    machineText(state("a", "{ when: x, to: END }")),
    "states.a.gates[0] has none of then, repair, escalate, fail",
  ],
  ["a reserved state id", machineText(state("__proto__")), "states.__proto__ has a reserved name"],
  ["a list instead of a document", "[]", "the document is not a mapping"],
];
for (const [what, text, message] of unreadable) {
  Deno.test(`parseMachine() cannot read even leniently a document with ${what}`, () => {
    const { machine, diagnostics } = parseMachine(text, { grammar: "lenient" });
    assertEquals(machine, undefined);
    assertEquals(diagnostics.map((d) => [d.code, d.message]), [["unreadable", message]]);
  });
}

Deno.test("parseMachine() refuses broken YAML leniently too", () => {
  const { machine, diagnostics } = parseMachine(PLAIN + "\nmachine: n", { grammar: "lenient" });
  assertEquals(machine, undefined);
  assertEquals(diagnostics.map(({ code }) => code), ["duplicate-key"]);
});

Deno.test("readYaml() gives any value, and none beside an error", () => {
  assertEquals(JSON.stringify(readYaml("- 1\n- a: b").value), '[1,{"a":"b"}]');
  assertEquals(readYaml("").value, null);
  const broken = readYaml("a: 1\na: 2");
  assertEquals(broken.value, undefined);
  assertEquals(broken.diagnostics.map(({ code }) => code), ["duplicate-key"]);
});
