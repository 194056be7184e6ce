// deno-lint-ignore-file camelcase -- the names of the file's members
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { Emitted } from "../../src/host/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, rig, type RigOptions } from "./harness.ts";

const YES = { "decision.answer": "yes" };

/** A run that waits in `/project/w.json`, and what another process finds. */
async function waiting(options: RigOptions = {}) {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  const first = rig({ door: "cli", files, model: new MockProvider(["D"]), ...options });
  const emitted = await first.host.run({ path: "m.mk", hitl: true, checkpointPath: "w.json" });
  const later = (replies: readonly string[] = ["Y"], more: RigOptions = {}) => {
    const model = new MockProvider(replies);
    return { ...rig({ door: "cli", files, model, seed: 7, ...options, ...more }), model };
  };
  return { ...first, files, emitted, later };
}

function slug({ object }: Emitted): unknown {
  return object["error"];
}

Deno.test("Host.run() writes a checkpoint file with the members of the format, for its owner only", async () => {
  const { files, emitted } = await waiting();
  assertEquals([emitted.object["status"], emitted.object["checkpoint"]], ["suspended", "w.json"]);
  assertFalse("run" in emitted.object);
  const text = files.text("/project/w.json") ?? "";
  assertEquals(files.modes.get("/project/w.json"), 0o600);
  const value = JSON.parse(text);
  assertEquals(Object.keys(value), [
    "format",
    "mklang_version",
    "created",
    "machine",
    "machine_path",
    "machine_sha256",
    "reason",
    "cost_budget",
    "hitl",
    "frames",
    "metadata",
    "run_id",
    "fingerprint",
    "on_truncate",
    "on_untrusted_flow",
    "digest",
  ]);
  assertEquals([value.format, value.machine, value.machine_path], [1, "asking", "m.mk"]);
  assertEquals([value.reason, value.cost_budget, value.hitl], ["escalated", null, true]);
  assertMatch(value.created, /^2026-01-01T00:00:00\+00:00$/);
  assertMatch(text, /^\{\n {2}"format": 1,/);
  assertFalse([...files.texts.keys()].some((path) => path.endsWith(".lock")));
});

Deno.test("Host.resume() goes on from a file in another process", async () => {
  const { later } = await waiting();
  const { host, model } = later();
  const done = await host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals([done.object["status"], done.object["result"]], ["done", "Y"]);
  assertEquals(done.object["reply_via"], "cli");
  assertEquals(model.callCount, 1);
  const trace = done.object["trace"];
  assertEquals(Array.isArray(trace) && trace.length, 2);
});

Deno.test("Host.resume() shows a file's question again and leaves the file alone", async () => {
  const { files, later, emitted } = await waiting();
  const before = files.text("/project/w.json");
  const shown = await later().host.resume({ checkpoint: "w.json" });
  assertEquals(shown.object, { ...emitted.object });
  assertEquals(files.text("/project/w.json"), before);
});

Deno.test("Host.resume(), unlike the reference, resumes a file once, from whatever process", async () => {
  const { files, later } = await waiting();
  await later().host.resume({ checkpoint: "w.json", inputs: YES });
  const second = later([]);
  const again = await second.host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals([again.isError, slug(again)], [true, "already-resumed"]);
  assertFalse((files.text("/project/w.json") ?? "").includes('"frames"'));
  assertFalse([...files.texts.keys()].some((path) => path.endsWith(".lock")));
});

Deno.test("Host.resume() lets one of two processes have the file, and tells the other that it is busy", async () => {
  const { later } = await waiting();
  const [one, two] = [later(), later(["Y"], { seed: 9 })];
  const answers = await Promise.all([
    one.host.resume({ checkpoint: "w.json", inputs: YES }),
    two.host.resume({ checkpoint: "w.json", inputs: YES }),
  ]);
  assertEquals(answers.map(slug).sort(), ["busy", null].sort());
  assertEquals(one.model.callCount + two.model.callCount, 1);
});

Deno.test("Host.resume() succeeds a holder whose time is over", async () => {
  const { files, clock, later } = await waiting();
  files.put("/project/w.json.lock", JSON.stringify({ holder: "dead", until: clock.now() + 1000 }));
  assertEquals(slug(await later([]).host.resume({ checkpoint: "w.json", inputs: YES })), "busy");
  const late = later(["Y"], { clock });
  await clock.advance(1000);
  const done = await late.host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals(done.object["status"], "done");
});

Deno.test("Host.resume() accepts a changed comment and refuses a changed machine, unless forced", async () => {
  const { files, later } = await waiting();
  files.put("/project/m.mk", `${ASKING}\n# a comment\n`);
  files.put("/project/copy.json", files.text("/project/w.json") ?? "");
  const done = await later().host.resume({ checkpoint: "copy.json", inputs: YES });
  assertEquals(done.object["status"], "done");
  files.put("/project/m.mk", ASKING.replace("apply {{", "APPLY {{"));
  const changed = await later([]).host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals(slug(changed), "machine-changed");
  const forced = await later().host.resume({ checkpoint: "w.json", inputs: YES, force: true });
  assertEquals(forced.object["status"], "done");
});

Deno.test("Host.resume() answers machine-changed where the file is gone, prepare-failed when forced", async () => {
  const { files, later } = await waiting();
  await files.remove("/project/m.mk");
  assertEquals(
    slug(await later([]).host.resume({ checkpoint: "w.json", inputs: YES })),
    "machine-changed",
  );
  const forced = await later([]).host.resume({ checkpoint: "w.json", inputs: YES, force: true });
  assertEquals(slug(forced), "prepare-failed");
});

const damages: readonly (readonly [string, (text: string) => string])[] = [
  ["cut short", (text) => text.slice(0, 25)],
  ["empty", () => ""],
  ["an empty object", () => "{}"],
  ["another format", (text) => text.replace('"format": 1', '"format": 999')],
  ["another run", (text) => text.replace(/"run_id": "[0-9a-f]+"/, '"run_id": "other"')],
  ["an edited context", (text) => text.replace('"draft": "D"', '"draft": "E"')],
  ["without frames", (text) => text.replace('"frames"', '"framez"')],
];
for (const [what, damage] of damages) {
  Deno.test(`Host.resume() refuses a file that is ${what}, and leaves it as it is`, async () => {
    const { files, later } = await waiting();
    const damaged = damage(files.text("/project/w.json") ?? "");
    files.put("/project/w.json", damaged);
    const { host, model } = later([]);
    const emitted = await host.resume({ checkpoint: "w.json", inputs: YES });
    assertEquals([emitted.isError, slug(emitted)], [true, "bad-checkpoint"]);
    assertEquals(files.text("/project/w.json"), damaged);
    assertEquals(model.callCount, 0);
  });
}

Deno.test("Host.run() writes over no file that is no checkpoint", async () => {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  files.put("/project/mine.json", '{"format": 2}');
  const model = new MockProvider(["D"]);
  const { host } = rig({ door: "cli", files, model });
  const request = { path: "m.mk", hitl: true };
  const refused = await host.run({ ...request, checkpointPath: "mine.json" });
  assertEquals(slug(refused), "invalid-request");
  assertEquals([files.text("/project/mine.json"), model.callCount], ['{"format": 2}', 0]);
});

Deno.test("Host.run() picks a file itself for a person's pause at the command line", async () => {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  const { host } = rig({ door: "cli", files, model: new MockProvider(["D"]) });
  const { object } = await host.run({ path: "m.mk", hitl: true });
  assertMatch(
    String(object["checkpoint"]),
    /^\/home\/ann\/\.local\/state\/kit\/checkpoints\/m-20260101-000000-[0-9a-f]{6}\.json$/,
  );
});

Deno.test("Host.run() leaves no file behind a run that ended", async () => {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  const { host } = rig({ door: "cli", files, model: new MockProvider(["D", "Y"]) });
  const { object } = await host.run({ path: "m.mk", checkpointPath: "w.json" });
  assertEquals(object["status"], "done");
  assertEquals([...files.texts.keys()], ["/project/m.mk"]);
});

Deno.test("Host.resume() moves a further suspension to the file that is named, and spends the old one", async () => {
  const { files, later } = await waiting();
  const spending = await later(["unused"]).host.resume({
    checkpoint: "w.json",
    inputs: YES,
    costBudget: 1,
    checkpointPath: "v.json",
  });
  assertEquals([spending.object["status"], spending.object["checkpoint"]], ["suspended", "v.json"]);
  assertEquals(
    slug(await later([]).host.resume({ checkpoint: "w.json", inputs: YES })),
    "already-resumed",
  );
  assert(files.text("/project/v.json")?.includes('"frames"'));
  const done = await later().host.resume({ checkpoint: "v.json", costBudget: 1e6 });
  assertEquals(done.object["status"], "done");
});

Deno.test("Host.resume() trusts a file with a valid MAC and taints everything without one", async () => {
  const prompts: string[] = [];
  for (const [key, reader] of [["k".repeat(32), "k".repeat(32)], [undefined, undefined]] as const) {
    const files = new MemoryFiles({
      "/project/m.mk": ASKING.replace("states:", 'context: { tone: "calm" }\nstates:')
        .replace("to {{draft}}", "in {{tone}}"),
    });
    const env = key === undefined ? {} : { KIT_STATE_KEY: key };
    const one = rig({ door: "cli", files, env, model: new MockProvider(["D"]) });
    await one.host.run({ path: "m.mk", hitl: true, checkpointPath: "w.json" });
    const model = new MockProvider(["Y"]);
    const env2 = reader === undefined ? {} : { KIT_STATE_KEY: reader };
    await rig({ door: "cli", files, env: env2, model }).host.resume({
      checkpoint: "w.json",
      inputs: YES,
    });
    prompts.push(String(model.calls[0]?.messages.at(-1)?.content));
  }
  assertMatch(prompts[0] ?? "", /in calm$/);
  assertMatch(prompts[1] ?? "", /in <data-[0-9a-f]{12}>\ncalm\n<\/data-[0-9a-f]{12}>$/);
});

Deno.test("Host.resume() refuses a file whose MAC does not fit the key", async () => {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  const one = rig({
    door: "cli",
    files,
    env: { KIT_STATE_KEY: "one" },
    model: new MockProvider(["D"]),
  });
  await one.host.run({ path: "m.mk", hitl: true, checkpointPath: "w.json" });
  const two = rig({
    door: "cli",
    files,
    env: { KIT_STATE_KEY: "two" },
    model: new MockProvider([]),
  });
  assertEquals(
    slug(await two.host.resume({ checkpoint: "w.json", inputs: YES })),
    "bad-checkpoint",
  );
});

Deno.test("Host.resume() takes a file of the reference and, unlike it, its inline machine at the command line", async () => {
  const frame = {
    machine: "asking",
    state: "apply",
    ctx: { draft: "D" },
    steps: 1,
    total_in: 2,
    total_out: 1,
    feedback: "",
    repair_left: [],
    trace: [{
      state: "draft",
      tier: "balanced",
      step: 1,
      gate: "otherwise",
      policy: "escalate",
      to: "apply",
    }],
    reply_to: "decision.answer",
    ask: "Approve?",
  };
  const file = {
    format: 1,
    mklang_version: "1.2.0",
    created: "2025-12-31T23:59:00+00:00",
    machine: "asking",
    machine_path: "<inline>",
    machine_sha256: null,
    reason: "escalated",
    cost_budget: null,
    hitl: true,
    frames: [frame],
    machine_source: ASKING,
  };
  const files = new MemoryFiles({ "/project/r.json": JSON.stringify(file) });
  const { host } = rig({ door: "cli", files, model: new MockProvider(["Y"]) });
  const shown = await host.resume({ checkpoint: "r.json" });
  assertEquals([shown.object["ask"], shown.object["at"]], ["Approve?", "apply"]);
  const done = await host.resume({ checkpoint: "r.json", inputs: YES });
  assertEquals([done.object["status"], done.object["result"]], ["done", "Y"]);
});

Deno.test("Host.run() over MCP writes checkpoint files only below the directory for them", async () => {
  const files = new MemoryFiles({
    "/checks/x.json": '{"format":1,"machine":"m"}',
    "/etc/passwd": "root",
  });
  const request = { source: ASKING, hitl: true };
  const none = rig({ files, model: new MockProvider([]) });
  const closed = await none.host.run({ ...request, checkpointPath: "w.json" });
  assertStringIncludes(closed.text, "--checkpoint-dir");
  for (const path of ["../etc/passwd", "/etc/new.json", "a/../../etc/x", "", "a\u0000b"]) {
    const { host } = rig({ files, checkpointDirectory: "/checks", model: new MockProvider([]) });
    const refused = await host.run({ ...request, checkpointPath: path });
    assertEquals(slug(refused), "invalid-request", path);
  }
  const { host } = rig({
    files,
    checkpointDirectory: "/checks",
    model: new MockProvider(["D", "Y"]),
  });
  const { object } = await host.run({ ...request, checkpointPath: "w.json" });
  assertEquals([object["checkpoint_file"], files.text("/checks/w.json") !== undefined], [
    "w.json",
    true,
  ]);
  assertMatch(String(object["checkpoint"]), /^[0-9a-f]{32}$/);
  const done = await host.resume({ checkpoint: String(object["checkpoint"]), inputs: YES });
  assertEquals(done.object["status"], "done");
  const spent = await host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals(slug(spent), "already-resumed");
});

Deno.test("Host.resume() by file spends the handle of the same suspension", async () => {
  const files = new MemoryFiles({ "/checks/.keep": "" });
  const model = new MockProvider(["D", "Y"]);
  const { host } = rig({ files, checkpointDirectory: "/checks", model });
  const first = await host.run({ source: ASKING, hitl: true, checkpointPath: "w.json" });
  const done = await host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals(done.object["status"], "done");
  const late = await host.resume({ checkpoint: String(first.object["checkpoint"]), inputs: YES });
  assert(late.isError);
  assertEquals(model.callCount, 2);
});

Deno.test("Host.resume() goes on with the active provider where the recorded one is configured no more", async () => {
  const tiers = { fast: "a", balanced: "b", reasoning: "c" };
  const config = (name: string) =>
    JSON.stringify({
      active: name,
      providers: { [name]: { tiers, base_url: "http://h/v1", protocol: "openai_compat" } },
    });
  const answer = { choices: [{ message: { content: "R" }, finish_reason: "stop" }] };
  const fetch = () => Promise.resolve(Response.json(answer));
  const files = new MemoryFiles({ "/project/m.mk": ASKING, "/c.jsonc": config("old") });
  const options = { door: "cli" as const, files, fetch, configPath: "/c.jsonc" };
  await rig(options).host.run({ path: "m.mk", hitl: true, checkpointPath: "w.json" });
  files.put("/c.jsonc", config("new"));
  const done = await rig(options).host.resume({ checkpoint: "w.json", inputs: YES });
  assertEquals([done.object["status"], done.object["provider"]], ["done", "new"]);
});

Deno.test("Host.resume() lets the scripted provider take the place of no real one unasked", async () => {
  const files = new MemoryFiles({ "/project/m.mk": ASKING });
  const scripted = { door: "cli" as const, files, provider: "scripted" };
  await rig(scripted).host.run({ path: "m.mk", hitl: true, checkpointPath: "w.json" });
  const plain = await rig({ door: "cli", files }).host.resume({
    checkpoint: "w.json",
    inputs: YES,
  });
  assertEquals([plain.isError, plain.failure], [true, "config"]);
  const real = files.text("/project/w.json") ?? "";
  assert(real.includes('"provider": "scripted"'));
});

Deno.test("Host.resume() leaves the handle alone when the file of the same suspension cannot be resumed", async () => {
  const files = new MemoryFiles({ "/checks/.keep": "" });
  const { host } = rig({
    files,
    checkpointDirectory: "/checks",
    model: new MockProvider(["D", "Y"]),
  });
  const first = await host.run({ source: ASKING, hitl: true, checkpointPath: "w.json" });
  const bad = await host.resume({ checkpoint: "w.json", inputs: YES, checkpointPath: "../x" });
  assertEquals(slug(bad), "invalid-request");
  const done = await host.resume({ checkpoint: String(first.object["checkpoint"]), inputs: YES });
  assertEquals(done.object["status"], "done");
});

Deno.test("Host.resume() takes no copy of a file for the suspension that came later", async () => {
  const files = new MemoryFiles({ "/checks/.keep": "" });
  const source = ASKING.replace(
    "    gates: [ { when: otherwise, then: ok, to: END } ]",
    '    gates: [ { when: otherwise, escalate: true, to: more, ask: "Really?" } ]\n' +
      "  more: { structure: s, prompt: more, output: final, gates: [ { when: otherwise, then: ok, to: END } ] }",
  );
  const model = new MockProvider(["D", "Y", "M"]);
  const { host } = rig({ files, checkpointDirectory: "/checks", model });
  const first = await host.run({ source, hitl: true, checkpointPath: "w.json" });
  files.put("/checks/copy.json", files.text("/checks/w.json") ?? "");
  const second = await host.resume({ checkpoint: String(first.object["checkpoint"]), inputs: YES });
  assertEquals(second.object["ask"], "Really?");
  assertEquals(
    slug(await host.resume({ checkpoint: "copy.json", inputs: YES })),
    "already-resumed",
  );
  const done = await host.resume({ checkpoint: "w.json", inputs: { "human.reply": "yes" } });
  assertEquals([done.object["status"], model.callCount], ["done", 3]);
});
