/**
 * What the engine itself costs, with answers that cost nothing.
 *
 * @module
 */
import {
  createScriptedOracle,
  loadReader,
  type Machine,
  runMachine,
} from "../../src/machine/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const STATES = 1000;
const BRANCHES = 10_000;
const { parseMachine } = await loadReader();
const ports = manualPorts();

const LOOPS: Readonly<Record<string, string>> = {
  "a tool, a catch-all": "{ tool: t, output: o, gates: [GATES] }",
  "a prompt, a catch-all": '{ structure: s, prompt: "say", output: o, gates: [GATES] }',
  "a fenced prompt, a judge":
    '{ structure: s, prompt: "use {{o}}", output: o, gates: [{ when: good, then: ok, to: END }, GATES] }',
  "a prompt, a hook":
    '{ structure: s, prompt: "say", output: o, gates: [{ when: h, hook: always_false, then: ok, to: END }, GATES] }',
};

for (const [name, state] of Object.entries(LOOPS)) {
  const machine = loop(state);
  Deno.bench(
    `1000 states: ${name}`,
    { group: "states", baseline: name === "a tool, a catch-all" },
    async () => {
      await runMachine(machine, {
        oracle: createScriptedOracle({ judge: ["none"] }),
        tools: new Map([["t", { run: () => "x" }]]),
        trace: "last:10",
        ports,
      });
    },
  );
}

Deno.bench("1000 states with the whole trace", { group: "trace", baseline: true }, async () => {
  await runMachine(loop(LOOPS["a prompt, a catch-all"] ?? ""), {
    oracle: createScriptedOracle(),
    ports,
  });
});
Deno.bench("1000 states with frames taken after each", { group: "trace" }, async () => {
  await runMachine(loop(LOOPS["a prompt, a catch-all"] ?? ""), {
    oracle: createScriptedOracle(),
    trace: "last:10",
    ports,
    onSettled: (point) => {
      point.frames();
    },
  });
});

const fan = machine(`
machine: fan
entry: m
budget: 100000
context: { items: [${"x, ".repeat(BRANCHES)}] }
states:
  m: { over: "{{items}}", structure: s, prompt: "do {{item}}", output: out, gates: [{ when: otherwise, then: ok, to: END }] }
`);
for (const maxWorkers of [1, 5, 64]) {
  Deno.bench(`10,000 branches, ${maxWorkers} at once`, {
    group: "fan-out",
    baseline: maxWorkers === 1,
  }, async () => {
    await runMachine(fan, {
      oracle: createScriptedOracle({ produce: { do: "x" } }),
      ports,
      maxWorkers,
    });
  });
}

function loop(state: string): Machine {
  const written = state.replace("GATES", "{ when: otherwise, then: ok, to: a }");
  return machine(`machine: loop\nentry: a\nbudget: ${STATES}\nstates:\n  a: ${written}\n`);
}

function machine(text: string): Machine {
  const { machine, diagnostics } = parseMachine(text);
  if (machine === undefined) throw new Error(diagnostics.map(({ message }) => message).join("; "));
  return machine;
}
