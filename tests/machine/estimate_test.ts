import { assertEquals } from "@std/assert";
import { createRegistry, estimateRun, type Machine } from "../../src/machine/mod.ts";
import { machineText, readMachine, state, TO_END } from "./machines.ts";

const NEXT = "{ when: otherwise, then: ok, to: b }";
const BACK = "{ when: otherwise, then: ok, to: a }";

interface Row {
  readonly what: string;
  readonly text: string;
  /** Answers, judgements, model calls, completion tokens. */
  readonly most: readonly [number, number, number, number];
}

const rows: Row[] = [
  { what: "one state without a judgement", text: machineText(state("a")), most: [1, 0, 1, 4096] },
  {
    what: "one state with one batch of conditions",
    text: machineText(
      state("a", `{ when: x, then: ok, to: END }, { when: y, fail: true }, ${TO_END}`),
    ),
    most: [1, 1, 2, 4160],
  },
  {
    what: "batches that a hook parts, but none behind the catch-all",
    text: machineText(
      state(
        "a",
        "{ when: x, fail: true }, { when: h, hook: h, fail: true }, { when: y, fail: true }, " +
          `${TO_END}, { when: z, fail: true }`,
      ),
    ),
    most: [1, 2, 3, 4096 + 128],
  },
  {
    what: "a circle that only the budget ends",
    text: machineText(
      state("a", NEXT) + "\n" + state("b", `{ when: x, then: ok, to: END }, ${BACK}`),
    ),
    most: [9, 4, 13, 9 * 4096 + 4 * 64],
  },
  {
    what: "the dearest of two ways",
    text: machineText(
      [
        state("a", `{ when: x, then: ok, to: b }, { when: otherwise, then: ok, to: c }`),
        `  b: { tool: t, output: o, gates: [${TO_END}] }`,
        state("c", "{ when: otherwise, then: ok, to: d }"),
        state("d"),
      ].join("\n"),
    ),
    most: [3, 1, 4, 3 * 4096 + 64],
  },
  {
    what: "repairs of a state by itself, as often as they are allowed",
    text: machineText(state("a", `{ when: x, repair: 3, to: a }, ${TO_END}`)),
    most: [4, 4, 8, 4 * 4160],
  },
  {
    what: "repairs under a ceiling of visits",
    text: machineText(state("a", `{ when: x, repair: 3, to: a }, ${TO_END}`, "max_visits: 2")),
    most: [2, 2, 4, 2 * 4160],
  },
  {
    what: "repairs that the budget cuts off",
    text: machineText(state("a", `{ when: x, repair: 30, to: a }, ${TO_END}`), "budget: 5"),
    most: [5, 5, 10, 5 * 4160],
  },
  {
    what: "samples, which are charged as steps",
    text: machineText(
      state("a", NEXT, "sample: 4") + "\n" + state("b", BACK, "sample: 3"),
      "budget: 8",
    ),
    most: [11, 0, 11, 11 * 4096],
  },
  {
    what: "a list that the author wrote",
    text: machineText(state("a", TO_END, 'over: "{{x.l}}"'), "context: { x: { l: [1, 2, 3] } }"),
    most: [3, 0, 3, 3 * 4096],
  },
  {
    what: "an empty list, which is charged a step and asks for nothing",
    text: machineText(state("a", TO_END, 'over: "{{l}}"'), "context: { l: [] }"),
    most: [0, 0, 0, 0],
  },
  {
    what: "an entry that is no state",
    text: machineText(state("a"), "entry: z"),
    most: [0, 0, 0, 0],
  },
  {
    what: "a budget too large to be looked at step by step, more coarsely",
    text: machineText(state("a", `{ when: x, then: ok, to: END }, ${BACK}`), "budget: 1000000000"),
    most: [1e9 + 1, 1e9 + 1, 2e9 + 2, (1e9 + 1) * 4160],
  },
];
for (const { what, text, most } of rows) {
  Deno.test(`estimateRun() counts ${what}`, () => {
    const { answers, judgements, modelCalls, completionTokens, reasons } = estimateRun(
      readMachine(text),
    );
    assertEquals([answers, judgements, modelCalls, completionTokens], [...most]);
    assertEquals(reasons, []);
  });
}

function calling(name: string, called: string, more = ""): Machine {
  return readMachine(
    machineText(
      `  a: { call: ${called}, output: o${more}, gates: [${TO_END}] }`,
      `machine: ${name}`,
    ),
  );
}

Deno.test("estimateRun() counts what called machines ask for, for each branch", () => {
  const kid = readMachine(machineText(state("a", NEXT) + "\n" + state("b"), "machine: kid"));
  const registry = createRegistry([kid]);
  assertEquals(estimateRun(calling("top", "kid"), { registry }).modelCalls, 2);
  assertEquals(estimateRun(calling("top", "kid", ", sample: 3"), { registry }).modelCalls, 6);
});

Deno.test("estimateRun() takes sizes of answers and a context from its options", () => {
  const machine = readMachine(
    machineText(
      state("a", `{ when: x, fail: true }, ${TO_END}`, 'over: "{{l}}"'),
      "context: { l: [] }",
    ),
  );
  const options = { context: { l: [1, 2] }, answerTokens: 10, judgementTokens: 1 };
  assertEquals(estimateRun(machine, options).completionTokens, 21);
});

const unknown: [what: string, machine: Machine, machines: Machine[], reason: string][] = [
  [
    "a list that a state writes",
    readMachine(machineText(
      state("a", NEXT, "parse: list") + "\n" + state("b", TO_END, 'over: "{{o}}"'),
      "context: { o: [] }",
    )),
    [],
    "m: b: how many elements {{o}} has is known only when it runs",
  ],
  [
    "a list that is handed in",
    readMachine(machineText(state("a", TO_END, 'over: "{{l}}"'), "context: { l: '' }")),
    [],
    "m: a: how many elements {{l}} has is known only when it runs",
  ],
  ["an unknown machine", calling("top", "gone"), [], 'The machine "gone" is not known here'],
  [
    "a machine that calls itself",
    calling("top", "top"),
    [calling("top", "top")],
    'The calls of "top" lead back to it',
  ],
  [
    "a called machine whose lists are inputs",
    calling("top", "kid"),
    [readMachine(
      machineText(state("a", TO_END, 'over: "{{l}}"'), "machine: kid\ncontext: { l: [1] }"),
    )],
    "kid: a: how many elements {{l}} has is known only when it runs",
  ],
  [
    "a chain of calls without end",
    calling("m0", "m1"),
    Array.from({ length: 100 }, (_, i) => calling(`m${i}`, `m${i + 1}`)),
    "Calls are nested more than 32 deep",
  ],
];
for (const [what, machine, machines, reason] of unknown) {
  Deno.test(`estimateRun() gives a reason instead of a number for ${what}`, () => {
    const estimate = estimateRun(machine, { registry: createRegistry(machines) });
    assertEquals(estimate.modelCalls, undefined);
    assertEquals(estimate.completionTokens, undefined);
    assertEquals(estimate.reasons, [reason]);
  });
}
