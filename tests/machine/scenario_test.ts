import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import { listScenarios, runCase, runScenario } from "../../src/machine/mod.ts";
import { machineOf, oneState } from "./support/running.ts";

const END = "[{ when: otherwise, then: ok, to: END }]";

const failures: [what: string, scenario: JsonValue, mismatches: string[]][] = [
  ["a mismatch of the status", { expect: { status: "halt" } }, [
    "status: expected 'halt', got 'done'",
  ]],
  ["values in the words of the reference", {
    expect: { error: "it's", result: { a: [null, true] } },
  }, [
    `error: expected "it's", got None`,
    "result: expected {'a': [None, True]}, got 'ok'",
  ]],
  ["a prefix that does not fit", { expect: { error_prefix: "state-error" } }, [
    "error_prefix: expected 'state-error', got None",
  ]],
  ["keys in a fixed order", { expect: { trace: [], at: "b", status: "halt", context: { o: 1 } } }, [
    "status: expected 'halt', got 'done'",
    "at: expected 'b', got None",
    "context.o: expected 1, got 'ok'",
    "trace.length: expected 0, got \"1 (['a'])\"",
  ]],
  ["listed keys of a step alone", { expect: { trace: [{ output: "x", hook: null }] } }, [
    "trace[0].output: expected 'x', got 'ok'",
  ]],
  ["no expectation", { llm: {} }, ["expect: missing, so there is nothing to test"]],
  ["a trace that expects nothing", { expect: { trace: { state: "b" } } }, [
    "scenario raised TypeError: expect: trace: wanted a list of mappings",
  ]],
  ["a step that expects nothing", { expect: { trace: ["b"] } }, [
    "scenario raised TypeError: expect: trace: wanted a list of mappings",
  ]],
  ["a context that expects nothing", { expect: { context: "b" } }, [
    "scenario raised TypeError: expect: context: wanted a mapping",
  ]],
  ["an unknown option", { run: { depth: 3 }, expect: {} }, [
    "scenario raised TypeError: run: unknown option 'depth' (there are cost_budget, suspendable, escalate_suspend, on_truncate, on_untrusted_flow, trusted_keys, flow_tainted, delimit, prompt_value_chars, max_workers, max_called_steps, max_held_chars, tool_effects, tier_params, resume)",
  ]],
  ["a script of another form", { llm: { produce: 5 }, expect: {} }, [
    "scenario raised TypeError: Script: produce is neither a list nor a mapping",
  ]],
  ["something that is no scenario", "text", ["expect: missing, so there is nothing to test"]],
];
for (const [what, scenario, mismatches] of failures) {
  Deno.test(`runScenario() reports ${what}`, async () => {
    const result = await runScenario(oneState(END), scenario);
    assertEquals([result.passed, result.mismatches], [false, mismatches]);
  });
}

Deno.test("runScenario() takes 1, 1.0 and true for equal, and absent for null", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
result: r
context: { r: true }
states:
  a: { structure: s, prompt: p, output: o, gates: ${END} }
`);
  const { mismatches } = await runScenario(machine, {
    expect: { result: 1, at: null, trace: [{ hook: null, step: 1.0 }] },
  });
  assertEquals(mismatches, []);
});

Deno.test("runScenario() lets input win over context", async () => {
  const { result } = await runScenario(oneState(END), {
    context: { a: 1, b: 1 },
    input: { b: 2 },
    expect: {},
  });
  assertEquals([result?.context.a, result?.context.b], [1, 2]);
});

Deno.test("runScenario() is a failure where a root leads nowhere", async () => {
  const lost = oneState("[{ when: otherwise, then: ok, to: nowhere }]");
  const { passed, mismatches } = await runScenario(lost, { expect: { status: "halt" } });
  assertEquals(passed, mismatches.length === 0);
  assertEquals(mismatches, ["scenario raised UnknownStateError: unknown state 'nowhere'"]);
});

Deno.test("runScenario() takes the scenario's name, else the label", async () => {
  const named = await runScenario(oneState(END), { name: "n", expect: {} }, {
    label: "scenario[0]",
  });
  const nameless = await runScenario(oneState(END), { expect: {} }, { label: "scenario[0]" });
  assertEquals([named.name, nameless.name], ["n", "scenario[0]"]);
});

Deno.test("listScenarios() wants a list", () => {
  assertEquals(listScenarios({ scenarios: [{}, {}] }).length, 2);
  assertThrows(() => listScenarios({ scenario: [] }), TypeError);
  assertThrows(() => listScenarios(null), TypeError);
});

const cases: [what: string, document: JsonValue, mismatch: string][] = [
  ["a list", [], "case: the file is not a mapping"],
  ["another case's name", { case: "b" }, 'case: expected "a", got "b"'],
  ["no machine", { case: "a" }, "machine: "],
];
for (const [what, document, mismatch] of cases) {
  Deno.test(`runCase() reports ${what}`, async () => {
    const { mismatches } = await runCase(document, "a");
    assertEquals(mismatches.map((text) => text.slice(0, mismatch.length)), [mismatch]);
  });
}

const weak: [what: string, scenario: JsonValue, warnings: string[]][] = [
  ["a slip in what is expected", { expect: { status: "done", resutl: "other" } }, [
    'the key "resutl" in expect is not read: did you mean "result"?',
  ]],
  ["a slip in a scenario", { inputs: { k: 1 }, expect: { status: "done" } }, [
    'the key "inputs" in a scenario is not read: did you mean "input"?',
  ]],
  ["a key of the script that is none", { llm: { answer: "x" }, expect: { status: "done" } }, [
    'the key "answer" in llm is not read: did you mean "answers"?',
  ]],
  ["no expectation at all", { expect: {} }, [
    "expect: nothing is expected, so this scenario fails only if it cannot run",
  ]],
  ["nothing of marked keys", { "x-note": "y", expect: { status: "done" } }, []],
];
for (const [what, scenario, warnings] of weak) {
  Deno.test(`runScenario() passes and warns of ${what}`, async () => {
    const result = await runScenario(oneState(END), scenario);
    assertEquals([result.passed, result.warnings], [true, warnings]);
  });
}

Deno.test("runScenario() says why a run ended that was to end otherwise", async () => {
  const { warnings } = await runScenario(
    oneState("[{ when: x, then: ok, to: END }]"),
    {
      llm: { judge: ["some"] },
      expect: { status: "done" },
    },
  );
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", "the run ended at 'a' with: state-error: ");
});
