import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { ConfigError, KitError, LlmError } from "../../src/llm/mod.ts";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import {
  createRegistry,
  createScriptedOracle,
  type MachineEvent,
  type ProduceRequest,
  RefusalError,
  resultObject,
  runMachine,
  type TraceStep,
} from "../../src/machine/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";
import {
  choiceOf,
  machineOf,
  oneState,
  oracleOf,
  plain,
  scripted,
  textOf,
} from "./support/running.ts";

const END = "[{ when: otherwise, then: ok, to: END }]";
const LOOP = "[{ when: good, then: ok, to: END }, { when: otherwise, then: ok, to: a }]";

Deno.test("runMachine() gives a plain step with its keys in the order of the language", async () => {
  const { trace } = await runMachine(oneState(END), scripted({ produce: ["x"] }));
  assertEquals(
    JSON.stringify(trace[0]),
    '{"state":"a","tier":"balanced","output":"x","gate_via":"otherwise","step":1,"gate":"otherwise","policy":"ok","to":"END"}',
  );
});

Deno.test("resultObject() has the wire keys alone, in their order", async () => {
  const halted = await runMachine(
    oneState("[{ when: good, then: ok, to: END }, { when: otherwise, then: ok, to: a }]"),
    scripted({ judge: ["none"] }),
  );
  assertEquals(Object.keys(resultObject(halted)), [
    "status",
    "error",
    "result",
    "usage",
    "trace",
    "diagnosis",
  ]);
  assertEquals(resultObject(halted).diagnosis, { most_visited_state: "a", visits: 9 });
});

Deno.test("runMachine() diagnoses the state that was visited first among equals", async () => {
  const machine = machineOf(`
machine: two
entry: b
budget: 4
states:
  a: { structure: s, prompt: p, output: o, gates: [{ when: good, then: ok, to: END }, { when: otherwise, then: ok, to: b }] }
  b: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: a }] }
`);
  const { diagnosis } = await runMachine(machine, scripted({ judge: ["none"] }));
  assertEquals(diagnosis, { most_visited_state: "b", visits: 2 });
});

Deno.test("runMachine() overlays context by key, then inputs by path, and never changes the author's values", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
context: { ticket: { body: old, id: 7 }, list: [1], n: 1 }
states:
  a: { structure: s, prompt: "{{ticket.body}}", output: o, gates: ${END} }
`);
  const { context } = await runMachine(
    machine,
    scripted({}, {
      context: { n: 2 },
      inputs: { "ticket.body": "new", "list.0": "x", "deep.er": null },
    }),
  );
  assertEquals(plain(context), {
    ticket: { body: "new", id: 7 },
    list: { "0": "x" },
    n: 2,
    deep: { er: null },
    o: "ok",
  });
  assertEquals(plain(machine.context), { ticket: { body: "old", id: 7 }, list: [1], n: 1 });
});

Deno.test("runMachine() taints a key whose part an input changed, unlike the reference", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
context: { ticket: { body: old } }
states:
  a: { structure: s, prompt: "{{ticket.body}}", output: o, gates: ${END} }
`);
  const { result } = await runMachine(
    machine,
    scripted({ produce: { "<data-": "fenced", new: "bare" } }, {
      inputs: { "ticket.body": "new" },
    }),
  );
  assertEquals(result, "fenced");
});

Deno.test("runMachine() fills empty today and now from the given local time, tainted, and makes no keys", async () => {
  const localTime = { date: "2026-03-04", dateTime: "2026-03-04T09:05:06+01:00" };
  const machine = machineOf(`
machine: m
entry: a
budget: 2
context: { today: "" }
states:
  a: { structure: s, prompt: "{{today}}|{{now}}", output: o, gates: ${END} }
`);
  const script = { produce: { "<data-": "fenced", "2026-03-04": "bare" } };
  const run = await runMachine(machine, scripted(script, { localTime }));
  assertEquals(plain(run.context), { today: "2026-03-04", o: "fenced" });
  const given = await runMachine(machine, scripted(script, { localTime, inputs: { today: "x" } }));
  assertEquals(given.context.today, "x");
});

Deno.test("runMachine() asks with temperature 0.8 for samples and 0.4 for all else", async () => {
  const seen: number[] = [];
  const oracle = oracleOf({
    produce: ({ temperature }) => {
      seen.push(temperature);
      return textOf("x");
    },
  });
  await runMachine(oneState(END), scripted({}, { oracle }));
  await runMachine(oneState(END, "sample: 2,"), scripted({}, { oracle }));
  await runMachine(
    oneState(END, 'over: "{{l}}",'),
    scripted({}, { oracle, context: { l: [1] } }),
  );
  assertEquals(seen, [0.4, 0.8, 0.8, 0.4]);
});

Deno.test("runMachine() sends the contract and the policy as system, nothing of it interpolated", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
context: { k: v }
states:
  a: { structure: " {{k}} contract ", execution: "{{k}} policy", prompt: "{{k}}", output: o, gates: ${END} }
`);
  const asked: ProduceRequest[] = [];
  const oracle = oracleOf({
    produce: (request) => {
      asked.push(request);
      return textOf("x");
    },
  });
  await runMachine(machine, scripted({}, { oracle }));
  assertEquals(asked[0]?.user, "v");
  assert(asked[0]?.system.includes("\n{{k}} contract\n"));
  assert(asked[0]?.system.includes("\n{{k}} policy\n"));
  assertFalse(asked[0]?.system.includes("<data-"));
});

Deno.test("runMachine() explains fences to the model if and only if there are any", async () => {
  const asked: ProduceRequest[] = [];
  const oracle = oracleOf({
    produce: (request) => {
      asked.push(request);
      return textOf("x");
    },
  });
  await runMachine(
    machineOf(`
machine: m
entry: a
budget: 2
states:
  a: { structure: s, prompt: "{{k}}", output: o, gates: ${END} }
`),
    scripted({}, { oracle, inputs: { k: "v" } }),
  );
  const nonce = /<data-([0-9a-f]{12})>/.exec(asked[0]?.user ?? "")?.[1];
  assert(nonce !== undefined);
  assert(asked[0]?.system.includes(`</data-${nonce}>`));
});

Deno.test("runMachine() shows the judge the context after the deposit, and the thinking", async () => {
  const seen: JsonValue[] = [];
  const oracle = oracleOf({
    produce: () => ({ ...textOf("x"), reasoning: "because" }),
    judge: ({ context, output, reasoning, conditions }) => {
      seen.push(plain({ context, output, reasoning, conditions }));
      return choiceOf(0);
    },
  });
  const { trace } = await runMachine(oneState(LOOP), scripted({}, { oracle }));
  assertEquals(seen, [{
    context: { o: "x" },
    output: "x",
    reasoning: "because",
    conditions: ["good"],
  }]);
  assertEquals(trace[0]?.reasoning, "because");
});

Deno.test("runMachine() counts judge tokens in the step, with its usage", async () => {
  const oracle = oracleOf({
    produce: () => ({ text: "x", tokens: { input: 10, output: 5 } }),
    judge: () => ({ kind: "choice", index: 0, tokens: { input: 3, output: 1 }, method: "bare" }),
  });
  const { trace, usage } = await runMachine(oneState(LOOP), scripted({}, { oracle }));
  assertEquals(trace[0]?.cost, { input_tokens: 13, output_tokens: 6 });
  assertEquals(trace[0]?.judge_parse, "bare");
  assertEquals(usage, { input_tokens: 13, output_tokens: 6 });
});

Deno.test("runMachine() counts the tokens of an unusable judge reply in the usage but not in the step", async () => {
  const oracle = oracleOf({
    judge: () => ({ kind: "unparseable", raw: "hm", tokens: { input: 3, output: 1 } }),
  });
  const { trace, usage } = await runMachine(oneState(LOOP), scripted({}, { oracle }));
  assertEquals(trace[0]?.cost, undefined);
  assertEquals(usage, { input_tokens: 27, output_tokens: 9 });
});

const failed: [what: string, error: Error, expected: string, usage: number][] = [
  ["a refusal", new RefusalError("no", { input: 4, output: 2 }), "refusal", 6],
  [
    "a provider's failure",
    new LlmError("server", "status 500", {
      usage: { inputTokens: 3, outputTokens: 0, llmCalls: 3, uncertainTokens: 3 },
    }),
    "provider-error: status 500",
    3,
  ],
  ["any other error", new Error("odd"), "state-error: odd", 0],
];
for (const [what, error, expected, spent] of failed) {
  Deno.test(`runMachine() halts for ${what} with ${expected}, its spend and its cause`, async () => {
    const oracle = oracleOf({
      produce: () => {
        throw error;
      },
    });
    const run = await runMachine(oneState(END), scripted({}, { oracle }));
    assertEquals([run.status, run.error, run.at, run.trace.length], ["halt", expected, "a", 0]);
    assertEquals((run.usage?.input_tokens ?? 0) + (run.usage?.output_tokens ?? 0), spent);
    assertEquals(run.cause, error);
  });
}

Deno.test("runMachine() halts on a failing judge with state-error and counts what it spent", async () => {
  const usage = { inputTokens: 7, outputTokens: 0, llmCalls: 1, uncertainTokens: 0 };
  const oracle = oracleOf({
    judge: () => Promise.reject(new LlmError("auth", "refused", { usage })),
  });
  const run = await runMachine(oneState(LOOP), scripted({}, { oracle }));
  assertEquals([run.status, run.error, run.usage?.input_tokens], [
    "halt",
    "state-error: refused",
    7,
  ]);
  assert(run.cause instanceof KitError);
});

Deno.test("runMachine() coerces whatever a tool gives to a text before the deposit", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
states:
  a: { tool: odd, output: o, gates: ${END} }
`);
  const odd: unknown = { d: new Date(0), m: new Map([[1, 2]]), u: undefined, n: NaN };
  // A tool written in JavaScript may give anything.
  const tools = new Map([["odd", { run: () => odd as string }]]);
  const { result } = await runMachine(machine, scripted({}, { tools }));
  assertEquals(result, '{"d":"1970-01-01T00:00:00.000Z","m":{},"n":null}');
});

Deno.test("runMachine() halts on a tool's cyclic answer", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 2
states:
  a: { tool: odd, output: o, gates: ${END} }
`);
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const odd: unknown = loop;
  const tools = new Map([["odd", { run: () => odd as string }]]);
  const run = await runMachine(machine, scripted({}, { tools }));
  assert(run.error?.startsWith("state-error: "));
});

Deno.test("runMachine() sends the events of a run in order, sub-runs within the caller's step", async () => {
  const outer = machineOf(`
machine: outer
entry: a
budget: 3
states:
  a: { call: inner, output: o, gates: ${END} }
`);
  const inner = machineOf(`
machine: inner
entry: k
budget: 3
states:
  k: { structure: s, prompt: p, sample: 2, output: o, gates: ${END} }
`);
  const events: MachineEvent[] = [];
  await runMachine(
    outer,
    scripted({ produce: ["x", "y"], tokens: [1, 1] }, {
      registry: createRegistry([outer, inner]),
      onEvent: (event) => events.push(event),
    }),
  );
  assertEquals(
    events.map(({ type, machine, depth }) => `${depth} ${machine} ${type}`),
    [
      "0 outer run-start",
      "0 outer state-start",
      "1 inner run-start",
      "1 inner state-start",
      "1 inner branch-done",
      "1 inner branch-done",
      "1 inner state-done",
      "1 inner run-finished",
      "0 outer state-done",
      "0 outer run-finished",
    ],
  );
  assertEquals(plain(events.at(-2)), {
    type: "state-done",
    state: "a",
    step: 1,
    gate: "otherwise",
    policy: "ok",
    to: "END",
    output: "1. x\n2. y",
    tokens: { input_tokens: 2, output_tokens: 2 },
    machine: "outer",
    depth: 0,
  });
});

Deno.test("runMachine() cuts an event's preview to 200 characters", async () => {
  const outputs: unknown[] = [];
  await runMachine(
    oneState(END),
    scripted({ produce: ["🙂".repeat(201)] }, {
      onEvent: (event) => event.type === "state-done" && outputs.push(event.output),
    }),
  );
  assertEquals(outputs, [`${"🙂".repeat(199)}…`]);
});

Deno.test("runMachine() is not touched by what observers throw", async () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const run = await runMachine(
    oneState(END),
    scripted({}, { onEvent: boom, onStep: boom, cancelRequested: boom }),
  );
  assertEquals(run.status, "done");
});

Deno.test("runMachine() halts with cancelled at the next state when the probe says so", async () => {
  let steps = 0;
  const run = await runMachine(
    oneState(LOOP),
    scripted({ judge: ["none"] }, { cancelRequested: () => ++steps > 2 }),
  );
  assertEquals([run.status, run.error, run.at, run.trace.length], ["halt", "cancelled", "a", 2]);
});

Deno.test("runMachine() cancels a call in flight at once, even one that ignores its signal", async () => {
  const controller = new AbortController();
  const oracle = oracleOf({
    produce: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => {});
    },
  });
  const run = await runMachine(oneState(END), scripted({}, { oracle, signal: controller.signal }));
  assertEquals([run.status, run.error, run.at], ["halt", "cancelled", "a"]);
});

Deno.test("runMachine() hands its signal to the oracle and to tools", async () => {
  const controller = new AbortController();
  const seen: AbortSignal[] = [];
  const machine = machineOf(`
machine: m
entry: a
budget: 3
states:
  a: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { tool: t, output: o, gates: ${END} }
`);
  const oracle = oracleOf({
    produce: ({ signal }) => {
      seen.push(signal);
      return textOf("x");
    },
  });
  const tools = new Map([["t", {
    run: (_input: JsonObject, { signal }: { signal: AbortSignal }) => {
      seen.push(signal);
      return "y";
    },
  }]]);
  await runMachine(machine, scripted({}, { oracle, tools, signal: controller.signal }));
  assertEquals(seen.map((signal) => signal === controller.signal), [true, true]);
});

Deno.test("runMachine() does not start a tool after its signal fired", async () => {
  const controller = new AbortController();
  controller.abort();
  let runs = 0;
  const machine = machineOf(`
machine: m
entry: a
budget: 3
states:
  a: { tool: t, output: o, gates: ${END} }
`);
  const tools = new Map([["t", { run: () => `${++runs}` }]]);
  const run = await runMachine(machine, scripted({}, { tools, signal: controller.signal }));
  assertEquals([run.error, runs], ["cancelled", 0]);
});

Deno.test("runMachine() tells of an effectful tool before it runs, and waits", async () => {
  const order: string[] = [];
  const machine = machineOf(`
machine: m
entry: a
budget: 3
context: { text: hi }
states:
  a: { tool: search, output: o, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { tool: send, input: { t: "{{text}}" }, output: o, gates: ${END} }
`);
  const tools = new Map([
    ["search", { run: () => "found" }],
    ["send", {
      run: () => {
        order.push("send");
        return "sent";
      },
    }],
  ]);
  await runMachine(
    machine,
    scripted({}, {
      tools,
      beforeEffect: async (intent) => {
        await Promise.resolve();
        order.push(JSON.stringify(intent));
      },
    }),
  );
  assertEquals(order, ['{"machine":"m","state":"b","tool":"send","input":{"t":"hi"}}', "send"]);
});

Deno.test("runMachine() rejects when the intent cannot be kept, and the tool does not run", async () => {
  let runs = 0;
  const machine = machineOf(`
machine: m
entry: a
budget: 3
states:
  a: { tool: send, output: o, gates: ${END} }
`);
  const options = scripted({}, {
    tools: new Map([["send", { run: () => `${++runs}` }]]),
    beforeEffect: () => Promise.reject(new Error("disk full")),
  });
  await assertRejects(() => runMachine(machine, options), Error, "disk full");
  assertEquals(runs, 0);
});

Deno.test("runMachine() asks a tool itself whether it is effectful, unless the caller says", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 3
states:
  a: { tool: peek, output: o, gates: ${END} }
`);
  const tools = new Map([["peek", { effect: "read" as const, run: () => "x" }]]);
  const options = { tools, flowTainted: true, onUntrustedFlow: "halt" as const };
  assertEquals((await runMachine(machine, scripted({}, options))).status, "done");
  const stricter = { ...options, toolEffects: { peek: "effect" as const } };
  assertEquals((await runMachine(machine, scripted({}, stricter))).error, "untrusted-control-flow");
});

Deno.test("runMachine() keeps the last steps of a trace and streams every one", async () => {
  const streamed: TraceStep[] = [];
  const run = await runMachine(
    oneState(LOOP),
    scripted({ judge: ["none"] }, { trace: "last:3", onStep: (step) => streamed.push(step) }),
  );
  assertEquals(run.trace.map(({ step }) => step), [7, 8, 9]);
  assertEquals(streamed.map(({ step }) => step), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const none = await runMachine(oneState(END), scripted({}, { trace: "last:0" }));
  assertEquals(none.trace, []);
});

Deno.test("runMachine() halts a root whose gate leads nowhere with the state's name", async () => {
  const machine = oneState("[{ when: otherwise, then: ok, to: nowhere }]");
  const run = await runMachine(machine, scripted());
  assertEquals([run.error, run.at], ["state-error: unknown state 'nowhere'", "nowhere"]);
});

Deno.test("runMachine() halts a caller with state-error when the called machine leads nowhere", async () => {
  const outer = oneState(END).name === "one"
    ? machineOf(`
machine: outer
entry: c
budget: 2
states:
  c: { call: one, output: o, gates: ${END} }
`)
    : undefined;
  assert(outer !== undefined);
  const lost = oneState("[{ when: otherwise, then: ok, to: nowhere }]");
  const run = await runMachine(outer, scripted({}, { registry: createRegistry([outer, lost]) }));
  assertEquals([run.error, run.at, run.trace.length], [
    "state-error: unknown state 'nowhere'",
    "c",
    0,
  ]);
});

Deno.test("runMachine() refuses a value that doubles at every step instead of eating the memory", async () => {
  const machine = machineOf(`
machine: m
entry: a
budget: 1000
context: { x: [1] }
states:
  a: { call: twice, input: { x: "{{x}}" }, sample: 2, output: x, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { tool: t, output: o, gates: [{ when: on, hook: always_true, then: ok, to: a }, { when: otherwise, then: ok, to: END }] }
`);
  const twice = machineOf(`
machine: twice
entry: k
budget: 1
result: x
states:
  k: { tool: t, output: o, gates: ${END} }
`);
  const tools = new Map([["t", { run: () => "x" }]]);
  const run = await runMachine(
    machine,
    scripted({}, { tools, registry: createRegistry([machine, twice]) }),
  );
  assertEquals(run.error, "state-error: output 'x' holds over 1000000 values");
});

const invalid: [what: string, options: Record<string, unknown>][] = [
  ["an unknown truncation policy", { onTruncate: "stop" }],
  ["an unknown flow policy", { onUntrustedFlow: "warn" }],
  ["no workers", { maxWorkers: 0 }],
  ["a negative budget", { costBudget: -1 }],
  ["a budget that is no number", { costBudget: NaN }],
  ["an unknown trace size", { trace: "first:3" }],
];
for (const [what, options] of invalid) {
  Deno.test(`runMachine() throws for ${what}`, async () => {
    const error = await assertRejects(
      () => runMachine(oneState(END), { ...scripted(), ...options }),
      ConfigError,
    );
    assertEquals(error.code, "argument");
  });
}

Deno.test("runMachine() lets the event loop turn when it has nothing to wait for", async () => {
  const { clock, random } = manualPorts();
  let now = 0;
  let turns = 0;
  const machine = machineOf(`
machine: m
entry: a
budget: 1000
states:
  a: { structure: s, prompt: p, output: o, gates: [{ when: good, then: ok, to: END }, { when: otherwise, then: ok, to: a }] }
`);
  await runMachine(machine, {
    oracle: createScriptedOracle({ judge: ["none"] }),
    ports: {
      random,
      clock: {
        ...clock,
        now: () => now,
        monotonic: () => now += 1,
        sleep: () => {
          turns++;
          return Promise.resolve();
        },
        deadline: (ms) => clock.deadline(ms),
        local: (instant) => clock.local(instant),
      },
    },
  });
  assert(turns >= 3 && turns <= 15, `${turns} turns`);
});
