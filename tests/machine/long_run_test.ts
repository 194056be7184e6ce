import { assert, assertEquals } from "@std/assert";
import { runMachine } from "../../src/machine/mod.ts";
import { machineOf, oracleOf, scripted, textOf } from "./support/running.ts";

/** How much the heap may differ between two moments of a run that keeps nothing, in bytes. */
const NOISE = 32 * 2 ** 20;

Deno.test("runMachine() takes a million steps without growing", async () => {
  const machine = machineOf(`
machine: long
entry: a
budget: 1000000
states:
  a: { structure: s, prompt: "use {{o}}", output: o, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { tool: t, input: { x: "{{o}}" }, output: o, gates: [{ when: h, hook: always_false, then: ok, to: END }, { when: otherwise, then: ok, to: a }] }
`);
  const heap: number[] = [];
  const run = await runMachine(
    machine,
    scripted({}, {
      tools: new Map([["t", { run: () => "x" }]]),
      trace: "last:5",
      onStep: ({ step }) => {
        if (step % 1000 === 0) heap.push(Deno.memoryUsage().heapUsed);
      },
    }),
  );
  assertEquals([run.error, run.trace.at(-1)?.step], ["budget-exhausted", 1_000_000]);
  // The least that is in use between two collections is what is kept.
  const early = Math.min(...heap.slice(100, 300));
  const late = Math.min(...heap.slice(-200));
  assert(late - early < NOISE, `${late - early} bytes more at the end`);
});

Deno.test("runMachine() appends to one list a hundred thousand times in linear time", async () => {
  const machine = machineOf(`
machine: long
entry: a
budget: 100000
result: o
states:
  a: { tool: t, accumulate: true, output: o, gates: [{ when: otherwise, then: ok, to: a }] }
`);
  const run = await runMachine(
    machine,
    scripted({}, { tools: new Map([["t", { run: () => "x" }]]), trace: "last:1" }),
  );
  const { o } = run.context;
  assertEquals(Array.isArray(o) && o.length, 100_000);
});

Deno.test("runBranches() runs ten thousand branches, five at once, and keeps their order", async () => {
  const machine = machineOf(`
machine: many
entry: m
budget: 20000
context: { items: [${Array.from({ length: 10_000 }, (_, i) => i).join(", ")}] }
states:
  m: { over: "{{items}}", structure: s, prompt: "{{item}}", output: out, gates: [{ when: otherwise, then: ok, to: END }] }
`);
  let atOnce = 0;
  let most = 0;
  const oracle = oracleOf({
    produce: async ({ user }) => {
      most = Math.max(most, ++atOnce);
      await Promise.resolve();
      atOnce--;
      return textOf(user);
    },
  });
  const { result } = await runMachine(machine, scripted({}, { oracle }));
  assertEquals(result, Array.from({ length: 10_000 }, (_, i) => String(i)));
  assertEquals(most, 5);
});
