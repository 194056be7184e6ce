import { assert, assertEquals, assertLess } from "@std/assert";
import { createRegistry, decodeFrames, resumeMachine, runMachine } from "../../src/machine/mod.ts";
import {
  branchSize,
  BranchSlots,
  MAX_CALLED_STEPS,
  MAX_HELD_CHARS,
  RunTree,
  stepSize,
  traceSize,
} from "../../src/machine/run_tree.ts";
import type { RunOptions } from "../../src/machine/options.ts";
import type { TraceStep } from "../../src/machine/trace.ts";
import { machineOf, oneState, oracleOf, scripted, textOf } from "./support/running.ts";

const STEP: TraceStep = { state: "a", tier: "fast", step: 1, gate: null, policy: "ok", to: "END" };

/** Calls itself in twenty branches, and each of those does. */
const BOMB = machineOf(`
machine: bomb
entry: a
budget: 100
states:
  a: { sample: 20, call: bomb, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`);

/** Lets a called machine double a text, and keeps every length of it. */
const DOUBLING = machineOf(`
machine: m
entry: s
budget: 1000000
result: v
context: { v: xxxxxxxx, mode: "" }
states:
  s: { tool: t, output: z, gates: [{ when: leaf, hook: "eq:mode:leaf", then: ok, to: END }, { when: otherwise, then: ok, to: a }] }
  a: { call: m, input: { v: "{{v}}{{v}}", mode: leaf }, output: v, gates: [{ when: otherwise, then: ok, to: a }] }
`);

function withTool(text: string, options: Partial<RunOptions> = {}): RunOptions {
  return scripted({}, { tools: new Map([["t", { run: () => text }]]), ...options });
}

Deno.test("the limits of a run are a million called steps and 256 Mi characters", () => {
  assertEquals([MAX_CALLED_STEPS, MAX_HELD_CHARS], [1_000_000, 268_435_456]);
});

Deno.test("runMachine() halts with work-exhausted where calls lead round in circles", async () => {
  const run = await runMachine(BOMB, scripted({}, { maxCalledSteps: 5000 }));
  assertEquals([run.status, run.error, run.at], ["halt", "work-exhausted", "a"]);
  assertEquals(run.trace.map(({ policy, to }) => [policy, to]), [["work-exhausted", null]]);
  assertEquals(run.trace[0]?.branches?.at(-1), "[branch-error: work-exhausted]");
});

Deno.test("runMachine() counts the states of called machines, not those of the root", async () => {
  const kid = machineOf(`
machine: kid
entry: k
budget: 9
states: { k: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const root = machineOf(`
machine: root
entry: a
budget: 20
states:
  a: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { call: kid, output: o, gates: [{ when: otherwise, then: ok, to: a }] }
`);
  const registry = createRegistry([kid]);
  const all = await runMachine(root, withTool("x", { registry, maxCalledSteps: 11 }));
  assertEquals([all.error, all.trace.length], ["budget-exhausted", 20]);
  const some = await runMachine(root, withTool("x", { registry, maxCalledSteps: 3 }));
  assertEquals([some.error, some.at, some.trace.length], [
    "call-failed: work-exhausted",
    "b",
    8,
  ]);
});

Deno.test("runMachine() ends well with exactly as many called steps as it needs", async () => {
  const kid = machineOf(`
machine: kid
entry: k
budget: 9
states:
  k: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: l }] }
  l: { sample: 3, tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`);
  const root = machineOf(`
machine: root
entry: c
budget: 20
states:
  c: { call: kid, output: o, gates: [{ when: otherwise, then: ok, to: d }] }
  d: { sample: 2, tool: t, output: p, gates: [{ when: otherwise, then: ok, to: e }] }
  e: { tool: t, output: q, gates: [{ when: otherwise, then: ok, to: END }] }
`);
  const registry = createRegistry([kid]);
  const enough = await runMachine(root, withTool("x", { registry, maxCalledSteps: 4 }));
  assertEquals([enough.status, enough.error, enough.trace.length], ["done", null, 3]);
  const less = await runMachine(root, withTool("x", { registry, maxCalledSteps: 3 }));
  assertEquals([less.error, less.at], ["call-failed: work-exhausted", "c"]);
});

Deno.test("runMachine() runs no more branches at once than maxWorkers, those within branches included", async () => {
  const machine = machineOf(`
machine: nest
entry: a
budget: 100
context: { depth: "" }
states:
  a: { tool: t, output: d, gates: [{ when: deep, hook: "eq:depth:xxx", then: ok, to: c }, { when: otherwise, then: ok, to: b }] }
  b: { sample: 3, call: nest, input: { depth: "{{depth}}x" }, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
  c: { sample: 3, structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`);
  for (const maxWorkers of [1, 2, 5]) {
    let atOnce = 0;
    let most = 0;
    let asked = 0;
    const oracle = oracleOf({
      produce: async () => {
        asked++;
        most = Math.max(most, ++atOnce);
        for (let i = 0; i < 20; i++) await Promise.resolve();
        atOnce--;
        return textOf("x");
      },
    });
    const run = await runMachine(machine, withTool("x", { oracle, maxWorkers }));
    assertEquals([run.status, asked, most], ["done", 81, maxWorkers]);
  }
});

Deno.test("runMachine() halts with memory-exhausted and keeps the trace it has", async () => {
  const run = await runMachine(DOUBLING, withTool("1", { maxHeldChars: 1_000_000 }));
  assertEquals([run.status, run.error], ["halt", "memory-exhausted"]);
  const kept = traceSize(run.trace);
  assert(kept > 900_000 && kept < 1_100_000, `${kept} characters`);
});

Deno.test("runMachine() does not count steps that it lets go of", async () => {
  const run = await runMachine(
    DOUBLING,
    withTool("1", { maxHeldChars: 1_000_000, trace: "last:2", maxCalledSteps: 500 }),
  );
  assertEquals([run.error, run.trace.length], ["call-failed: work-exhausted", 2]);
});

Deno.test("runMachine() counts lists that grow, and branches that wait for others", async () => {
  const list = machineOf(`
machine: list
entry: a
budget: 100000
states: { a: { tool: t, accumulate: true, output: o, gates: [{ when: otherwise, then: ok, to: a }] } }
`);
  const grown = await runMachine(
    list,
    withTool("x".repeat(1000), { maxHeldChars: 100_000, trace: "last:1" }),
  );
  assertEquals(grown.error, "memory-exhausted");
  const { o } = grown.context;
  assertEquals(Array.isArray(o) && o.length, 99);
  const fan = machineOf(`
machine: fan
entry: a
budget: 9
states: { a: { sample: 1000, tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const stopped = await runMachine(fan, withTool("x".repeat(1000), { maxHeldChars: 100_000 }));
  assertEquals([stopped.error, stopped.at], ["memory-exhausted", "a"]);
  assertEquals(stopped.trace[0]?.branches?.at(-1), "[branch-error: memory-exhausted]");
});

Deno.test("runMachine() counts branches once they are gathered as their list alone", async () => {
  const machine = machineOf(`
machine: fan
entry: a
budget: 1000
states: { a: { sample: 10, tool: t, output: o, gates: [{ when: otherwise, then: ok, to: a }] } }
`);
  const { error } = await runMachine(
    machine,
    withTool("x".repeat(100), { maxHeldChars: 10_000, trace: "last:1" }),
  );
  assertEquals(error, "budget-exhausted");
});

Deno.test("runMachine() lets go of the contexts of called machines", async () => {
  const kid = machineOf(`
machine: kid
entry: k
budget: 9
result: r
context: { r: "" }
states: { k: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const root = machineOf(`
machine: root
entry: a
budget: 300
states: { a: { call: kid, output: o, gates: [{ when: otherwise, then: ok, to: a }] } }
`);
  const { error } = await runMachine(
    root,
    withTool("x".repeat(1000), {
      registry: createRegistry([kid]),
      maxHeldChars: 10_000,
      trace: "last:1",
    }),
  );
  assertEquals(error, "budget-exhausted");
});

Deno.test("runMachine() lets go of steps within a step that fails after its work", async () => {
  const leaf = machineOf(`
machine: leaf
entry: l
budget: 9
states: { l: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const root = machineOf(`
machine: root
entry: a
budget: 300
states: { a: { sample: 2, call: kid, output: o, gates: [{ when: otherwise, then: ok, to: a }] } }
`);
  for (const fanOut of ["", "sample: 2,"]) {
    const kid = machineOf(`
machine: kid
entry: k
budget: 9
states: { k: { ${fanOut} call: leaf, output: o, gates: [{ when: x, hook: boom, then: ok, to: END }, { when: otherwise, then: ok, to: END }] } }
`);
    const run = await runMachine(
      root,
      withTool("x".repeat(1000), {
        registry: createRegistry([kid, leaf]),
        hooks: new Map([["boom", () => {
          throw new Error("boom");
        }]]),
        maxHeldChars: 20_000,
        trace: "last:1",
      }),
    );
    assertEquals(run.error, "budget-exhausted");
    assertEquals(run.trace[0]?.branches, new Array(2).fill("[branch-error: state-error: boom]"));
  }
});

Deno.test("RunTree shares what a process can hold among the runs under way", async () => {
  const limits = { workers: 1, calledSteps: 1, heldChars: undefined };
  const [large, small, own] = [
    new RunTree(limits),
    new RunTree(limits),
    new RunTree({ ...limits, heldChars: 2 ** 30 }),
  ];
  large.hold(200 * 2 ** 20);
  small.hold(100 * 2 ** 20);
  own.hold(300 * 2 ** 20);
  await large.during(async () => {
    await small.during(async () => {
      assertEquals([large.refuse(0), small.refuse(0)], [undefined, undefined]);
      await own.during(() => {
        assertEquals([large.refuse(0), small.refuse(0), own.refuse(0)], [
          "memory-exhausted",
          undefined,
          undefined,
        ]);
        return Promise.resolve();
      });
      assertEquals(large.refuse(0), undefined);
    });
  });
});

Deno.test("BranchSlots gives a slot back to the fan-out that registered first and has work", () => {
  const slots = new BranchSlots(4);
  assertEquals([slots.take(2), slots.take(5), slots.take(1)], [2, 1, 0]);
  const served: string[] = [];
  const first = (): boolean => served.length === 0 && served.push("first") > 0;
  const second = (): boolean => served.length === 1 && served.push("second") > 0;
  slots.register(first);
  slots.register(second);
  for (let i = 0; i < 3; i++) slots.release();
  assertEquals([served, slots.take(5)], [["first", "second"], 1]);
  slots.unregister(first);
  slots.unregister(second);
  slots.release();
  assertEquals(slots.take(1), 1);
});

Deno.test("stepSize() and traceSize() count texts, and traces within steps", () => {
  const empty = stepSize(STEP);
  assertEquals(stepSize({ ...STEP, output: "12345", reasoning: "123" }) - empty, 8);
  const fan: TraceStep = { ...STEP, branches: ["1234"], ["sub_trace"]: [[STEP], [STEP, STEP]] };
  assertEquals(traceSize([fan]), stepSize(fan) + 3 * empty);
  assertLess(stepSize(STEP), stepSize(fan));
  assertEquals(branchSize("1234", "12") - branchSize("", undefined), 6);
});

Deno.test("resumeMachine() goes on from steps whose members are of any kind", async () => {
  const one = oneState("[{ when: otherwise, then: ok, to: END }]");
  for (
    const odd of [
      '"sub_trace":null',
      '"sub_trace":[null,[7]]',
      '"branches":null',
      '"branches":[null]',
      '"reasonings":1',
      '"output":{}',
    ]
  ) {
    const frames = decodeFrames(JSON.parse(
      `[{"machine":"one","state":"a","ctx":{},"steps":1,"total_in":0,"total_out":0,"feedback":"",` +
        `"repair_left":[],"trace":[{"state":"a",${odd}}]}]`,
    ));
    const run = await resumeMachine(one, frames, scripted({ produce: ["x"] }));
    assertEquals([run.status, run.trace.length], ["done", 2], odd);
  }
});
