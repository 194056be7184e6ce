import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { Emitted, RunRequest } from "../../src/host/mod.ts";
import type { JsonValue } from "../../src/json/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, PLAIN, rig, type RigOptions } from "./harness.ts";

/** Wire objects without what differs from run to run. */
function masked({ object }: Emitted): Record<string, unknown> {
  const { run: _run, checkpoint: _checkpoint, ...rest } = object;
  return rest;
}

function text(emitted: Emitted, key: string): string {
  return String(emitted.object[key]);
}

async function suspendedRun(options: RigOptions & { replies?: readonly string[] } = {}) {
  const { replies = ["D", "Y"], ...rest } = options;
  const model = new MockProvider(replies);
  const made = rig({ ...rest, model });
  const first = await made.host.run({ source: ASKING, hitl: true });
  return { ...made, model, first, handle: text(first, "checkpoint") };
}

Deno.test("Host.run() gives the object of the language, then what the host adds", async () => {
  const { host } = rig({ model: new MockProvider([{ content: "R", usage: use(3, 2) }]) });
  const emitted = await host.run({ source: PLAIN, inputs: { task: "it" }, detail: "full" });
  assertFalse(emitted.isError);
  assertEquals(Object.keys(emitted.object), [
    "status",
    "error",
    "result",
    "usage",
    "trace",
    "warnings",
    "provider",
  ]);
  assertEquals(emitted.object["result"], "R");
  assertEquals(emitted.object["usage"], { input_tokens: 3, output_tokens: 2 });
  assertEquals(
    emitted.text,
    "status: done\nresult: R\npath: a → END (1 state)\ntokens: 3 in, 2 out",
  );
});

function use(inputTokens: number, outputTokens: number) {
  return { inputTokens, outputTokens, known: true };
}

const invalid: readonly (readonly [string, RunRequest, readonly string[]])[] = [
  ["neither source nor path", {}, ['Give exactly one of "source" and "path": found neither']],
  ["both", { source: PLAIN, path: "x.mk" }, [
    'Give exactly one of "source" and "path": found both',
  ]],
  [
    "every wrong argument at once",
    {
      source: PLAIN,
      onTruncate: "stop",
      onUntrustedFlow: "no",
      costBudget: 0,
      waitSeconds: -1,
      inputs: { " ": 1 },
    },
    [
      '"on_truncate" is "stop": write "report" or "halt"',
      '"on_untrusted_flow" is "no": write "report" or "halt"',
      '"cost_budget" is 0: write a number of tokens above 0',
      '"wait_seconds" is -1: write a number of seconds, or 0 for no limit',
      '"inputs" has a blank path',
    ],
  ],
  ["a cost budget of 0, unlike the reference", { source: PLAIN, costBudget: 0 }, [
    '"cost_budget" is 0: write a number of tokens above 0',
  ]],
  ["a cost budget that is no number", { source: PLAIN, costBudget: NaN }, [
    '"cost_budget" is NaN: write a number of tokens above 0',
  ]],
];
for (const [what, request, errors] of invalid) {
  Deno.test(`Host.run() answers invalid-request for ${what}`, async () => {
    const { host } = rig({ model: new MockProvider([]) });
    const emitted = await host.run(request);
    assertEquals(emitted.object, {
      status: "error",
      error: "invalid-request",
      errors,
      warnings: [],
      result: null,
      usage: null,
      trace: [],
    });
    assertEquals([emitted.isError, emitted.failure], [true, "usage"]);
  });
}

Deno.test("Host.run() is not disturbed by listeners that throw or reject", async () => {
  const { host } = rig({ model: new MockProvider(["R"]) });
  const emitted = await host.run({ source: PLAIN }, {
    onProgress: () => {
      throw new Error("thrown by a listener");
    },
    onEvent: () => Promise.reject(new Error("rejected by a listener")),
  });
  assertEquals(emitted.object["status"], "done");
});

Deno.test("Host.run() names what is missing before it looks at the machine", async () => {
  const emitted = await rig().host.run({ source: "machine: [" });
  assertEquals([emitted.object["error"], emitted.failure], ["prepare-failed", "config"]);
  assertStringIncludes(emitted.text, "EXECUTIONKIT_BASE_URL");
});

Deno.test("Host.run() tells every error of a machine and spends nothing", async () => {
  const model = new MockProvider([]);
  const { host } = rig({ model });
  const source = PLAIN.replace("entry: a", "entry: z").replace("to: END", "to: nowhere");
  const emitted = await host.run({ source });
  const errors = emitted.object["errors"];
  assert(Array.isArray(errors) && errors.length >= 3, JSON.stringify(errors));
  assertStringIncludes(String(errors[0]), "entry 'z' is not a state");
  assertStringIncludes(String(errors[1]), "a: gate -> unknown state 'nowhere'");
  assertEquals(model.callCount, 0);
});

Deno.test("Host.run() names the tiers that no model serves", async () => {
  const model = new MockProvider([]);
  const models = { name: "m", scripted: false, tiers: { fast: model }, params: {} };
  const { host } = rig({ models } as never);
  const emitted = await host.run({ source: PLAIN });
  assertEquals(emitted.object["errors"], [
    "tier(s) ['balanced'] not in provider map (available: ['fast'])",
  ]);
});

Deno.test("Host.run() warns of tools and hooks that are not bound, and of a shadowed name", async () => {
  const { host } = rig({ model: new MockProvider(["x"]) });
  const source = `
machine: std_cot
entry: a
budget: 4
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: x, hook: nope, then: ok, to: b }, { when: otherwise, then: ok, to: END } ] }
  b: { tool: launch, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
  const { object } = await host.run({ source });
  const warnings = String(object["warnings"]);
  assertStringIncludes(warnings, "machine 'std_cot' shadows the bundled stdlib machine");
  assertStringIncludes(warnings, "state 'b' uses tool 'launch' not in the registry");
  assertStringIncludes(warnings, "state 'a' uses hook 'nope'");
});

Deno.test("Host.run() fills the declared clock with local time", async () => {
  const model = new MockProvider([(call) => String(call.messages.at(-1)?.content)]);
  const { host } = rig({ model });
  const source = PLAIN.replace('task: ""', 'today: ""').replace("do {{task}}", "on {{today}}");
  const { object } = await host.run({ source });
  assertMatch(String(object["result"]), /2026-01-01/);
});

Deno.test("Host.run() suspends for a person and says what to do next", async () => {
  const { first, handle } = await suspendedRun();
  assertEquals(
    [first.object["status"], first.object["error"], first.object["at"]],
    ["suspended", "escalated", "apply"],
  );
  assertEquals([first.object["ask"], first.object["reply_to"]], ["Approve?", "decision.answer"]);
  assertMatch(handle, /^[0-9a-f]{32}$/);
  assertStringIncludes(first.text, "a person must reply: Approve?");
});

Deno.test("Host.run() takes the escalation as a plain gate without hitl", async () => {
  const { host } = rig({ model: new MockProvider(["D", "Y"]) });
  assertEquals((await host.run({ source: ASKING })).object["result"], "Y");
});

Deno.test("Host.resume() without inputs shows the suspension again and claims nothing", async () => {
  const { host, first, handle, model } = await suspendedRun();
  for (let i = 0; i < 3; i++) {
    const shown = await host.resume({ checkpoint: handle });
    assertEquals(shown.object, first.object);
  }
  assertEquals(model.callCount, 1);
  const done = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "yes" } });
  assertEquals(done.object["result"], "Y");
});

Deno.test("Host.resume() puts the reply where it belongs and says how it came in", async () => {
  const { host, handle, model } = await suspendedRun();
  const done = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "yes" } });
  assertEquals(done.object["status"], "done");
  assertEquals(done.object["reply_via"], "argument");
  const prompt = String(model.calls.at(-1)?.messages.at(-1)?.content);
  assertMatch(prompt, /apply <data-[0-9a-f]{12}>\nyes\n<\/data-/);
});

Deno.test("Host.resume() answers already-resumed the second time, with the run to look at", async () => {
  const { host, handle } = await suspendedRun();
  const done = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "yes" } });
  const again = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "no" } });
  assertEquals([again.isError, again.object["error"]], [true, "already-resumed"]);
  assertStringIncludes(again.text, text(done, "run"));
  const looked = await host.resume({ run: text(done, "run") });
  assertEquals(masked(looked), masked(done));
});

Deno.test("Host.resume(), unlike the reference, gives a suspension to exactly one of several racing calls", async () => {
  const { host, handle, model } = await suspendedRun();
  const all = await Promise.all(
    ["a", "b", "c", "d"].map((answer) =>
      host.resume({ checkpoint: handle, inputs: { "decision.answer": answer } })
    ),
  );
  const errors = all.map(({ object }) => object["error"]);
  assertEquals(errors.filter((error) => error === null).length, 1);
  assertEquals(errors.filter((error) => error === "busy").length, 3);
  assertEquals(model.callCount, 2);
});

Deno.test("Host.resume(), unlike the reference, validates before it touches anything", async () => {
  const { host, handle } = await suspendedRun();
  const bad = await host.resume({ checkpoint: handle, inputs: {}, onTruncate: "x" });
  assertEquals(bad.object["error"], "invalid-request");
  const done = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "yes" } });
  assertEquals(done.object["status"], "done");
});

Deno.test("Host.resume() puts the suspension back when it cannot be prepared", async () => {
  const { host, handle, files } = await suspendedRun();
  files.put("/project/taken.json", "mine");
  const bad = await host.resume({
    checkpoint: handle,
    inputs: { "decision.answer": "yes" },
    checkpointPath: "taken.json",
  });
  assertEquals(bad.object["error"], "invalid-request");
  assertEquals(files.text("/project/taken.json"), "mine");
  const done = await host.resume({ checkpoint: handle, inputs: { "decision.answer": "yes" } });
  assertEquals(done.object["status"], "done");
});

const refused:
  readonly (readonly [string, Parameters<ReturnType<typeof rig>["host"]["resume"]>[0], string])[] =
    [
      ["a handle that never was", { checkpoint: "0".repeat(32) }, "unknown-checkpoint"],
      ["a file that is not there", { checkpoint: "nope.json" }, "unknown-checkpoint"],
      ["a run that never was", { run: "0".repeat(32) }, "unknown-run"],
      ["a run that is no handle", { run: "../../etc/passwd" }, "unknown-run"],
      ["neither handle nor run", {}, "invalid-request"],
      ["both", { checkpoint: "0".repeat(32), run: "0".repeat(32) }, "invalid-request"],
      ["inputs for a look", { run: "0".repeat(32), inputs: {} }, "invalid-request"],
      ["cancel without a run", { checkpoint: "0".repeat(32), cancel: true }, "invalid-request"],
    ];
for (const [what, request, slug] of refused) {
  Deno.test(`Host.resume() answers ${slug} for ${what}`, async () => {
    const { host } = rig({ model: new MockProvider([]) });
    const emitted = await host.resume(request);
    assertEquals([emitted.isError, emitted.object["error"]], [true, slug]);
  });
}

Deno.test("Host.resume() lets a suspension expire when its time is over", async () => {
  const { host, handle, clock } = await suspendedRun({ limits: { suspensionTtlMs: 1000 } });
  await clock.advance(1000);
  const late = await host.resume({ checkpoint: handle, inputs: {} });
  assertEquals(late.object["error"], "expired");
});

Deno.test("Host.run() refuses new work when the store is full, and keeps who waits", async () => {
  const model = new MockProvider(["1", "2", "Y"]);
  const { host } = rig({ model, limits: { maxSuspended: 2 } });
  const first = await host.run({ source: ASKING, hitl: true });
  await host.run({ source: ASKING, hitl: true });
  const third = await host.run({ source: ASKING, hitl: true });
  assertEquals([third.object["error"], third.failure], ["busy", "busy"]);
  const inputs = { "decision.answer": "yes" };
  const done = await host.resume({ checkpoint: text(first, "checkpoint"), inputs });
  assertEquals(done.object["status"], "done");
  assertEquals(model.callCount, 3);
});

Deno.test("Host.resume() suspends again under a new handle, spends both tokens and the old one", async () => {
  const twice = `
machine: two
entry: a
budget: 9
states:
  a: { structure: s, prompt: start, output: o, gates: [ { when: otherwise, escalate: true, to: b, ask: "1?", reply_to: r1.t } ] }
  b: { structure: s, prompt: "mid {{r1.t}}", output: o2, gates: [ { when: otherwise, escalate: true, to: c, ask: "2?", reply_to: r2.t } ] }
  c: { structure: s, prompt: "end {{r2.t}}", output: o3, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
  const { host } = rig({ model: new MockProvider(["X", "Y", "Z"]) });
  const one = await host.run({ source: twice, hitl: true });
  const two = await host.resume({ checkpoint: text(one, "checkpoint"), inputs: { "r1.t": "one" } });
  assertEquals([two.object["at"], two.object["ask"]], ["c", "2?"]);
  assert(text(one, "checkpoint") !== text(two, "checkpoint"));
  assertEquals(text(one, "run"), text(two, "run"));
  const old = await host.resume({ checkpoint: text(one, "checkpoint"), inputs: {} });
  assertEquals(old.object["error"], "already-resumed");
  const done = await host.resume({
    checkpoint: text(two, "checkpoint"),
    inputs: { "r2.t": "two" },
  });
  assertEquals([done.object["status"], done.object["result"]], ["done", "Z"]);
  const trace = done.object["trace"];
  assertEquals(Array.isArray(trace) && trace.length, 3);
});

Deno.test("Host.resume() warns that a budget which is not above the exhausted one cannot help", async () => {
  const model = new MockProvider([{ content: "D", usage: use(5, 5) }, "never"]);
  const { host } = rig({ model });
  const first = await host.run({ source: ASKING, costBudget: 10 });
  assertEquals([first.object["status"], first.object["error"]], ["suspended", "cost-exhausted"]);
  const again = await host.resume({ checkpoint: text(first, "checkpoint"), costBudget: 10 });
  assertEquals(again.object["error"], "cost-exhausted");
  assertStringIncludes(String(again.object["warnings"]), "not above the exhausted one (10)");
  const more = await host.resume({ checkpoint: text(again, "checkpoint"), costBudget: 1000 });
  assertEquals([more.object["status"], more.object["result"]], ["done", "never"]);
});

Deno.test("Host.run() says what an author can do about a halt", async () => {
  const source = PLAIN.replace("when: otherwise, then: ok", 'when: "never", then: ok');
  const { host } = rig({ model: new MockProvider(["R", '{"choice": 2}']) });
  const emitted = await host.run({ source });
  assertEquals(emitted.object["error"], "no-gate-matched");
  assertStringIncludes(
    emitted.text,
    "next: end the state's gates with one whose when is otherwise",
  );
});

Deno.test("Host.run() bounds a run by what the operator allows", async () => {
  const model = new MockProvider([{ content: "D", usage: use(50, 50) }]);
  const { host } = rig({ model, limits: { maxRunTokens: 100 } });
  const emitted = await host.run({ source: ASKING, costBudget: 5000 });
  assertEquals(emitted.object["error"], "cost-exhausted");
  assertStringIncludes(String(emitted.object["warnings"]), "above the 100 tokens");
});

Deno.test("Host.run() under KIT_CONFIRM=elicitation lets no argument confirm", async () => {
  const guarded = `
machine: guarded
entry: a
budget: 9
context: { req: "" }
states:
  a: { structure: s, prompt: "R {{req}}", output: plan, gates: [ { when: act, escalate: true, to: w, ask: "Write?" }, { when: otherwise, then: ok, to: END } ] }
  w: { tool: write_file, input: { path: out.md, content: "{{plan}}" }, output: done, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
  const outcomes: Record<string, unknown> = {};
  for (
    const [name, env, replyVia] of [
      ["argument", {}, "argument"],
      ["strict argument", { KIT_CONFIRM: "elicitation" }, "argument"],
      ["strict elicitation", { KIT_CONFIRM: "elicitation" }, "elicitation"],
      ["strict command line", { KIT_CONFIRM: "elicitation" }, "cli"],
      ["unknown argument", { KIT_CONFIRM: "Elicitation" }, "argument"],
      ["all argument", { KIT_CONFIRM: "all" }, "argument"],
    ] as const
  ) {
    const model = new MockProvider(["plan", '{"choice": 1}']);
    const { host } = rig({ model, env });
    const first = await host.run({
      source: guarded,
      hitl: true,
      inputs: { req: "please" },
      onUntrustedFlow: "halt",
    });
    assertEquals(first.object["error"], "escalated", first.text);
    const inputs = { "human.reply": "yes" };
    const end = await host.resume({ checkpoint: text(first, "checkpoint"), inputs, replyVia });
    outcomes[name] = [end.object["status"], end.object["error"]];
  }
  assertEquals(outcomes, {
    "argument": ["done", null],
    "strict argument": ["halt", "untrusted-control-flow"],
    "strict elicitation": ["done", null],
    "strict command line": ["done", null],
    "unknown argument": ["halt", "untrusted-control-flow"],
    "all argument": ["done", null],
  });
});

for (const by of ["handle", "file"]) {
  Deno.test(`Host.run() and resume() by a ${by} warn of a KIT_CONFIRM that they do not know`, async () => {
    const warning =
      'KIT_CONFIRM is "maybe", which counts as "elicitation": write "elicitation" or "all"';
    const model = new MockProvider(["R", "R"]);
    const options = { model, env: { KIT_CONFIRM: "maybe" }, checkpointDirectory: "/project" };
    const { host } = rig(options);
    const first = await host.run({ source: ASKING, hitl: true, checkpointPath: "c.json" });
    assert(String(first.object["warnings"]).includes(warning), first.text);
    const inputs = { "human.reply": "yes" };
    const checkpoint = by === "file" ? "c.json" : text(first, "checkpoint");
    const end = await host.resume({ checkpoint, inputs });
    assert(String(end.object["warnings"]).includes(warning), end.text);
  });
}

Deno.test("Host.run() lets no input reach a prototype", async () => {
  const { host } = rig({ model: new MockProvider(["R", "R"]) });
  const inputs = JSON.parse('{"__proto__.polluted": 1, "constructor.prototype.polluted": 2}');
  await host.run({ source: PLAIN, inputs });
  const { handle, host: other } = await suspendedRun();
  await other.resume({ checkpoint: handle, inputs });
  assertEquals(Reflect.get({}, "polluted"), undefined);
});

Deno.test("Host.run() says that the process has spent its budget", async () => {
  const model = new MockProvider(["R"]);
  const { host } = rig({ model, limits: { maxProcessCalls: 1 } });
  assertEquals((await host.run({ source: PLAIN })).object["status"], "done");
  const second = await host.run({ source: PLAIN });
  assertEquals([second.object["status"], second.failure], ["halt", "budget"]);
  assertEquals(model.callCount, 1);
});

Deno.test("Host.run() and Host.resume() refuse inputs that are nested too deeply, and lose nothing", async () => {
  let deep: JsonValue = 1;
  for (let i = 0; i < 3000; i++) deep = [deep];
  const { host } = rig({ model: new MockProvider(["R"]) });
  const refused = await host.run({ source: PLAIN, inputs: { task: deep } });
  assertEquals([refused.object["error"], refused.failure], ["invalid-request", "usage"]);
  const steps = Array.from({ length: 400 }, () => "a").join(".");
  assert(typeof (await host.run({ source: PLAIN, inputs: { [steps]: 1 } })).text === "string");
  const waiting = await suspendedRun();
  const bad = await waiting.host.resume({ checkpoint: waiting.handle, inputs: { x: deep } });
  assert(bad.isError, bad.text);
  const inputs = { "decision.answer": "yes" };
  const done = await waiting.host.resume({ checkpoint: waiting.handle, inputs });
  assertEquals(done.object["status"], "done");
});
