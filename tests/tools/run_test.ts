import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { validateSchema } from "../../src/json/mod.ts";
import type { Answer, ToolOutcome } from "../../src/mcp/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, PLAIN } from "../host/harness.ts";
import { object, texts, toolRig } from "./harness.ts";

type Asked = Extract<ToolOutcome, { kind: "ask" }>;

function asked(outcome: ToolOutcome): Asked {
  if (outcome.kind !== "ask") throw new Error(`no question: ${texts(outcome)[0]}`);
  return outcome;
}

function message({ questions }: Asked): string {
  return String(Reflect.get(Object(questions["reply"]), "message"));
}

const ARGS = { source: ASKING, hitl: true };
const accept = (reply: string): Record<string, Answer> => ({
  reply: { action: "accept", content: { reply } },
});

Deno.test("run gives text, JSON and structured content that fit its schema", async () => {
  const { call, tools } = toolRig({ model: new MockProvider(["R"]) });
  const outcome = await call("run", { source: PLAIN });
  const [text, json] = texts(outcome);
  assertStringIncludes(text ?? "", "status: done\nresult: R");
  assertEquals(JSON.parse(json ?? ""), object(outcome));
  assertEquals(await validateSchema(tools[2]?.outputSchema ?? {}, object(outcome)), []);
});

Deno.test("run leaves texts out of the trace unless asked for all of it", async () => {
  const { call } = toolRig({ model: new MockProvider(["R", "R"]) });
  const [short] = Array.of(object(await call("run", { source: PLAIN }))["trace"]).flat();
  assertFalse(Object.hasOwn(Object(short), "output"));
  const full = object(await call("run", { source: PLAIN, detail: "full" }))["trace"];
  assertEquals(Reflect.get(Object(Array.of(full).flat()[0]), "output"), "R");
});

Deno.test("run cuts what is too large for a line, says so, and keeps the essentials", async () => {
  const long = "x".repeat(50_000);
  const { call } = toolRig({ model: new MockProvider([long]), limits: { maxResultBytes: 20_000 } });
  const outcome = await call("run", { source: PLAIN, detail: "full" });
  const given = object(outcome);
  assert(JSON.stringify(given).length <= 20_000);
  assertEquals([given["status"], given["provider"]], ["done", "test"]);
  assertMatch(String(given["truncated"]), /the result is cut to its first \d+ of 50000 characters/);
  assert((texts(outcome)[0] ?? "").length < 6000);
});

Deno.test("run answers a failed preparation as isError with slug and every problem as JSON", async () => {
  const { call } = toolRig({ model: new MockProvider([]) });
  const outcome = await call("run", { source: PLAIN.replace("entry: a", "entry: z") });
  assert(outcome.kind === "result" && outcome.isError);
  const json = JSON.parse(texts(outcome)[1] ?? "");
  assertEquals([json.status, json.error], ["error", "prepare-failed"]);
  assertEquals(json.warnings.length, 1);
  assertStringIncludes(json.errors[0], "entry 'z' is not a state");
  assertEquals(outcome.meta, { "dev.kit/error": { code: "prepare-failed", retryable: false } });
});

Deno.test("run names its next steps as the tools are served", async () => {
  const { call } = toolRig({ model: new MockProvider(["D"]), tools: { prefix: "kit_" } });
  const outcome = await call("kit_run", ARGS);
  assertMatch(
    texts(outcome)[0] ?? "",
    /next: ask the person, then call kit_resume \{"checkpoint": "[0-9a-f]{32}", "inputs": \{"decision.answer": "<the reply>"\}\}/,
  );
});

Deno.test("run asks through the client where it can: a form of one required text", async () => {
  const { call } = toolRig({ model: new MockProvider(["D", "Y"]) });
  const question = asked(await call("run", ARGS, { canAsk: true }));
  assertEquals(question.questions, {
    reply: {
      message: "Approve?",
      requestedSchema: {
        type: "object",
        properties: { reply: { type: "string", title: "Reply" } },
        required: ["reply"],
      },
    },
  });
  const parts = { canAsk: true, state: question.state, answers: accept("yes") };
  const done = object(await call("run", ARGS, parts));
  assertEquals([done["status"], done["result"], done["reply_via"]], ["done", "Y", "elicitation"]);
});

const noReplies: readonly (readonly [string, Record<string, Answer>])[] = [
  ["declines", { reply: { action: "decline" } }],
  ["cancels", { reply: { action: "cancel" } }],
  ["gives no answer", {}],
  ["accepts an empty form", { reply: { action: "accept", content: {} } }],
  ["accepts with a blank reply", accept("  ")],
  ["accepts with something else", { reply: { action: "accept", content: { reply: true } } }],
];
for (const [what, answers] of noReplies) {
  Deno.test(`run stays suspended behind its handle when the person ${what}`, async () => {
    const model = new MockProvider(["D", "Y"]);
    const { call } = toolRig({ model });
    const { state } = asked(await call("run", ARGS, { canAsk: true }));
    const outcome = await call("run", ARGS, { canAsk: true, state, answers });
    assert(outcome.kind === "result" && outcome.isError === false);
    const given = object(outcome);
    assertEquals([given["status"], given["ask"]], ["suspended", "Approve?"]);
    assertEquals(model.callCount, 1);
    const inputs = { "decision.answer": "yes" };
    const done = await call("resume", { checkpoint: String(given["checkpoint"]), inputs });
    assertEquals(object(done)["status"], "done");
  });
}

Deno.test("run does not carry a reply over to another question", async () => {
  const model = new MockProvider(["D", "E"]);
  const { call } = toolRig({ model });
  const one = asked(await call("run", ARGS, { canAsk: true }));
  const other = { ...ARGS, source: ASKING.replace("Approve?", "Delete it all?") };
  const two = asked(await call("run", other, { canAsk: true }));
  const mixed = {
    ...Object(one.state),
    checkpoint: Reflect.get(Object(two.state), "checkpoint"),
  };
  const outcome = await call("run", ARGS, { canAsk: true, state: mixed, answers: accept("yes") });
  assertEquals([object(outcome)["status"], object(outcome)["ask"]], [
    "suspended",
    "Delete it all?",
  ]);
  assertEquals(model.callCount, 2);
});

Deno.test("run does not carry a reply over to another output of the same question", async () => {
  const model = new MockProvider(["good draft", "bad draft"]);
  const { call } = toolRig({ model });
  const one = asked(await call("run", ARGS, { canAsk: true }));
  const two = asked(await call("run", ARGS, { canAsk: true }));
  const mixed = {
    ...Object(one.state),
    checkpoint: Reflect.get(Object(two.state), "checkpoint"),
  };
  const outcome = await call("run", ARGS, { canAsk: true, state: mixed, answers: accept("yes") });
  assertEquals(object(outcome)["status"], "suspended");
  assertEquals(model.callCount, 2);
});

Deno.test("run uses a reply once, whatever the client repeats", async () => {
  const model = new MockProvider(["D", "Y"]);
  const { call } = toolRig({ model });
  const { state } = asked(await call("run", ARGS, { canAsk: true }));
  const parts = { canAsk: true, state, answers: accept("yes") };
  assertEquals(object(await call("run", ARGS, parts))["status"], "done");
  const again = await call("run", ARGS, parts);
  assert(again.kind === "result" && again.isError);
  assertEquals(object(again)["error"], "already-resumed");
  assertEquals(model.callCount, 2);
});

Deno.test("run asks again where the machine asks again", async () => {
  const twice = `
machine: two
entry: a
budget: 9
states:
  a: { structure: s, prompt: start, output: o, gates: [ { when: otherwise, escalate: true, to: b, ask: "1?", reply_to: r1.t } ] }
  b: { structure: s, prompt: "mid {{r1.t}}", output: o2, gates: [ { when: otherwise, escalate: true, to: c, ask: "2?", reply_to: r2.t } ] }
  c: { structure: s, prompt: "end {{r2.t}}", output: o3, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
  const { call } = toolRig({ model: new MockProvider(["X", "Y", "Z"]) });
  const args = { source: twice, hitl: true };
  const one = asked(await call("run", args, { canAsk: true }));
  const two = asked(
    await call("run", args, { canAsk: true, state: one.state, answers: accept("one") }),
  );
  assertEquals(message(two), "2?");
  const parts = { canAsk: true, state: two.state, answers: accept("two") };
  assertEquals(object(await call("run", args, parts))["result"], "Z");
});

Deno.test("run cuts a question that is too long for a form", async () => {
  const source = ASKING.replace("Approve?", "q".repeat(5000));
  const { call } = toolRig({ model: new MockProvider(["D"]) });
  const question = asked(await call("run", { source, hitl: true }, { canAsk: true }));
  assertEquals(message(question).length, 4000);
});

Deno.test("resume without inputs only shows, and asks nobody", async () => {
  const { call } = toolRig({ model: new MockProvider(["D"]) });
  const first = object(await call("run", ARGS));
  const checkpoint = String(first["checkpoint"]);
  const shown = await call("resume", { checkpoint }, { canAsk: true });
  assertEquals(object(shown), first);
});

Deno.test("check answers what is wrong without a provider, each with its place", async () => {
  const outcome = await toolRig().call("check", { source: PLAIN.replace("to: END", "to: x") });
  const given = object(outcome);
  assert(outcome.kind === "result" && outcome.isError === false);
  assertFalse(given["ok"]);
  assertStringIncludes(String(given["errors"]), "a: gate -> unknown state 'x'");
  assertMatch(String(given["errors"]), /line 8, column \d+/);
  assertStringIncludes(texts(outcome)[0] ?? "", "not ok");
});

const readings: readonly (readonly [string, string, RegExp])[] = [
  ["broken YAML", "machine: [", /^invalid YAML: /],
  ["a broken grammar", "machine: x\nentry: a\nbudget: 1\nstates: {}\n", /^schema: /],
];
for (const [what, source, prefix] of readings) {
  Deno.test(`check says where ${what} of an inline source was found`, async () => {
    const { call, files } = toolRig({ workspace: "/project" });
    const inline = object(await call("check", { source }))["errors"];
    assertMatch(String(Array.of(inline).flat()[0]), prefix);
    files.put("/project/m.mk", source);
    const byPath = object(await call("check", { path: "m.mk" }))["errors"];
    assertFalse(prefix.test(String(Array.of(byPath).flat()[0])));
  });
}

Deno.test("list_machines names the bundled ones with what they need", async () => {
  const { call, tools } = toolRig();
  const outcome = await call("list_machines", {});
  const machines = Array.of(object(outcome)["machines"]).flat();
  assertEquals(machines.length, 10);
  assertEquals(machines[3], {
    name: "std_debate",
    source: "stdlib",
    entry: "argue",
    result: "answer",
    budget: 12,
    context_keys: ["personas", "task"],
  });
  assertEquals(await validateSchema(tools[5]?.outputSchema ?? {}, object(outcome)), []);
});

Deno.test("describe_machine shows states and gates, and unknown-machine for an unknown name", async () => {
  const { call, tools } = toolRig();
  const outcome = await call("describe_machine", { name: "std_refine" });
  const given = object(outcome);
  assertEquals(given["states"], [
    { id: "draft", kind: "generative", output: "answer", gates: 3 },
    { id: "flag_unresolved", kind: "generative", output: "answer", gates: 1 },
  ]);
  assertMatch(String(given["document"]), /^\s*(?:#.*\s*)*mklang: "0\.2"\nmachine: std_refine\n/);
  assertEquals(await validateSchema(tools[6]?.outputSchema ?? {}, given), []);
  const unknown = await call("describe_machine", { name: "nope" });
  assert(unknown.kind === "result" && unknown.isError);
  assertEquals(object(unknown)["error"], "unknown-machine");
});

Deno.test("run shows in its definition a machine that has no error and no warning", async () => {
  const { call, tools } = toolRig();
  const properties = Object(tools[2]?.inputSchema["properties"]);
  const hint = String(Reflect.get(Object(Reflect.get(properties, "source")), "description"));
  const source = hint.slice(hint.indexOf("{"));
  const checked = object(await call("check", { source }));
  assertEquals([checked["ok"], checked["errors"], checked["warnings"]], [true, [], []]);
});

Deno.test("run that goes on after a reply waits no longer than its call says", async () => {
  const { clock } = toolRig();
  const model = new MockProvider(["D", { content: "late", delayMs: 40_000 }], { clock });
  const { call } = toolRig({ clock, model });
  const args = { ...ARGS, "wait_seconds": 2 };
  const { state } = asked(await call("run", args, { canAsk: true }));
  const parts = { canAsk: true, state, answers: accept("yes") };
  assertEquals(object(await clock.run(call("run", args, parts)))["status"], "running");
});

Deno.test("resume without inputs asks through the client if the run went on and came to another suspension", async () => {
  const pre =
    "states:\n  pre: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: draft } ] }";
  const source = ASKING.replace("entry: draft", "entry: pre").replace("states:", pre);
  const { call } = toolRig({ model: new MockProvider(["P", "D", "Y"]) });
  const first = object(await call("run", { source, hitl: true, cost_budget: 5 }));
  assertEquals(first["error"], "cost-exhausted");
  const args = { checkpoint: String(first["checkpoint"]), "cost_budget": 5000 };
  const question = asked(await call("resume", args, { canAsk: true }));
  const parts = { canAsk: true, state: question.state, answers: accept("yes") };
  assertEquals(object(await call("resume", args, parts))["status"], "done");
});

Deno.test("resume that only looks at a suspension does not ask", async () => {
  const { call } = toolRig({ model: new MockProvider(["D"]) });
  const { checkpoint, run } = object(await call("run", ARGS));
  for (const args of [{ checkpoint: String(checkpoint) }, { run: String(run) }]) {
    assertEquals(object(await call("resume", args, { canAsk: true }))["status"], "suspended");
  }
});

Deno.test("run answers in a line that clients take, whatever the model wrote", async () => {
  for (const long of ["語".repeat(3_000_000), '"'.repeat(3_000_000), "\u0001".repeat(2_000_000)]) {
    const { call } = toolRig({ model: new MockProvider([long]) });
    const outcome = await call("run", { source: PLAIN, detail: "full" });
    const line = new TextEncoder().encode(JSON.stringify(outcome)).length;
    assert(line < 4 * 1024 * 1024, `${line} bytes`);
    assertEquals(object(outcome)["status"], "done");
  }
});
