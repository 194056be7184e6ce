import { assertEquals } from "@std/assert";
import { loadReader } from "../../src/machine/load_reader.ts";
import { checkMachine, checkReferences, createRegistry } from "../../src/machine/mod.ts";
import { lines, machineText, readMachine, state, TO_END } from "./machines.ts";

const { parseMachine } = await loadReader();

interface Row {
  readonly what: string;
  readonly text: string;
  readonly found: readonly string[];
}

const UNREACHED = "warning unreachable-state";
const CATCH_ALL =
  "no catch-all gate, so a run in which no condition holds halts with no-gate-matched";

const rows: Row[] = [
  { what: "nothing in a sound machine", text: machineText(state("a")), found: [] },
  {
    what: "an entry that is no state, and all that follows from it",
    text: machineText(state("b") + "\n" + state("a"), "entry: aa"),
    found: [
      "error unknown-entry 3:8 entry 'aa' is not a state",
      "error no-path-to-end 3:8 no reachable path to END from 'aa'",
      `${UNREACHED} 6:3 a: unreachable state, no path leads here from 'aa'`,
      `${UNREACHED} 5:3 b: unreachable state, no path leads here from 'aa'`,
    ],
  },
  {
    what: "an entry that is a member of every object",
    text: machineText(state("a"), "entry: constructor"),
    found: [
      "error unknown-entry 3:8 entry 'constructor' is not a state",
      "error no-path-to-end 3:8 no reachable path to END from 'constructor'",
      `${UNREACHED} 5:3 a: unreachable state, no path leads here from 'constructor'`,
    ],
  },
  {
    what: "a gate to an unknown state",
    text: machineText(state("a", `{ when: x, then: ok, to: end }, ${TO_END}`)),
    found: ["error unknown-state 5:77 a: gate -> unknown state 'end'"],
  },
  {
    what: "a repair and an escalation to unknown states",
    text: machineText(
      state("a", `{ when: x, repair: 1, to: q }, { when: y, escalate: true, to: r }, ${TO_END}`),
    ),
    found: [
      "error unknown-state 5:78 a: gate -> unknown state 'q'",
      "error unknown-state 5:114 a: gate -> unknown state 'r'",
    ],
  },
  {
    what: "an undeclared hook, on a catch-all too",
    text: machineText(
      state(
        "a",
        "{ when: x, hook: h, fail: true }, { when: otherwise, hook: 'eq:a:b', then: ok, to: END }",
      ),
      "hooks: [{ name: g }]",
    ),
    found: [
      "warning undeclared-hook 6:69 a: gate hook 'h' is not declared in the machine's hooks",
      "warning undeclared-hook 6:111 a: gate hook 'eq:a:b' is not declared in the machine's hooks",
    ],
  },
  {
    what: "no hook where none is declared",
    text: machineText(state("a", `{ when: x, hook: h, fail: true }, ${TO_END}`)),
    found: [],
  },
  {
    what: "an undeclared tool",
    text: machineText(`  a: { tool: t, output: o, gates: [${TO_END}] }`, "tools: [{ name: s }]"),
    found: ["warning undeclared-tool 6:14 a: tool 't' is not declared in the machine's tools"],
  },
  {
    what: "a state without a catch-all, a single condition too",
    text: machineText(state("a", "{ when: x, then: ok, to: END }")),
    found: [`warning missing-catch-all 5:51 a: ${CATCH_ALL}`],
  },
  {
    what: "no missing catch-all where it is written otherwise",
    text: machineText(state("a", '{ when: " Otherwise ", then: ok, to: END }')),
    found: [],
  },
  {
    what: "a missing catch-all behind a dot",
    text: machineText(state("a", "{ when: otherwise., then: ok, to: END }")),
    found: [`warning missing-catch-all 5:51 a: ${CATCH_ALL}`],
  },
  {
    what: "a result that no state writes",
    text: machineText(state("a"), "result: oo"),
    found: ["warning unproduced-result 4:9 result key 'oo' is not produced by any state"],
  },
  {
    what: "no path to the end",
    text: machineText(
      state("a", "{ when: otherwise, then: ok, to: b }") + "\n" +
        state("b", "{ when: otherwise, then: ok, to: a }") + "\n" + state("c"),
    ),
    found: [
      "error no-path-to-end 2:8 no reachable path to END from 'a'",
      `${UNREACHED} 7:3 c: unreachable state, no path leads here from 'a'`,
    ],
  },
  {
    what: "unreachable states, sorted by code point",
    text: machineText([state("a"), state("é"), state("B"), state("b")].join("\n")),
    found: ["B", "b", "é"].map((id) =>
      `${UNREACHED} ${id === "é" ? 6 : id === "B" ? 7 : 8}:3 ${id}: unreachable state, no path ` +
      "leads here from 'a'"
    ),
  },
  {
    what: "a budget below the shortest path",
    text: machineText(
      [
        state("a", "{ when: otherwise, then: ok, to: b }"),
        state("b", "{ when: otherwise, then: ok, to: c }"),
        state("c"),
      ].join("\n"),
      "budget: 2",
    ),
    found: [
      "error budget-infeasible 3:9 budget-infeasible: budget 2 is below the 3-step shortest path " +
      "to END, so no run can finish",
    ],
  },
  ...[[1, true], [2, true], [3, false]].map(([budget, warned]) => ({
    what: `${warned ? "little" : "enough"} headroom in a budget of ${budget} for one step`,
    text: machineText(state("a"), `budget: ${budget}`),
    found: warned
      ? [
        `warning budget-headroom 3:9 budget ${budget} leaves little headroom above the 1-step ` +
        "shortest path to END",
      ]
      : [],
  })),
  {
    what: "a shortest path over gates of every policy",
    text: machineText(
      [
        state("a", "{ when: x, repair: 1, to: b }, { when: otherwise, then: ok, to: a }"),
        state("b", "{ when: otherwise, escalate: true, to: END }"),
      ].join("\n"),
      "budget: 4",
    ),
    found: [],
  },
  {
    what: "a ceiling before the repairs finish",
    text: machineText(
      state("a", `{ when: x, repair: 2, to: a }, ${TO_END}`, "max_visits: 2"),
    ),
    found: [
      "warning ceiling-before-repairs 5:56 a: max_visits 2 does not allow repair: 2, the ceiling " +
      "fires before the repairs finish",
    ],
  },
  {
    what: "no ceiling above the repairs, nor for repairs of another state",
    text: machineText(
      state(
        "a",
        `{ when: x, repair: 1, to: a }, { when: y, repair: 9, to: b }, ${TO_END}`,
        "max_visits: 2",
      ) +
        "\n" + state("b"),
    ),
    found: [],
  },
  {
    what: "a placeholder that nothing fills",
    text: machineText(
      `  a: { prompt: "{{x}} {{o}} {{human.reply}}", structure: s, output: o, gates: [${TO_END}] }`,
    ),
    found: ["warning unresolved-root 5:17 a: no context key or state output provides 'x'"],
  },
  {
    what: "a state called END",
    text: machineText(state("a") + "\n" + state("END")),
    found: [
      'warning end-state 6:8 END: a state of this name can only be the entry, since "to: END" ends the run',
      `${UNREACHED} 6:3 END: unreachable state, no path leads here from 'a'`,
    ],
  },
];
for (const { what, text, found } of rows) {
  Deno.test(`checkMachine() finds ${what}`, () => {
    assertEquals(lines(checkMachine(readMachine(text))), found);
  });
}

Deno.test("checkMachine() finds a call of a machine that the registry lacks, and suggests one", () => {
  const machine = readMachine(machineText(`  a: { call: kidd, output: o, gates: [${TO_END}] }`));
  const kid = readMachine(machineText(state("a"), "machine: kid"));
  const [found, ...others] = checkMachine(machine, { registry: createRegistry([kid]) });
  assertEquals(others, []);
  assertEquals(found?.code, "unknown-machine");
  assertEquals(found?.severity, "error");
  assertEquals(found?.message, "a: call -> unknown machine 'kidd'");
  assertEquals(found?.hint, "Did you mean 'kid'?");
  assertEquals(checkMachine(machine), []);
});

Deno.test("checkMachine() suggests END for another spelling of it", () => {
  const machine = readMachine(machineText(state("a", `{ when: x, then: ok, to: End }, ${TO_END}`)));
  assertEquals(checkMachine(machine)[0]?.hint, "Did you mean 'END'?");
});

Deno.test("checkMachine() lists what there is where no name is near", () => {
  const hints = (text: string) =>
    checkMachine(readMachine(text), { registry: createRegistry([readMachine(KID)]) })
      .filter(({ severity, code }) => severity === "error" && code !== "no-path-to-end")
      .map(({ hint }) => hint);
  assertEquals(hints(machineText(state("a"), "entry: start")), ["Write one of the states: a"]);
  assertEquals(hints(machineText(state("a", `{ when: x, then: ok, to: other }, ${TO_END}`))), [
    "Write END or one of the states: a",
  ]);
  assertEquals(hints(machineText(`  a: { call: other, output: o, gates: [${TO_END}] }`)), [
    'Put the file with "machine: other" beside this one, or call one of: kid',
  ]);
  const many = Array.from({ length: 20 }, (_, index) => state(`s${index}`)).join("\n");
  assertEquals(hints(machineText(many, "entry: nowhere")), [
    "Write one of the states: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, …",
  ]);
});

const KID = machineText(state("a"), "machine: kid");

Deno.test("checkMachine() finds hooks and targets of a gate before what its state lacks", () => {
  const machine = readMachine(machineText(
    state("a", "{ when: x, hook: h, then: ok, to: q }, { when: y, then: ok, to: END }"),
    "hooks: [{ name: g }]",
  ));
  assertEquals(checkMachine(machine).map(({ code }) => code), [
    "unknown-state",
    "undeclared-hook",
    "missing-catch-all",
  ]);
});

Deno.test("checkMachine() does not look into the machines that are called", () => {
  const kid = readMachine(
    machineText(state("a", "{ when: x, then: ok, to: gone }"), "machine: kid"),
  );
  const machine = readMachine(machineText(`  a: { call: kid, output: o, gates: [${TO_END}] }`));
  assertEquals(checkMachine(machine, { registry: createRegistry([kid]) }), []);
});

Deno.test("checkReferences() finds in a draft what names refer to, and nothing of paths", () => {
  const { draft, diagnostics } = parseMachine(machineText(
    `  a: { promt: p, structure: s, output: o, gates: [{ when: x, then: ok, to: q }] }`,
    "entry: b",
  ));
  assertEquals(diagnostics.map(({ code }) => code), ["unknown-key"]);
  assertEquals(draft === undefined ? [] : lines(checkReferences(draft)), [
    "error unknown-entry 3:8 entry 'b' is not a state",
    "error unknown-state 5:76 a: gate -> unknown state 'q'",
  ]);
});
