import { assertEquals } from "@std/assert";
import { createRegistry, lintMachine } from "../../src/machine/mod.ts";
import { lines, machineText, readMachine, state, TO_END } from "./machines.ts";

interface Row {
  readonly what: string;
  readonly text: string;
  readonly found: readonly string[];
}

const NEXT = "{ when: otherwise, then: ok, to: b }";
const prompt = (text: string, more = "") =>
  `  a: { prompt: "${text}", structure: s, output: o${more}, gates: [${TO_END}] }`;

const rows: Row[] = [
  { what: "nothing in a sound machine", text: machineText(state("a")), found: [] },
  {
    what: "gates behind a catch-all",
    text: machineText(
      state("a", `${TO_END}, { when: x, then: ok, to: a }, { when: otherwise, fail: true }`),
    ),
    found: ["warning dead-gates 5:92 a: 2 gate(s) after 'otherwise' can never fire"],
  },
  {
    what: "repairs and nothing else",
    text: machineText(
      state("a", "{ when: x, repair: 1, to: a }, { when: otherwise, repair: 1, to: a }"),
    ),
    found: [
      "warning repair-only 5:51 a: every gate is a repair, so once they are used up the run halts " +
      "with no-gate-matched",
      "warning repair-catch-all 5:83 a: the only `when: otherwise` gate is a repair, so once it " +
      "is used up the run halts with no-gate-matched",
    ],
  },
  {
    what: "a missing catch-all",
    text: machineText(state("a", "{ when: x, then: ok, to: END }")),
    found: [
      "warning missing-catch-all 5:51 a: no catch-all gate, so a run in which no condition holds " +
      "halts with no-gate-matched",
    ],
  },
  {
    what: "a catch-all that is a repair",
    text: machineText(
      state("a", "{ when: x, then: ok, to: END }, { when: otherwise, repair: 1, to: a }"),
    ),
    found: [
      "warning repair-catch-all 5:84 a: the only `when: otherwise` gate is a repair, so once it " +
      "is used up the run halts with no-gate-matched",
    ],
  },
  {
    what: "no repair as a catch-all where another one follows",
    text: machineText(state("a", `{ when: otherwise, repair: 1, to: a }, ${TO_END}`)),
    found: ["warning dead-gates 5:91 a: 1 gate(s) after 'otherwise' can never fire"],
  },
  {
    what: "an output that nothing reads",
    text: machineText(state("a", NEXT).replace("output: o", "output: q") + "\n" + state("b")),
    found: ["warning unread-output 5:41 a: output 'q' is never read"],
  },
  ...([
    [
      "a prompt reads",
      machineText(state("a", NEXT) + "\n" + state("b").replace("prompt: p", 'prompt: "{{o.x}}"')),
    ],
    [
      "the result names",
      machineText(
        state("a", NEXT) + "\n" + state("b").replace("output: o", "output: q"),
        "result: o",
      ),
    ],
    [
      "a gate judges",
      machineText(state("a", `{ when: x, then: ok, to: b }, ${NEXT}`) + "\n" + state("b")),
    ],
    [
      "a hook names",
      machineText(
        state("a", `{ when: x, hook: "eq:o:1", then: ok, to: b }, ${NEXT}`) + "\n" + state("b"),
      ),
    ],
    [
      "a structure mentions",
      machineText(
        state("a", NEXT) + "\n" + state("b").replace("structure: s", 'structure: "{{o}}"'),
      ),
    ],
  ] as const).map(([what, text]) => ({ what: `no unread output that ${what}`, text, found: [] })),
  {
    what: "an unread output without a name beside a hook",
    text: machineText(
      state("a", `{ when: x, hook: "eq:oo:1", then: ok, to: b }, ${NEXT}`)
        .replace("output: o", 'output: ""') + "\n" + state("b"),
    ),
    found: ["warning unread-output 5:41 a: output '' is never read"],
  },
  {
    what: "an output of which a hook names only a part",
    text: machineText(
      state("a", `{ when: x, hook: "eq:oo:1", then: ok, to: b }, ${NEXT}`) + "\n" + state("b"),
    ),
    found: ["warning unread-output 5:41 a: output 'o' is never read"],
  },
  {
    what: "escalations, all in one note",
    text: machineText(
      state("a", "{ when: otherwise, escalate: true, to: b }").replace("output: o", "output: q") +
        "\n" +
        state("b", `{ when: x, escalate: true, to: END }, ${TO_END}`).replace(
          "prompt: p",
          'prompt: "{{q}}"',
        ),
    ),
    found: [
      "note prose-escalate 5:51 note: machine uses escalate on [a, b]: with human review switched " +
      "on a run stops there and waits, without it the gate only leads on",
    ],
  },
  {
    what: "no escalation behind a catch-all",
    text: machineText(state("a", `${TO_END}, { when: x, escalate: true, to: END }`)),
    found: ["warning dead-gates 5:92 a: 1 gate(s) after 'otherwise' can never fire"],
  },
  {
    what: "fan-out names outside a fan-out, each once",
    text: machineText(prompt("{{item.x}} {{item}} {{index}}")),
    found: [
      "warning fanout-var 5:17 a: {{item}} is empty here: the state is not a fan-out",
      "warning fanout-var 5:37 a: {{index}} is empty here: the state is not a fan-out",
    ],
  },
  {
    what: "no fan-out names within one",
    text: machineText(prompt("{{item}} {{index}}", ', over: "{{xs}}"'), "context: { xs: [1] }"),
    found: [],
  },
  {
    what: "roots that nothing fills, in the order of the texts",
    text: machineText(
      `  a: { prompt: "{{p}}", structure: "{{s}} {{p}}", execution: "{{e}}", over: "{{v}}", output: o, gates: [${TO_END}] }`,
    ),
    found: [
      "warning unresolved-root 5:17 a: no context key or state output provides 'p'",
      "warning unresolved-root 5:37 a: no context key or state output provides 's'",
      "warning unresolved-root 5:63 a: no context key or state output provides 'e'",
      "warning unresolved-root 5:78 a: no context key or state output provides 'v'",
    ],
  },
  {
    what: "roots in texts of an input, but not in nested ones",
    text: machineText(
      `  a: { tool: calc, input: { q: "{{x}}", r: ["{{y}}"], s: { t: "{{z}}" } }, output: o, gates: [${TO_END}] }`,
    ),
    found: ["warning unresolved-root 5:33 a: no context key or state output provides 'x'"],
  },
  {
    what: "no root that a reply fills",
    text: machineText(
      state("a", `{ when: otherwise, escalate: true, to: b, reply_to: decision.answer }`)
        .replace("output: o", "output: q") +
        "\n" +
        state("b").replace("prompt: p", 'prompt: "{{decision.answer}} {{human.reply}} {{q}}"'),
    ),
    found: [
      "note prose-escalate 5:51 note: machine uses escalate on [a]: with human review switched " +
      "on a run stops there and waits, without it the gate only leads on",
    ],
  },
  {
    what: "fields that an inline mapping lacks, each path once",
    text: machineText(
      prompt("{{t.body}} {{t.boddy}} {{t.boddy}} {{t.x.y}} {{l.x}} {{n.x}}"),
      "context: { t: { body: 1 }, l: [], n: null }",
    ),
    found: [
      "warning unresolved-field 6:28 a: the inline context map 't' has no key 'boddy'",
      "warning unresolved-field 6:52 a: the inline context map 't' has no key 'x'",
    ],
  },
  {
    what: "no fields of a mapping that a state writes too",
    text: machineText(prompt("{{o.x}}"), "context: { o: { y: 1 } }"),
    found: [],
  },
];
for (const { what, text, found } of rows) {
  Deno.test(`lintMachine() finds ${what}`, () => {
    assertEquals(lines(lintMachine(readMachine(text))), found);
  });
}

const hashes: [line: string, found: boolean][] = [
  ["- when: mentions C# or F#", true],
  ["- when: mentions a#b # and more", true],
  ["- when: mentions issue #7", false],
  ["- when: otherwise # the rest", false],
  ["- when: 'mentions C#'", false],
  ['- when: "mentions C#"', false],
  ["- when: nothing of the kind", false],
];
for (const [line, found] of hashes) {
  Deno.test(`lintMachine() finds ${found ? "an" : "no"} unquoted hash in ${line}`, () => {
    const machine = readMachine(
      machineText(
        `  a:\n    prompt: p\n    structure: s\n    output: o\n    gates:\n      ${line}\n` +
          `        then: ok\n        to: END\n      - ${TO_END}`,
      ),
    );
    const codes = lintMachine(machine).filter(({ code }) => code === "unquoted-hash");
    assertEquals(codes.map(({ position }) => position), found ? [{ line: 10, column: 1 }] : []);
    if (found) assertEquals(codes[0]?.message.slice(0, 9), "line 10: ");
  });
}

const tool = (id: string, name: string, gates = TO_END) =>
  `  ${id}: { tool: ${name}, output: o, gates: [${gates}] }`;
const flows: [what: string, states: string[], found: string[]][] = [
  ["a prose gate before an effect", [
    state("a", `{ when: x, then: ok, to: b }, ${TO_END}`),
    tool("b", "write_file"),
  ], ["note: b: effectful tool 'write_file' is reachable on a decision that a model made"]],
  ["a mark that catch-alls hand on", [
    state("a", `{ when: x, then: ok, to: b }, ${TO_END}`),
    state("b", "{ when: otherwise, then: ok, to: c }"),
    tool("c", "unheard_of"),
  ], ["note: c: effectful tool 'unheard_of' is reachable on a decision that a model made"]],
  ["nothing behind a hook", [
    state("a", `{ when: x, hook: h, then: ok, to: b }, ${TO_END}`),
    tool("b", "write_file"),
  ], []],
  ["nothing behind a catch-all of the entry", [
    state("a", "{ when: otherwise, then: ok, to: b }"),
    tool("b", "write_file"),
  ], []],
  ["nothing in a tool that only reads", [
    state("a", `{ when: x, then: ok, to: b }, ${TO_END}`),
    tool("b", "search"),
  ], []],
  ["nothing in a state called END, which no gate leads to", [
    state("a", `{ when: x, then: ok, to: END }, ${TO_END}`),
    tool("END", "write_file"),
  ], []],
];
for (const [what, states, found] of flows) {
  Deno.test(`lintMachine() notes ${what}`, () => {
    const notes = lintMachine(readMachine(machineText(states.join("\n"))))
      .filter(({ code }) => code === "flow-taint");
    assertEquals(notes.map(({ message }) => message), found);
    assertEquals(notes.filter(({ severity }) => severity !== "note"), []);
  });
}

Deno.test("lintMachine() notes an effect behind calls, only with a registry", () => {
  const machine = readMachine(machineText(
    [
      state("a", `{ when: x, then: ok, to: b }, ${TO_END}`),
      `  b: { call: kid, output: o, gates: [${TO_END}] }`,
    ].join("\n"),
  ));
  const kid = readMachine(
    machineText(`  a: { call: grandchild, output: o, gates: [${TO_END}] }`, "machine: kid"),
  );
  const grandchild = readMachine(machineText(tool("a", "send_reply"), "machine: grandchild"));
  const registry = createRegistry([kid, grandchild]);
  const codes = (options: Parameters<typeof lintMachine>[1]) =>
    lintMachine(machine, options).map(({ message }) => message);
  assertEquals(codes({ registry }), [
    "note: b: sub-machine 'kid' reaches an effectful tool on a decision that a model made",
  ]);
  assertEquals(codes({}), []);
  assertEquals(codes({ registry, toolEffects: new Map([["send_reply", "read"]]) }), []);
});

Deno.test("lintMachine() notes calls that lead back to the machine, and ends", () => {
  const machine = readMachine(
    machineText(`  a: { call: kid, output: o, gates: [${TO_END}] }`, "machine: top"),
  );
  const kid = readMachine(
    machineText(`  a: { call: top, output: o, gates: [${TO_END}] }`, "machine: kid"),
  );
  assertEquals(lines(lintMachine(machine, { registry: createRegistry([machine, kid]) })), [
    "note call-cycle 5:14 note: a: the call of 'kid' leads back to this machine, and calls deeper " +
    "than 8 halt",
  ]);
});
