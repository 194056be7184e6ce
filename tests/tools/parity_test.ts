/** The same machine, inputs and verdicts through `kit … --format json` and through `tools/call`: one object. */
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { cli } from "../cli/harness.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { object, toolRig } from "./harness.ts";

/** One machine and what is asked of it at both doors. */
interface Case {
  /** The machine's file. */
  readonly machine: string;
  /** Other files. */
  readonly files?: Readonly<Record<string, string>>;
  /** The script that answers. */
  readonly script?: string;
  /** Options of the command line. */
  readonly flags?: readonly string[];
  /** The same as arguments of the tool. */
  readonly args?: JsonObject;
  /** How it ends: `status`, `error`. */
  readonly ends: readonly [status: string, error: string | null];
}

const CTX = 'context: { req: "" }';
const TO_END = "[ { when: otherwise, then: ok, to: END } ]";

function machine(states: string, head = ""): string {
  return `machine: m\nentry: a\nbudget: 5\n${head}\nstates:\n${states}`;
}

const STATE = (gates: string, prompt = "go {{req}}") =>
  `  a: { structure: s, prompt: "${prompt}", output: o, gates: ${gates} }\n`;

const cases: Readonly<Record<string, Case>> = {
  "done": {
    machine: machine(STATE(TO_END), CTX),
    flags: ["--set", "req=hi"],
    args: { inputs: { req: "hi" } },
    ends: ["done", null],
  },
  "done with a judge": {
    machine: machine(
      STATE('[ { when: "red", then: ok, to: END }, { when: otherwise, fail: true } ]'),
    ),
    script: "produce: [x]\njudge: [0]\ntokens: [3, 2]\n",
    ends: ["done", null],
  },
  "done with nested inputs": {
    machine: machine(STATE(TO_END, "go {{t.body}}"), "context: { t: { body: a, n: 1 } }"),
    flags: ["--set", "t.body=b", "--set", "t.n=[1,2]"],
    args: { inputs: { "t.body": "b", "t.n": [1, 2] } },
    ends: ["done", null],
  },
  "done over a fan-out": {
    machine: machine(
      `  a: { over: "{{xs}}", structure: s, prompt: "do {{item}}", output: o, gates: ${TO_END} }\n`,
      "context: { xs: [p, q] }",
    ),
    script: "produce: { p: P, q: Q }\ntokens: [1, 1]\n",
    ends: ["done", null],
  },
  "gate-fail": {
    machine: machine(
      STATE("[ { when: otherwise, fail: true } ]").replace("fail: true }", "fail: true }") +
        `  b: { structure: s, prompt: p, output: o, gates: ${TO_END} }\n`,
    )
      .replace(
        "[ { when: otherwise, fail",
        '[ { when: "yes", then: ok, to: b }, { when: otherwise, fail',
      ),
    script: "judge: [none]\n",
    ends: ["halt", "gate-fail"],
  },
  "no-gate-matched": {
    machine: machine(STATE('[ { when: "yes", then: ok, to: END } ]')),
    script: "judge: [none]\n",
    ends: ["halt", "no-gate-matched"],
  },
  "judge-unparseable": {
    machine: machine(STATE('[ { when: "yes", then: ok, to: END } ]')),
    script: "judge: unparseable\n",
    ends: ["halt", "judge-unparseable"],
  },
  "loop-ceiling": {
    machine: machine(
      `  a: { structure: s, prompt: p, output: o, max_visits: 2, gates: [ { when: "again", then: ok, to: a }, { when: otherwise, then: ok, to: END } ] }\n`,
    ),
    script: "judge: [0]\n",
    ends: ["halt", "loop-ceiling"],
  },
  "untrusted-control-flow": {
    machine: machine(
      STATE('[ { when: "act", then: ok, to: w }, { when: otherwise, then: ok, to: END } ]') +
        `  w: { tool: write_file, input: { path: o.md, content: x }, output: d, gates: ${TO_END} }\n`,
      CTX,
    ),
    script: "judge: [0]\n",
    flags: ["--set", "req=hi", "--untrusted-flow", "halt"],
    args: { inputs: { req: "hi" }, on_untrusted_flow: "halt" },
    ends: ["halt", "untrusted-control-flow"],
  },
  "call-failed": {
    machine: machine(`  a: { call: kid, output: o, gates: ${TO_END} }\n`),
    files: {
      "/project/kid.mk": machine(STATE('[ { when: "yes", then: ok, to: END } ]')).replace(
        "machine: m",
        "machine: kid",
      ),
    },
    script: "judge: [none]\n",
    ends: ["halt", "call-failed: no-gate-matched"],
  },
  "state-error": {
    machine: machine(
      `  a: { structure: s, prompt: p, parse: json, output: o, gates: ${TO_END} }\n`,
    ),
    script: "produce: ['no json']\n",
    ends: ["halt", "state-error: parse-json"],
  },
  "unknown tool": {
    machine: machine(`  a: { tool: launch, output: o, gates: ${TO_END} }\n`),
    ends: ["halt", "state-error: "],
  },
  "escalated": {
    machine: machine(
      STATE('[ { when: otherwise, escalate: true, to: b, ask: "Sure?", reply_to: r.x } ]') +
        `  b: { structure: s, prompt: "then {{r.x}}", output: o, gates: ${TO_END} }\n`,
    ),
    script: "produce: { go: G, then: T }\ntokens: [2, 1]\n",
    flags: ["--hitl"],
    args: { hitl: true },
    ends: ["suspended", "escalated"],
  },
  "cost-exhausted": {
    machine: machine(
      STATE("[ { when: otherwise, then: ok, to: b } ]") +
        `  b: { structure: s, prompt: then, output: o, gates: ${TO_END} }\n`,
    ),
    script: "produce: { go: G, then: T }\ntokens: [2, 1]\n",
    flags: ["--max-tokens", "3"],
    args: { cost_budget: 3 },
    ends: ["suspended", "cost-exhausted"],
  },
  "budget-exhausted": {
    machine: machine(
      STATE('[ { when: "again", then: ok, to: a }, { when: otherwise, then: ok, to: END } ]'),
    ),
    script: "judge: [0]\n",
    ends: ["suspended", "budget-exhausted"],
  },
};

/** A place for both doors, with the key that lets a file restore trust as a handle does. */
function place({ machine: text, files = {}, script = "judge: [0]\n" }: Case) {
  const memory = new MemoryFiles({
    "/project/m.mk": text,
    "/project/s.yaml": script,
    "/project/machines/other.mk": text.replace("machine: m\n", "machine: other\n"),
    ...files,
  });
  return { memory, variables: { KIT_STATE_KEY: "key" } };
}

async function byCommand(words: readonly string[], at: ReturnType<typeof place>) {
  const scripted = ["--provider", "scripted", "--script", "s.yaml", "--format", "json"];
  const { stdout, stderr } = await cli([...words, ...scripted], {
    files: at.memory,
    variables: at.variables,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as JsonObject;
}

function tools(at: ReturnType<typeof place>) {
  return toolRig({
    files: at.memory,
    env: at.variables,
    provider: "scripted",
    scriptPath: "s.yaml",
    seed: 3,
  });
}

/** What may differ: handles and files, the run's name, the way of a reply, nonces. */
function masked(given: JsonObject): unknown {
  const { run: _run, checkpoint, checkpoint_file: _file, reply_via: via, ...rest } = given;
  const whole = {
    ...rest,
    ...(checkpoint === undefined ? {} : { checkpoint: "*" }),
    ...(via === undefined ? {} : { reply_via: "*" }),
  };
  const text = JSON.stringify(whole).replaceAll(/data-[0-9a-f]{12}/g, "data-*")
    .replaceAll(/"reply_via":"(?:cli|argument)"/g, '"reply_via":"*"');
  return JSON.parse(text);
}

for (const [name, one] of Object.entries(cases)) {
  Deno.test(`kit run and the tool run give the same object: ${name}`, async () => {
    const at = place(one);
    const command = await byCommand(
      ["run", "m.mk", "--checkpoint", "w.json", ...one.flags ?? []],
      at,
    );
    const tool = object(
      await tools(at).call("run", { path: "m.mk", detail: "full", ...one.args }),
    );
    const [status, error] = one.ends;
    assertEquals(command["status"], status);
    assert(String(command["error"]).startsWith(String(error)), String(command["error"]));
    assertEquals(masked(tool), masked(command));
    assertEquals(Object.keys(Object(masked(tool))), Object.keys(Object(masked(command))));
  });
}

const escalated = cases["escalated"];
if (escalated === undefined) throw new Error("the case is missing");

Deno.test("kit resume and the tool resume give the same object: shown again, then done", async () => {
  const at = place(escalated);
  await byCommand(["run", "m.mk", "--hitl", "--checkpoint", "w.json"], at);
  const { call } = tools(at);
  const first = object(await call("run", { path: "m.mk", hitl: true }));
  const checkpoint = String(first["checkpoint"]);
  assertEquals(
    masked(object(await call("resume", { checkpoint, detail: "full" }))),
    masked(await byCommand(["resume", "w.json"], at)),
  );
  const command = await byCommand(["resume", "w.json", "--set", "r.x=yes"], at);
  const inputs = { "r.x": "yes" };
  const tool = object(await call("resume", { checkpoint, inputs, detail: "full" }));
  assertEquals(command["result"], "T");
  assertEquals(masked(tool), masked(command));
});

Deno.test("kit resume and the tool resume give the same object: exhausted again with a warning, then done", async () => {
  const cost = cases["cost-exhausted"];
  if (cost === undefined) throw new Error("the case is missing");
  const at = place(cost);
  await byCommand(["run", "m.mk", "--max-tokens", "3", "--checkpoint", "w.json"], at);
  const { call } = tools(at);
  const first = object(await call("run", { path: "m.mk", cost_budget: 3 }));
  const again = object(
    await call("resume", { checkpoint: String(first["checkpoint"]), detail: "full" }),
  );
  assertEquals(masked(again), masked(await byCommand(["resume", "w.json"], at)));
  const handle = String(again["checkpoint"]);
  const tool = object(
    await call("resume", { checkpoint: handle, cost_budget: 99, detail: "full" }),
  );
  const command = await byCommand(["resume", "w.json", "--max-tokens", "99"], at);
  assertEquals(command["status"], "done");
  assertEquals(masked(tool), masked(command));
});

Deno.test("kit resume and the tool resume refuse a spent suspension with the same word", async () => {
  const at = place(escalated);
  await byCommand(["run", "m.mk", "--hitl", "--checkpoint", "w.json"], at);
  const { call } = tools(at);
  const first = object(await call("run", { path: "m.mk", hitl: true }));
  const checkpoint = String(first["checkpoint"]);
  const inputs = { "r.x": "yes" };
  await byCommand(["resume", "w.json", "--set", "r.x=yes"], at);
  await call("resume", { checkpoint, inputs });
  const outcome = object(await call("resume", { checkpoint, inputs }));
  assertEquals(outcome["error"], "already-resumed");
});
