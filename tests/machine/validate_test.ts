import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { loadReader } from "../../src/machine/load_reader.ts";
import { anyDocument } from "./arbitrary_documents.ts";
import { machineText, state, TO_END } from "./machines.ts";

const { parseMachine } = await loadReader();

interface Row {
  /** What is wrong. */
  readonly what: string;
  /** The document. */
  readonly text: string;
  /** Code, place and message of every problem. */
  readonly problems: readonly string[];
  /** The hint of the first. */
  readonly hint?: string;
}

const top = (line: string) => machineText(state("a"), line);
const own = (more: string) => machineText(state("a", TO_END, more));
const gate = (text: string) => machineText(state("a", text));

const rows: Row[] = [
  {
    what: "an empty document",
    text: "# nothing",
    problems: ["not-a-mapping 1:1 A machine must be a mapping at the top, found nothing"],
    hint: 'Start with "machine: name"',
  },
  {
    what: "a list",
    text: "- a",
    problems: ["not-a-mapping 1:1 A machine must be a mapping at the top, found a list"],
  },
  {
    what: "a text",
    text: "hello",
    problems: ['not-a-mapping 1:1 A machine must be a mapping at the top, found the text "hello"'],
  },
  {
    what: "missing keys, all of them",
    text: "{}",
    problems: [
      'missing-key 1:1 The key "machine" is missing',
      'missing-key 1:1 The key "entry" is missing',
      'missing-key 1:1 The key "budget" is missing',
      'missing-key 1:1 The key "states" is missing',
    ],
    hint: "Add machine: the machine's name, by which others call it",
  },
  {
    what: "a slip in a key",
    text: top("budgit: 9\nbudget: 9"),
    problems: ['unknown-key 3:1 The key "budgit" is not allowed in a machine'],
  },
  {
    what: "a key of another format",
    text: top("version: 1"),
    problems: ['unknown-key 4:1 The key "version" is not allowed in a machine'],
    hint: 'Did you mean "mklang"?',
  },
  {
    what: "a modeline that lost its hash",
    text: "yaml-language-server: $schema=./machine.schema.json\n" + machineText(state("a")),
    problems: ['unknown-key 1:1 The key "yaml-language-server" is not allowed in a machine'],
    hint: 'Write it as a comment: "# yaml-language-server: $schema=…"',
  },
  {
    what: "a version without quotes",
    text: top("mklang: 0.4"),
    problems: ["wrong-type 4:9 mklang must be a string, found the number 0.4"],
    hint: 'Put it in quotes: "0.4"',
  },
  {
    what: "a budget in quotes",
    text: top('budget: "9"'),
    problems: ['wrong-type 3:9 budget must be a whole number of at least 1, found the text "9"'],
    hint: "Write 9 without quotes",
  },
  {
    what: "a budget of nothing",
    text: top("budget: 0"),
    problems: ["bad-value 3:9 budget must be a whole number of at least 1, found the number 0"],
  },
  {
    what: "half a step",
    text: top("budget: 1.5"),
    problems: ["bad-value 3:9 budget must be a whole number of at least 1, found the number 1.5"],
  },
  {
    what: "a boolean for a number",
    text: top("budget: true"),
    problems: [
      "wrong-type 3:9 budget must be a whole number of at least 1, found the boolean true",
    ],
  },
  {
    what: "a tier that is none",
    text: top("default_tier: fats"),
    problems: [
      'bad-value 4:15 default_tier must be one of "fast", "balanced", "reasoning", found the text "fats"',
    ],
    hint: 'Did you mean "fast"?',
  },
  {
    what: "an explicit null as context",
    text: top("context:"),
    problems: ["wrong-type 4:9 context must be a mapping, found nothing"],
    hint: "Write {} or leave it out",
  },
  {
    what: "tools as words",
    text: top("tools: [search]"),
    problems: ['wrong-type 4:9 tools[0] must be a mapping, found the text "search"'],
    hint: "Write - { name: search }",
  },
  {
    what: "a comma that splits a description",
    text: top("hooks: [{ name: h, description: this, and that }]"),
    problems: ['unknown-key 4:39 The key "and that" is not allowed in an entry (hooks[0])'],
    hint: "If it is part of a text, put the whole text in quotes: a comma between brackets ends it",
  },
  {
    what: "no states",
    text: "machine: m\nentry: a\nbudget: 1\nstates: {}",
    problems: ["empty 4:9 states must have at least one state, found none"],
  },
  {
    what: "states as a list",
    text: "machine: m\nentry: a\nbudget: 1\nstates: [{ prompt: p }]",
    problems: ["wrong-type 4:9 states must be a mapping, found a list"],
    hint: "Write each state as a key: its id, then its members",
  },
  {
    what: "a reserved state id",
    text: machineText(state("a") + "\n" + state("__proto__")),
    problems: ['reserved-name 6:3 The name "__proto__" is reserved (states)'],
  },
  {
    what: "a reserved output",
    text: machineText(`  a: { prompt: p, structure: s, output: __proto__, gates: [${TO_END}] }`),
    problems: ['reserved-name 5:41 The name "__proto__" is reserved (states.a)'],
  },
  {
    what: "a state without members",
    text: machineText("  a:"),
    problems: ["wrong-type 5:5 states.a must be a mapping, found nothing"],
    hint: "Indent its members below it",
  },
  {
    what: "a state of no kind",
    text: machineText("  a: {}"),
    problems: [
      'unknown-kind 5:3 states.a is no state: it has neither "prompt" nor "call" nor "tool"',
    ],
  },
  {
    what: "a generative state without its members",
    text: machineText("  a: { prompt: p }"),
    problems: [
      'missing-key 5:3 states.a has no "structure"',
      'missing-key 5:3 states.a has no "output"',
      'missing-key 5:3 states.a has no "gates"',
    ],
  },
  {
    what: "a call state with keys of a generative one",
    text: machineText(`  a: { call: m, structure: s, output: o, gates: [${TO_END}] }`),
    problems: ['unknown-key 5:17 The key "structure" is not allowed in a call state (states.a)'],
  },
  {
    what: "a tier of a tool state",
    text: machineText(`  a: { tool: t, tier: fast, output: o, gates: [${TO_END}] }`),
    problems: ['unknown-key 5:17 The key "tier" is not allowed in a tool state (states.a)'],
  },
  {
    what: "a word of YAML 1.1 for a boolean",
    text: own("reason: yes"),
    problems: [
      "yaml-boolean 5:52 Unquoted yes is text here (YAML 1.2), but the boolean true to readers of YAML 1.1",
      'wrong-type 5:52 states.a.reason must be true or false, found the text "yes"',
    ],
  },
  {
    what: "one sample",
    text: own("sample: 1"),
    problems: [
      "bad-value 5:52 states.a.sample must be a whole number of at least 2, found the number 1",
    ],
  },
  {
    what: "sample and over",
    text: own('sample: 2, over: "{{x}}"'),
    problems: [
      'sample-and-over 5:44 states.a has both "sample" and "over", where one of them is allowed',
    ],
  },
  {
    what: "no gates",
    text: gate(""),
    problems: ["empty 5:51 states.a.gates must have at least one gate, found none"],
    hint: "Add - { when: otherwise, then: ok, to: END }",
  },
  {
    what: "a gate as a text",
    text: gate("END"),
    problems: ['wrong-type 5:52 states.a.gates[0] must be a mapping, found the text "END"'],
  },
  {
    what: "a condition that is no text",
    text: gate("{ when: true, then: ok, to: END }"),
    problems: [
      "wrong-type 5:60 states.a.gates[0].when must be a string, found the boolean true",
    ],
    hint: 'Put it in quotes: "true"',
  },
  {
    what: "a gate without a policy",
    text: gate("{ when: x, to: END }"),
    problems: [
      'missing-policy 5:52 states.a.gates[0] does not say what happens: one of "then", "repair", "escalate", "fail" is missing',
    ],
  },
  {
    what: "a gate with two policies",
    text: gate("{ when: x, then: ok, fail: true, to: END }"),
    problems: [
      'several-policies 5:73 states.a.gates[0] has "then" and "fail", where exactly one of them is allowed',
    ],
  },
  {
    what: "a slip in a policy",
    text: gate("{ when: x, escalte: true, to: END }"),
    problems: [
      'unknown-key 5:63 The key "escalte" is not allowed in a gate (states.a.gates[0])',
    ],
  },
  {
    what: "another word than ok",
    text: gate("{ when: x, then: yes, to: END }"),
    problems: [
      "yaml-boolean 5:69 Unquoted yes is text here (YAML 1.2), but the boolean true to readers of YAML 1.1",
      'bad-value 5:69 states.a.gates[0].then must be "ok", found the text "yes"',
    ],
  },
  {
    what: "no repairs",
    text: gate("{ when: x, repair: 0, to: a }"),
    problems: [
      "bad-value 5:71 states.a.gates[0].repair must be a whole number of at least 1, found the number 0",
    ],
  },
  {
    what: "a number for true",
    text: gate("{ when: x, escalate: 1, to: END }"),
    problems: ["wrong-type 5:73 states.a.gates[0].escalate must be true, found the number 1"],
  },
  {
    what: "a fail gate that leads on",
    text: gate("{ when: x, fail: true, to: END }"),
    problems: [
      'unknown-key 5:75 The key "to" is not allowed in a gate with fail (states.a.gates[0])',
    ],
  },
  {
    what: "a question on another gate than an escalation",
    text: gate("{ when: x, then: ok, to: END, ask: why }"),
    problems: [
      'unknown-key 5:82 The key "ask" is not allowed in a gate with then (states.a.gates[0])',
    ],
  },
  {
    what: "a gate that leads nowhere",
    text: gate("{ when: x, then: ok }"),
    problems: ['missing-key 5:52 states.a.gates[0] has no "to"'],
    hint: "Add to: the next state's id, or END",
  },
];
for (const { what, text, problems, hint } of rows) {
  Deno.test(`parseMachine() reports ${what}: ${problems[0]?.split(" ")[0]}`, () => {
    const { machine, diagnostics } = parseMachine(text);
    assertEquals(machine, undefined);
    assertEquals(
      diagnostics.map(({ code, position, message }) =>
        `${code} ${position?.line}:${position?.column} ${message}`
      ),
      problems,
    );
    if (hint !== undefined) assertEquals(diagnostics[0]?.hint, hint);
    assert(diagnostics.every(({ excerpt }) => excerpt !== undefined));
  });
}

const advice: [what: string, text: string, hint: string][] = [
  ["a version that is none", top("mklang: 5"), 'Write "0.4" in quotes'],
  ["an entry without a value", top("entry:"), "Write a text: the id of the first state"],
  ["a budget of nothing", top("budget: 0"), "Write a whole number: the most steps of one run"],
  ["a budget with an underscore", top("budget: 1_000"), "Write 1000"],
  [
    "a tier of another program",
    own("tier: mini"),
    "Write fast, balanced or reasoning, or leave it out",
  ],
  ["another parse", own("parse: yaml"), "Write list or json, or leave it out"],
  [
    "a boolean that is none",
    own("reason: maybe"),
    "Write true or false: whether the model thinks before it answers",
  ],
  [
    "a context that is a list",
    top("context: [a]"),
    'Write its members below it, each as "key: value": the values that a run starts with',
  ],
  [
    "a gate that is a text",
    gate("END"),
    "Write a mapping, such as { when: otherwise, then: ok, to: END }",
  ],
  [
    "gates that are a text",
    machineText("  a: { prompt: p, structure: s, output: o, gates: END }"),
    "Write a list: - { when: otherwise, then: ok, to: END }",
  ],
  [
    "gates beside their state",
    machineText(
      "  a: { prompt: p, structure: s, output: o, gates: [" + TO_END + "] }\n  gates: []",
    ),
    'Indent "gates" further: it belongs to the state above it',
  ],
  ["a slip in a policy", gate("{ when: x, escalte: true, to: END }"), 'Did you mean "escalate"?'],
  ["the beginning of a word", top("tools: [{ name: t, descr: d }]"), 'Did you mean "description"?'],
  [
    "no space after a colon",
    gate("{ when: x, then:ok, to: END }"),
    'Write a space after the colon: "then: ok"',
  ],
  [
    "a gate with fail that leads on",
    gate("{ when: x, fail: true, to: END }"),
    "Remove it: only a gate with then, repair or escalate has it",
  ],
  [
    "a question of a gate that does not ask",
    gate("{ when: x, then: ok, to: END, ask: q }"),
    "Remove it: only a gate with escalate has it",
  ],
  [
    "a prompt in a state that calls",
    machineText(`  a: { call: m, prompt: p, output: o, gates: [${TO_END}] }`),
    'Keep one of "call" and "prompt": they make different kinds of states',
  ],
  [
    "a tier in a state that runs a tool",
    machineText(`  a: { tool: t, tier: fast, output: o, gates: [${TO_END}] }`),
    "Remove it: only a state with prompt or call has it",
  ],
  [
    "a key of a state at the top",
    top("prompt: p"),
    "It belongs to a state: check how far the line is indented, or remove it",
  ],
  [
    "a key of a state in a gate",
    gate("{ when: x, then: ok, to: END, output: o }"),
    "It belongs to a state: check how far the line is indented, or remove it",
  ],
  [
    "a comma in a text",
    gate("{ when: it is good, really, then: ok, to: END }"),
    "If it is part of a text, put the whole text in quotes: a comma between brackets ends it",
  ],
  [
    "scenarios at the top",
    top("scenarios: []"),
    "A file of scenarios is no machine: kit test MACHINE --script FILE plays it",
  ],
  [
    "a key of nothing",
    top("colour: red"),
    "Remove it; also allowed here: mklang, default_tier, result, context, tools, hooks",
  ],
];
for (const [what, text, hint] of advice) {
  Deno.test(`parseMachine() says what to write for ${what}`, () => {
    const errors = parseMachine(text).diagnostics.filter(({ severity }) => severity === "error");
    assertEquals(errors.map((error) => error.hint), [hint]);
  });
}

Deno.test("parseMachine() says what to write for every problem of the grammar", () => {
  fc.assert(
    fc.property(anyDocument, (value) => {
      const { diagnostics } = parseMachine(JSON.stringify(value));
      for (const { message, hint } of diagnostics) assert((hint ?? "") !== "", message);
    }),
    { numRuns: 300, seed: 11 },
  );
});

Deno.test("parseMachine() says of a grammar problem its stage and its path", () => {
  const { diagnostics } = parseMachine(gate("{ when: true, then: ok, to: END }"));
  assertEquals(diagnostics[0]?.stage, "schema");
  assertEquals(diagnostics[0]?.path, ["states", "a", "gates", 0, "when"]);
});

Deno.test("parseMachine() reports problems of YAML and of the grammar in one pass", () => {
  const { diagnostics } = parseMachine(
    "machine: m\nmachine: n\nentry: 5\nbudget: 2\nstates:\n" + state("a") + "\nx: {{y}}",
  );
  assertEquals(diagnostics.map(({ code }) => code), [
    "duplicate-key",
    "wrong-type",
    "unknown-key",
    "unquoted-placeholder",
  ]);
});

Deno.test("parseMachine() says nothing of the grammar where the syntax is broken", () => {
  const { diagnostics } = parseMachine("machine: m\nentry: a: b\nstates: {}");
  assertEquals(diagnostics.map(({ code }) => code), ["colon-in-text"]);
});

Deno.test("parseMachine() says nothing that follows from a value which YAML could not give", () => {
  const { diagnostics } = parseMachine(machineText(state("a"), "entry: *gone"));
  assertEquals(diagnostics.map(({ code }) => code), ["unknown-alias"]);
});

Deno.test("parseMachine() accepts every key of every kind of state and gate", () => {
  const { diagnostics } = parseMachine(`mklang: "0.4"
machine: ""
entry: a
budget: 5.0
default_tier: reasoning
result: r
context: { x: [1] }
tools: [{ name: t, description: d }]
hooks: [{ name: h }]
states:
  a:
    prompt: ""
    structure: s
    execution: e
    tier: fast
    reason: true
    parse: json
    accumulate: false
    sample: 2
    max_visits: 1
    output: r
    gates:
      - { when: x, hook: h, then: ok, to: b }
      - { when: x, hook: h, repair: 2, to: a }
      - { when: x, hook: h, escalate: true, to: END, ask: q, reply_to: a.b }
      - { when: x, hook: h, fail: true }
  b: { call: m, input: { a: [1] }, tier: balanced, accumulate: true, over: "{{x}}", max_visits: 2, output: r, gates: [${TO_END}] }
  c: { tool: t, input: {}, accumulate: true, sample: 3, max_visits: 2, output: r, gates: [${TO_END}] }
`);
  assertEquals(diagnostics, []);
});
