import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  createRegistry,
  decodeFrames,
  distrustFrames,
  type Frame,
  injectInputs,
  type Machine,
  resumeMachine,
  runMachine,
  type RunOptions,
} from "../../src/machine/mod.ts";
import { machineOf, plain, scripted } from "./support/running.ts";

const TOP = machineOf(`
machine: top
entry: c
budget: 5
states:
  c: { call: kid, output: r, max_visits: 1, gates: [{ when: otherwise, then: ok, to: END }] }
`);
const KID = machineOf(`
machine: kid
entry: d
budget: 5
states:
  d: { structure: s, prompt: x, output: o, gates: [{ when: otherwise, escalate: true, to: h, ask: "Sure?", reply_to: ok.by }] }
  h: { structure: s, prompt: "by {{ok.by}}", output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`);

function nested(options: Partial<RunOptions> = {}): RunOptions {
  return scripted({ produce: { "by": "ok", x: "x" }, tokens: [2, 1] }, {
    registry: createRegistry([TOP, KID]),
    escalateSuspend: true,
    ...options,
  });
}

Deno.test("levelFrame() of a nested suspension has the keys and values of the language, the unfinished call uncounted", async () => {
  const { frames = [] } = await runMachine(TOP, nested());
  assertEquals(plain(frames), [
    {
      machine: "top",
      state: "c",
      ctx: {},
      steps: 0,
      total_in: 0,
      total_out: 0,
      feedback: "",
      repair_left: [],
      trace: [],
      tainted: [],
      external: [],
      flow_tainted: false,
      visits: {},
    },
    {
      machine: "kid",
      state: "h",
      ctx: { o: "x" },
      steps: 1,
      total_in: 2,
      total_out: 1,
      feedback: "",
      repair_left: [],
      trace: [{
        state: "d",
        tier: "balanced",
        output: "x",
        cost: { input_tokens: 2, output_tokens: 1 },
        gate_via: "otherwise",
        step: 1,
        gate: "otherwise",
        policy: "escalate",
        to: "h",
      }],
      tainted: ["o"],
      external: [],
      flow_tainted: false,
      visits: { d: 1 },
      reply_to: "ok.by",
      ask: "Sure?",
    },
  ]);
});

Deno.test("injectInputs() writes into the innermost frame, marks roots and lists paths", async () => {
  const { frames = [] } = await runMachine(TOP, nested());
  const injected = injectInputs(frames, { "ok.by": "Ann" }, { via: "cli" });
  assertEquals(plain(injected[0]), plain(frames[0]));
  const { ctx, tainted, external, resume_injected, reply_via } = injected[1] ?? {};
  assertEquals(plain({ ctx, tainted, external, resume_injected, reply_via }), {
    ctx: { o: "x", ok: { by: "Ann" } },
    tainted: ["o", "ok"],
    external: ["ok"],
    resume_injected: ["ok.by"],
    reply_via: "cli",
  });
  assertEquals(plain(frames[1]?.ctx), { o: "x" });
});

Deno.test("injectInputs() records an empty list when nothing is injected, over an earlier one", () => {
  const frame = frameOf({ resume_injected: ["human.reply"] });
  assertEquals(injectInputs([frame], {})[0]?.resume_injected, []);
});

Deno.test("injectInputs() replaces what is no mapping on the way", () => {
  const frame = frameOf({ ctx: { items: ["a"], n: 1 } });
  const [injected] = injectInputs([frame], { "items.0": "x", "n.m.k": null });
  assertEquals(plain(injected?.ctx), { items: { "0": "x" }, n: { m: { k: null } } });
});

Deno.test("resumeMachine() ends a nested suspension as if it had not been, even with one visit of the caller allowed, unlike the reference", async () => {
  const { frames = [] } = await runMachine(TOP, nested());
  const resumed = await resumeMachine(TOP, frames, nested({ inputs: { "ok.by": "Ann" } }));
  assertEquals([resumed.status, resumed.result], ["done", "ok"]);
  assertEquals(resumed.usage, { input_tokens: 4, output_tokens: 2 });
  assertEquals(resumed.trace.map(({ state, step }) => [state, step]), [["c", 1]]);
  const [inner] = resumed.trace.map(({ sub_trace }) => sub_trace);
  assertEquals(inner?.length, 2);
});

Deno.test("resumeMachine() notes the way of a reply on the next step alone", async () => {
  const machine = asking();
  const { frames = [] } = await runMachine(
    machine,
    scripted({ judge: ["none"] }, { escalateSuspend: true }),
  );
  const tools = new Map([["write_file", { run: () => "ok" }]]);
  const { trace } = await resumeMachine(
    machine,
    frames,
    scripted({}, { tools, inputs: { "decision.answer": "yes" }, replyVia: "elicitation" }),
  );
  assertEquals(trace.map(({ reply_via }) => reply_via), [undefined, "elicitation", undefined]);
});

/** A tainted decision, then a person, then an effect. */
function asking(): Machine {
  return machineOf(`
machine: asking
entry: a
budget: 9
context: { req: "" }
states:
  a:
    structure: s
    prompt: "{{req}}"
    output: plan
    gates:
      - { when: harmless, then: ok, to: END }
      - { when: otherwise, escalate: true, to: b, reply_to: decision.answer }
  b: { structure: s, prompt: b, output: text, gates: [{ when: otherwise, then: ok, to: w }] }
  w: { tool: write_file, output: done, gates: [{ when: otherwise, then: ok, to: END }] }
`);
}

const confirmations: [what: string, inputs: Record<string, string>, confirmed: boolean][] = [
  ["the reply path", { "decision.answer": "yes" }, true],
  ["another path below the same root", { "decision.other": "yes" }, false],
  ["a path below the reply path", { "decision.answer.text": "yes" }, false],
  ["another root", { "human.reply": "yes" }, false],
  ["nothing", {}, false],
];
for (const [what, inputs, confirmed] of confirmations) {
  Deno.test(`resumeMachine() is ${confirmed ? "" : "not "}confirmed by ${what}`, async () => {
    const machine = asking();
    const options = {
      escalateSuspend: true,
      onUntrustedFlow: "halt" as const,
      tools: new Map([["write_file", { run: () => "ok" }]]),
    };
    const run = await runMachine(
      machine,
      scripted({ judge: ["none"] }, { ...options, inputs: { req: "please" } }),
    );
    assert(run.frames?.[0]?.flow_tainted);
    const resumed = await resumeMachine(
      machine,
      run.frames ?? [],
      scripted({}, { ...options, inputs }),
    );
    assertEquals(resumed.error, confirmed ? null : "untrusted-control-flow");
  });
}

Deno.test("resumeMachine() is confirmed by the parent of the reply path if it holds the reply", async () => {
  const machine = asking();
  const frame = frameOf({
    machine: "asking",
    state: "w",
    flow_tainted: true,
    reply_to: "decision.answer",
  });
  const options = {
    onUntrustedFlow: "halt" as const,
    tools: new Map([["write_file", { run: () => "ok" }]]),
  };
  const [whole] = injectInputs([frame], { decision: { answer: null } });
  const [half] = injectInputs([frame], { decision: { reason: "x" } });
  assert(whole !== undefined && half !== undefined);
  assertEquals((await resumeMachine(machine, [whole], scripted({}, options))).status, "done");
  assertEquals(
    (await resumeMachine(machine, [half], scripted({}, options))).error,
    "untrusted-control-flow",
  );
});

Deno.test("injectInputs() without confirmation writes the value and confirms nothing", async () => {
  const machine = asking();
  const frame = frameOf({
    machine: "asking",
    state: "w",
    flow_tainted: true,
    reply_to: "decision.answer",
  });
  const frames = injectInputs([frame], { "decision.answer": "yes" }, { confirm: false });
  assertEquals(plain(frames[0]?.ctx), { decision: { answer: "yes" } });
  const resumed = await resumeMachine(machine, frames, scripted({}, { onUntrustedFlow: "halt" }));
  assertEquals(resumed.error, "untrusted-control-flow");
});

Deno.test("distrustFrames() leaves nothing trusted and nothing confirmed", () => {
  const [frame] = distrustFrames([
    frameOf({ tainted: [], external: [], flow_tainted: false, resume_injected: ["human.reply"] }),
  ]);
  assert(frame !== undefined);
  assertFalse("tainted" in frame || "external" in frame || "resume_injected" in frame);
  assert(frame.flow_tainted);
});

Deno.test("resumeMachine() keeps deeper frames when the outer budget stops it before the call", async () => {
  const { frames = [] } = await runMachine(TOP, nested());
  const stopped = await resumeMachine(TOP, frames, nested({ costBudget: 0, suspendable: true }));
  assertEquals([stopped.status, stopped.at], ["suspended", "h"]);
  assertEquals(plain(stopped.frames), plain(frames));
});

Deno.test("resumeMachine() cannot be confused by a frame that names a state of Object's prototype", async () => {
  const frame = frameOf({ machine: "top", state: "constructor" });
  const resumed = await resumeMachine(TOP, decodeFrames(plain([frame])), nested());
  assertEquals(
    resumed.error,
    "resume-mismatch: frame for 'top'/'constructor' does not fit machine 'top'",
  );
  assertEquals(resumed.usage, null);
});

function frameOf(parts: Partial<Frame>): Frame {
  return {
    machine: "m",
    state: "a",
    ctx: {},
    steps: 0,
    total_in: 0,
    total_out: 0,
    feedback: "",
    repair_left: [],
    trace: [],
    ...parts,
  };
}
