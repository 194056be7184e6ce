import { assertEquals } from "@std/assert";
import { createRecorder, runMachine } from "../../src/machine/mod.ts";
import type { Oracle } from "../../src/machine/oracle.ts";
import { machineOf, oneState, oracleOf, scripted } from "./support/running.ts";

const JUDGED = "[{ when: good, then: ok, to: END }, { when: otherwise, fail: true }]";
const NO_TOKENS = "without tokens (wanted {input, output}, numbers of at least 0)";
const NO_VERDICT = 'neither {kind: "choice", index, tokens} nor {kind: "unparseable", raw, tokens}';

/** An answer as a program without types gives it. */
function untyped(value: unknown): never {
  return value as never;
}

const answers: [what: string, oracle: Partial<Oracle>, error: string][] = [
  ["nothing", { produce: () => untyped(undefined) }, "produce answered with no object"],
  [
    "a text that is none",
    { produce: () => untyped({ text: 3 }) },
    "produce answered without a text (wanted {text, tokens})",
  ],
  ["no tokens", { produce: () => untyped({ text: "x" }) }, `produce answered ${NO_TOKENS}`],
  [
    "tokens below 0",
    { produce: () => ({ text: "x", tokens: { input: 0, output: -1 } }) },
    `produce answered ${NO_TOKENS}`,
  ],
  [
    "a verdict of another kind",
    { judge: () => untyped({ kind: "yes", tokens: { input: 0, output: 0 } }) },
    `judge answered ${NO_VERDICT}`,
  ],
  [
    "a choice of nothing",
    { judge: () => untyped({ kind: "choice", tokens: { input: 0, output: 0 } }) },
    `judge answered ${NO_VERDICT}`,
  ],
  [
    "a verdict without tokens",
    { judge: () => untyped({ kind: "choice", index: 0 }) },
    `judge answered ${NO_TOKENS}`,
  ],
];
for (const [what, oracle, error] of answers) {
  Deno.test(`runMachine() halts on an oracle that answers ${what}, recorded or not`, async () => {
    const machine = oneState(JUDGED);
    const options = scripted({}, { oracle: oracleOf(oracle) });
    const run = await runMachine(machine, options);
    assertEquals([run.status, run.error], ["halt", `state-error: oracle: ${error}`]);
    const recorded = await runMachine(machine, createRecorder(machine, options).options);
    assertEquals(recorded.error, run.error);
  });
}

const tools: [what: string, value: unknown, error: string][] = [
  ["undefined", undefined, "gave undefined, which has no JSON text (a tool gives a text)"],
  ["a function", () => 1, "gave a function, which has no JSON text (a tool gives a text)"],
  ["a symbol", Symbol("s"), "gave a symbol, which has no JSON text (a tool gives a text)"],
];
for (const [what, value, error] of tools) {
  Deno.test(`runMachine() halts on a tool that gives ${what}, recorded or not`, async () => {
    const machine = machineOf(`
machine: one
entry: a
budget: 9
states: { a: { tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
    const options = scripted({}, { tools: new Map([["t", { run: () => untyped(value) }]]) });
    const run = await runMachine(machine, options);
    assertEquals([run.status, run.error], ["halt", `state-error: tool: 't' ${error}`]);
    const recorded = await runMachine(machine, createRecorder(machine, options).options);
    assertEquals(recorded.error, run.error);
  });
}
