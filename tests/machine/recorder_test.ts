import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LlmError } from "../../src/llm/mod.ts";
import {
  createRecorder,
  createRegistry,
  RefusalError,
  resultObject,
  runMachine,
  runScenario,
  scenarioFromRecording,
} from "../../src/machine/mod.ts";
import type { RunOptions } from "../../src/machine/options.ts";
import { machineOf, oneState, oracleOf, plain, scripted, textOf } from "./support/running.ts";

const LOOP = "[{ when: good, then: ok, to: END }, { when: otherwise, then: ok, to: a }]";

Deno.test("scenarioFromRecording() writes the common form where it gives the same run", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 9
context: { topic: tea, other: kept }
states:
  a: { structure: s, prompt: "{{topic}}", output: o, gates: [{ when: allowed, hook: allowed, then: ok, to: b }, { when: otherwise, then: ok, to: a }] }
  b: { tool: search, input: { q: "{{topic}}" }, output: f, gates: [{ when: good, then: ok, to: END }, { when: otherwise, fail: true }] }
`);
  const recorder = createRecorder(
    machine,
    scripted({ produce: ["one", "two"], judge: [0], tokens: [2, 1] }, {
      inputs: { topic: "coffee" },
      tools: new Map([["search", { run: () => "found" }]]),
      hooks: new Map([["allowed", (context) => context.o === "two"]]),
      onUntrustedFlow: "halt",
      suspendable: false,
    }),
  );
  const result = await runMachine(machine, recorder.options);
  const scenario = await scenarioFromRecording(plain(recorder.recording(result)), machine, {
    name: "n",
  });
  assertEquals(plain(scenario), {
    name: "n",
    context: { topic: "coffee" },
    run: { on_untrusted_flow: "halt" },
    llm: { produce: ["one", "two"], judge: [0], tokens: [2, 1] },
    tools: { search: ["found"] },
    hooks: { allowed: [false, true] },
    expect: {
      status: "done",
      error: null,
      result: "found",
      trace: [
        { state: "a", gate: "otherwise", policy: "ok", to: "a" },
        { state: "a", gate: "allowed", policy: "ok", to: "b" },
        { state: "b", gate: "good", policy: "ok", to: "END" },
      ],
    },
  });
});

const failures: [what: string, error: Error][] = [
  ["a refusal", new RefusalError("no", { input: 3, output: 0 })],
  ["a provider's failure", new LlmError("server", "status 500")],
  ["an odd error", new Error("odd")],
];
for (const [what, error] of failures) {
  Deno.test(`createRecorder() keeps ${what}, and the scenario repeats it`, async () => {
    const machine = oneState(LOOP);
    const oracle = oracleOf({
      produce: () => {
        throw error;
      },
    });
    const recorder = createRecorder(machine, scripted({}, { oracle }));
    const result = await runMachine(machine, recorder.options);
    const scenario = await scenarioFromRecording(plain(recorder.recording(result)), machine);
    const repeated = await runScenario(machine, plain(scenario));
    assertEquals(repeated.mismatches, []);
    assert(repeated.result !== undefined);
    assertEquals(plain(resultObject(repeated.result)), plain(resultObject(result)));
  });
}

Deno.test("createRecorder() keeps what a failed call spent, so that the cap is reached again", async () => {
  const machine = machineOf(`
machine: fan
entry: a
budget: 99
states: { a: { sample: 6, structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: a }] } }
`);
  const usage = { inputTokens: 9, outputTokens: 1, llmCalls: 1, uncertainTokens: 0 };
  for (const failed of [0, 5]) {
    const oracle = oracleOf({
      produce: ({ branch }) => {
        if (branch === failed) throw new LlmError("server", "status 500", { usage });
        return { text: "x", tokens: { input: 1, output: 1 } };
      },
    });
    const options = scripted({}, { oracle, costBudget: 50, maxWorkers: 2 });
    const recorder = createRecorder(machine, options);
    const result = await runMachine(machine, recorder.options);
    assertEquals([result.error, result.trace.length], ["cost-exhausted", 3]);
    const scenario = await scenarioFromRecording(plain(recorder.recording(result)), machine);
    const repeated = await runScenario(machine, plain(scenario));
    assert(repeated.result !== undefined);
    assertEquals(plain(resultObject(repeated.result)), plain(resultObject(result)));
  }
});

Deno.test("createRecorder() keeps the limits of the run, so that they are reached again", async () => {
  const kid = machineOf(`
machine: kid
entry: k
budget: 9
states: { k: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: k }] } }
`);
  const root = machineOf(`
machine: root
entry: a
budget: 9
states: { a: { call: kid, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const registry = createRegistry([kid]);
  const produce = ["x".repeat(900), "y".repeat(900), "z", "z", "z"];
  const cases: [options: Partial<RunOptions>, error: string][] = [
    [{ maxCalledSteps: 4 }, "call-failed: work-exhausted"],
    [{ maxHeldChars: 2500 }, "call-failed: memory-exhausted"],
  ];
  for (const [limits, error] of cases) {
    const recorder = createRecorder(root, scripted({ produce }, { registry, ...limits }));
    const result = await runMachine(root, recorder.options);
    assertEquals(result.error, error);
    const scenario = await scenarioFromRecording(plain(recorder.recording(result)), root, {
      registry,
    });
    const repeated = await runScenario(root, plain(scenario), { registry });
    assert(repeated.result !== undefined);
    assertEquals(plain(resultObject(repeated.result)), plain(resultObject(result)));
  }
});

Deno.test("createRecorder() keeps truncation and thinking", async () => {
  const machine = oneState("[{ when: otherwise, then: ok, to: END }]");
  const oracle = oracleOf({
    produce: () => ({
      ...textOf("half"),
      reasoning: "hm",
      truncated: true,
      finishReason: "length",
    }),
  });
  const recorder = createRecorder(machine, scripted({}, { oracle }));
  const result = await runMachine(machine, recorder.options);
  const scenario = await scenarioFromRecording(plain(recorder.recording(result)), machine);
  const repeated = await runScenario(machine, plain(scenario));
  assertEquals(plain(repeated.result?.trace), plain(result.trace));
});

Deno.test("a recording that lacks an answer fails instead of making one up", async () => {
  const machine = oneState(LOOP);
  const recorder = createRecorder(machine, scripted({ produce: ["x"], judge: ["none", 0] }));
  await runMachine(machine, recorder.options);
  const llm = {
    answers: { models: { balanced: "m" }, list: [{ at: "a", kind: "produce", text: "x" }] },
  };
  const { result } = await runScenario(machine, { llm, expect: {} });
  assertEquals(result?.error, "state-error: recording: no judge was recorded at 'a'");
});

for (const suspendable of [false, true]) {
  const what = suspendable ? "suspended" : "halted";
  Deno.test(`scenarioFromRecording() repeats a fan-out that the token cap ${what}, whichever branch was slow`, async () => {
    const machine = oneState("[{ when: otherwise, then: ok, to: END }]", "sample: 8,");
    for (const slow of [0, 3, 7]) {
      // The cap is reached by the slow answer, which comes when four or seven others have come.
      const late = Promise.withResolvers<void>();
      let quick = 0;
      const oracle = oracleOf({
        produce: async ({ branch }) => {
          if (branch === slow) await late.promise;
          else if (++quick === 4 && slow === 3) late.resolve();
          else if (quick === 7) late.resolve();
          return { text: `${branch}`, tokens: { input: branch === slow ? 100 : 1, output: 0 } };
        },
      });
      const options = scripted({}, { oracle, costBudget: 50, suspendable });
      const recorder = createRecorder(machine, options);
      const result = await runMachine(machine, recorder.options);
      const scenario = await scenarioFromRecording(plain(recorder.recording(result)), machine);
      const repeated = await runScenario(machine, plain(scenario));
      assertEquals(repeated.mismatches, []);
      assert(repeated.result !== undefined);
      assertEquals(plain(resultObject(repeated.result)), plain(resultObject(result)));
      assertEquals(plain(repeated.result.frames ?? null), plain(result.frames ?? null));
    }
  });
}

Deno.test("a recording whose fan-outs are no list of places and numbers is refused", async () => {
  const answers = { models: {}, list: [] };
  for (const [fanOuts, problem] of [[1, "fan_outs is no list"], [[{ at: "a" }], "no number"]]) {
    const llm = { answers: { ...answers, ["fan_outs"]: fanOuts ?? null } };
    const { mismatches } = await runScenario(oneState(LOOP), plain({ llm, expect: {} }));
    assertStringIncludes(mismatches[0] ?? "", String(problem));
  }
});

Deno.test("scenarioFromRecording() refuses what is no recording", async () => {
  const machine = oneState(LOOP);
  await assertRejects(() => scenarioFromRecording({ scenarios: [] }, machine), TypeError);
  await assertRejects(() => scenarioFromRecording("x", machine), TypeError);
});
