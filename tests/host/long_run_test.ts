import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import type { CallProgress, Emitted } from "../../src/host/mod.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, PLAIN, rig } from "./harness.ts";

const SLOW = `
machine: slow
entry: a
budget: 4
states:
  a: { structure: s, prompt: first, output: o, gates: [ { when: otherwise, then: ok, to: b } ] }
  b: { structure: s, prompt: second, output: p, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

function slow(delayMs: number, replies: readonly string[] = ["1", "2"]) {
  const made = rig();
  const model = new MockProvider(replies.map((content) => ({ content, delayMs })), {
    clock: made.clock,
  });
  return { ...rig({ clock: made.clock, model }), model };
}

Deno.test("Host.run() answers running after wait_seconds, and a look waits for the end", async () => {
  const { host, clock } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 50 }));
  assertEquals([first.object["status"], first.object["at"]], ["running", "b"]);
  assertEquals(first.object["result"], null);
  assertMatch(String(first.object["progress"]), /^state b \(2 of at most 4 steps\) · \d+ tokens$/);
  const run = String(first.object["run"]);
  const look = await clock.run(host.resume({ run, waitSeconds: 5 }));
  assertEquals(look.object["status"], "running");
  const end = await clock.run(host.resume({ run }));
  assertEquals([end.object["status"], end.object["result"]], ["done", "2"]);
  const again = await host.resume({ run });
  assertEquals(again.object, end.object);
  assertEquals(clock.pending, 0);
});

Deno.test("Host.run() waits the host's seconds by default, and for ever with 0", async () => {
  const { host, clock } = slow(40_000);
  const usual = await clock.run(host.run({ source: SLOW }));
  assertEquals(usual.object["status"], "running");
  assertEquals(clock.monotonic(), 50_000);
  const forever = slow(4_000_000);
  const end = await forever.clock.run(forever.host.run({ source: SLOW, waitSeconds: 0 }));
  assertEquals(end.object["status"], "done");
});

Deno.test("Host.resume() forgets an outcome after an hour", async () => {
  const { host, clock } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  const run = String(first.object["run"]);
  await clock.run(host.resume({ run, waitSeconds: 0 }));
  await clock.advance(3_599_999);
  assertEquals((await host.resume({ run })).object["status"], "done");
  await clock.advance(1);
  assertEquals((await host.resume({ run })).object["error"], "unknown-run");
});

Deno.test("Host.resume() with cancel stops a run for good", async () => {
  const { host, clock, model } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  const run = String(first.object["run"]);
  const end = await clock.run(host.resume({ run, cancel: true }));
  assertEquals([end.object["status"], end.object["error"]], ["halt", "cancelled"]);
  assertEquals((await host.resume({ run })).object["error"], "cancelled");
  assertEquals(model.callCount, 1);
  assertEquals(clock.pending, 0);
});

Deno.test("Host.resume() with cancel ends a run that waits, and keeps how it ended", async () => {
  const { host } = rig({ model: new MockProvider(["D"]) });
  const first = await host.run({ source: ASKING, hitl: true });
  const run = String(first.object["run"]);
  const end = await host.resume({ run, cancel: true });
  assertEquals([end.object["status"], end.object["error"]], ["halt", "cancelled"]);
  const late = await host.resume({ checkpoint: String(first.object["checkpoint"]), inputs: {} });
  assertEquals([late.object["error"], late.object["run"]], ["already-resumed", run]);
  for (const cancel of [{}, { cancel: true }]) {
    const { object } = await host.resume({ run, ...cancel });
    assertEquals([object["error"], object["usage"]], ["cancelled", end.object["usage"]]);
  }
});

Deno.test("Host.resume() with cancel spends the file of a run that waits, so that nobody goes on with it", async () => {
  const model = new MockProvider(["D"]);
  const { files, host } = rig({ model, checkpointDirectory: "/project" });
  const first = await host.run({ source: ASKING, hitl: true, checkpointPath: "c.json" });
  await host.resume({ run: String(first.object["run"]), cancel: true });
  const inputs = { "decision.answer": "yes" };
  const late = await host.resume({ checkpoint: "c.json", inputs });
  assertEquals(late.object["error"], "already-resumed");
  assertStringIncludes(late.text, "the run ended as cancelled");
  assertEquals([...files.texts.keys()], ["/project/c.json"]);
});

Deno.test("Host.resume() with cancel changes nothing where the file cannot be marked", async () => {
  const model = new MockProvider(["D", "F"]);
  const { files, host } = rig({ model, checkpointDirectory: "/project" });
  const { object } = await host.run({ source: ASKING, hitl: true, checkpointPath: "c.json" });
  files.failing = "/c.json";
  const run = String(object["run"]);
  const refused = await host.resume({ run, cancel: true });
  assertEquals(refused.object["error"], "prepare-failed");
  assertEquals([...files.texts.keys()], ["/project/c.json"]);
  files.failing = undefined;
  const checkpoint = String(object["checkpoint"]);
  const late = await host.resume({ checkpoint, inputs: { "decision.answer": "yes" } });
  assertEquals([late.object["status"], late.object["result"]], ["done", "F"]);
});

Deno.test("Host.resume() with cancel says that a run has ended elsewhere, and ends its record", async () => {
  const files = new MemoryFiles();
  const here = rig({ files, model: new MockProvider(["D"]), checkpointDirectory: "/project" });
  const there = rig({ files, model: new MockProvider(["F"]), door: "cli", seed: 2 });
  const request = { source: ASKING, hitl: true, checkpointPath: "c.json" };
  const { object } = await here.host.run(request);
  const inputs = { "decision.answer": "yes" };
  await there.host.resume({ checkpoint: "c.json", inputs });
  const spent = files.text("c.json");
  const late = await here.host.resume({ run: String(object["run"]), cancel: true });
  assertEquals([late.object["status"], late.object["error"]], ["error", "already-resumed"]);
  assertEquals([files.text("c.json"), files.texts.size], [spent, 1]);
  assertEquals(await here.host.runs(), []);
});

Deno.test("Host.resume() that is cancelled after a state keeps the time for which a suspension is kept", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const model = new MockProvider(["D", "F", () => {
    controller.abort();
    return { content: "late", delayMs: 60_000 };
  }], { clock });
  const { host } = rig({ clock, model, env: { KIT_SUSPENSION_TTL_SECONDS: "60" } });
  const source = ASKING.replace("then: ok, to: END", "then: ok, to: last") +
    "  last: { structure: s, prompt: q, output: final, gates: [ " +
    "{ when: otherwise, then: ok, to: END } ] }\n";
  const first = await host.run({ source, hitl: true });
  await clock.advance(30_000);
  const { object } = await clock.run(host.resume({
    checkpoint: String(first.object["checkpoint"]),
    inputs: { "decision.answer": "yes" },
  }, { signal: controller.signal }));
  assertEquals([object["status"], object["error"]], ["suspended", "interrupted"]);
  const [run] = await host.runs();
  assertEquals([run?.phase, run?.expiresMs], ["suspended", clock.now() + 60_000]);
});

Deno.test("Host.resume() with cancel leaves a file alone that another run has written since", async () => {
  const model = new MockProvider(["D", "E", "Y"]);
  const { host, files } = rig({ model, checkpointDirectory: "/project" });
  const request = { source: ASKING, hitl: true, checkpointPath: "c.json" };
  const first = await host.run(request);
  files.texts.delete("/project/c.json");
  await host.run(request);
  await host.resume({ run: String(first.object["run"]), cancel: true });
  const inputs = { "decision.answer": "yes" };
  assertEquals((await host.resume({ checkpoint: "c.json", inputs })).object["result"], "Y");
});

Deno.test("Host.resume() with cancel stops a run that was resumed while it looked", async () => {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 10 });
  const model = new MockProvider(["D", { content: "late", delayMs: 1000 }], { clock });
  const { host } = rig({ clock, model, openStore: () => Promise.resolve(store) });
  const { object } = await host.run({ source: ASKING, hitl: true });
  const { claim } = store;
  let resumed: Promise<Emitted> | undefined;
  store.claim = async (handle, by) => {
    store.claim = claim;
    resumed = host.resume({
      checkpoint: String(object["checkpoint"]),
      inputs: { "decision.answer": "yes" },
    });
    while (model.callCount < 2) await clock.advance(1);
    return await store.claim(handle, by);
  };
  const end = await host.resume({ run: String(object["run"]), cancel: true });
  assertEquals([end.object["status"], end.object["error"]], ["halt", "cancelled"]);
  assertEquals((await resumed)?.object["error"], "cancelled");
});

Deno.test("Host.run() stops the run when its call is cancelled", async () => {
  const { host, clock, model } = slow(40_000);
  const controller = new AbortController();
  const running = host.run({ source: SLOW }, { signal: controller.signal });
  await clock.advance(10);
  controller.abort();
  const end = await running;
  assertEquals([end.object["status"], end.object["error"]], ["halt", "cancelled"]);
  assertEquals(model.callCount, 1);
  assertEquals(clock.pending, 0);
});

Deno.test("Host.resume() that only looks can be cancelled without harm to the run", async () => {
  const { host, clock } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  const run = String(first.object["run"]);
  const controller = new AbortController();
  const look = host.resume({ run }, { signal: controller.signal });
  await clock.advance(10);
  controller.abort();
  assertEquals((await look).object["status"], "running");
  const end = await clock.run(host.resume({ run, waitSeconds: 0 }));
  assertEquals(end.object["status"], "done");
});

Deno.test("Host.resume() that is cancelled parks the run, and its handle is valid again", async () => {
  const made = rig();
  const { clock } = made;
  const model = new MockProvider(["D", { content: "late", delayMs: 1000 }, "Y"], { clock });
  const { host } = rig({ clock, model });
  const first = await host.run({ source: ASKING, hitl: true });
  const checkpoint = String(first.object["checkpoint"]);
  const controller = new AbortController();
  const inputs = { "decision.answer": "yes" };
  const resumed = host.resume({ checkpoint, inputs }, { signal: controller.signal });
  await clock.advance(10);
  assertEquals((await host.resume({ checkpoint, inputs })).object["error"], "busy");
  controller.abort();
  const parked = await resumed;
  assertEquals([parked.object["status"], parked.object["error"]], ["suspended", "escalated"]);
  const shown = await host.resume({ checkpoint });
  assertEquals(shown.object["ask"], "Approve?");
  const done = await host.resume({ checkpoint, inputs });
  assertEquals([done.object["status"], done.object["result"]], ["done", "Y"]);
});

Deno.test("Host.resume() that is cancelled after a state parks the run after that state", async () => {
  const source = ASKING.replace(
    "    gates: [ { when: otherwise, then: ok, to: END } ]",
    "    gates: [ { when: otherwise, then: ok, to: more } ]\n" +
      "  more: { structure: s, prompt: more, output: final, gates: [ { when: otherwise, then: ok, to: END } ] }",
  );
  const { clock } = rig();
  const model = new MockProvider(["D", "A", { content: "late", delayMs: 1000 }, "M"], { clock });
  const { host } = rig({ clock, model });
  const first = await host.run({ source, hitl: true });
  const checkpoint = String(first.object["checkpoint"]);
  const controller = new AbortController();
  const inputs = { "decision.answer": "yes" };
  const resumed = host.resume({ checkpoint, inputs }, { signal: controller.signal });
  await clock.advance(10);
  controller.abort();
  const parked = await resumed;
  assertEquals([parked.object["status"], parked.object["error"]], ["suspended", "interrupted"]);
  assertEquals(parked.object["checkpoint"], checkpoint);
  const done = await host.resume({ checkpoint });
  assertEquals([done.object["status"], done.object["result"]], ["done", "M"]);
  assertEquals(model.callCount, 4);
});

Deno.test("Host.run() reports every state, and at least every ten seconds", async () => {
  const { host, clock } = slow(25_000);
  const seen: CallProgress[] = [];
  await clock.run(
    host.run({ source: SLOW, waitSeconds: 0 }, { onProgress: (report) => seen.push(report) }),
  );
  const numbers = seen.map(({ progress }) => progress);
  assertEquals(numbers, numbers.toSorted((a, b) => a - b));
  assertEquals(new Set(numbers).size, numbers.length);
  const messages = seen.map(({ message }) => message.split(" ·")[0]);
  assertEquals(messages.filter((one) => one === "state a (1 of at most 4 steps)").length, 4);
  assertEquals(messages.filter((one) => one === "state b (2 of at most 4 steps)").length, 4);
  assertEquals(clock.pending, 0);
});

Deno.test("Host.run() tells events in order to whoever asks for them", async () => {
  const { host } = rig({ model: new MockProvider(["R"]) });
  const types: string[] = [];
  await host.run({ source: PLAIN }, { onEvent: ({ type }) => types.push(type) });
  assertEquals(types, ["run-start", "state-start", "state-done", "run-finished"]);
});

Deno.test("Host.run() refuses the run beyond its cap and takes one when another is over", async () => {
  const { clock } = rig();
  const model = new MockProvider(Array.from({ length: 3 }, () => ({ content: "x", delayMs: 10 })), {
    clock,
  });
  const { host } = rig({ clock, model, limits: { maxRuns: 2 } });
  const two = [host.run({ source: PLAIN }), host.run({ source: PLAIN })];
  await clock.advance(0);
  const third = await host.run({ source: PLAIN });
  assertEquals(third.object["error"], "busy");
  assertStringIncludes(third.text, "2 runs are under way");
  for (const done of await clock.run(Promise.all(two))) assertEquals(done.object["status"], "done");
  assertEquals((await clock.run(host.run({ source: PLAIN }))).object["status"], "done");
});

Deno.test("Host.run() runs 64 at once in the time of one", async () => {
  const { clock } = rig();
  const replies = Array.from({ length: 64 }, () => ({ content: "x", delayMs: 200 }));
  const { host } = rig({ clock, model: new MockProvider(replies, { clock }) });
  const all = Array.from({ length: 64 }, () => host.run({ source: PLAIN }));
  const done = await clock.run(Promise.all(all));
  assert(done.every(({ object }) => object["status"] === "done"));
  assert(clock.monotonic() <= 220, `${clock.monotonic()} ms`);
});

Deno.test("Host.close() ends what runs and leaves no timer", async () => {
  const { host, clock } = slow(40_000);
  await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  await host.close();
  assertEquals(clock.pending, 0);
  assertEquals((await host.run({ source: PLAIN })).object["error"], "busy");
});

Deno.test("Host.run() counts a run that is waited for once", async () => {
  const { clock } = rig();
  const slow = Array.from({ length: 4 }, () => ({ content: "x", delayMs: 60_000 }));
  const { host } = rig({ clock, model: new MockProvider(slow, { clock }), limits: { maxRuns: 4 } });
  const waited: Promise<unknown>[] = [];
  for (let i = 0; i < 4; i++) {
    waited.push(host.run({ source: PLAIN, waitSeconds: 0 }));
    await clock.advance(1);
  }
  assertEquals((await host.run({ source: PLAIN })).object["error"], "busy");
  const all = await clock.run(Promise.all(waited));
  assertEquals(all.map((one) => Reflect.get(Object(one), "isError")), [false, false, false, false]);
});

Deno.test("Host.resume() tells which of the two handles it was given", async () => {
  const { host } = rig({ model: new MockProvider(["D"]) });
  const first = await host.run({ source: ASKING, hitl: true });
  const [run, checkpoint] = [String(first.object["run"]), String(first.object["checkpoint"])];
  assertStringIncludes((await host.resume({ run: checkpoint })).text, 'pass it as "checkpoint"');
  const other = await host.resume({ checkpoint: run, inputs: {} });
  assertStringIncludes(other.text, 'pass it as "run"');
  assertEquals([other.object["error"], other.object["run"]], ["unknown-checkpoint", run]);
});

Deno.test("Host.resume() that looks says at once where the run is", async () => {
  const { host, clock } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  const seen: string[] = [];
  const look = host.resume({ run: String(first.object["run"]), waitSeconds: 1 }, {
    onProgress: ({ message }) => seen.push(message),
  });
  await clock.run(look);
  assertEquals(seen, ["state a (1 of at most 4 steps) · 0 tokens"]);
});

Deno.test("Host.resume() with cancel tells what cut-off requests may have cost", async () => {
  const { host, clock } = slow(40_000);
  const first = await clock.run(host.run({ source: SLOW, waitSeconds: 1 }));
  const end = await clock.run(host.resume({ run: String(first.object["run"]), cancel: true }));
  assertMatch(String(end.object["warnings"]), /^about \d+ more tokens than usage says were spent/);
});

Deno.test("Host.run() whose wait ends while the outcome is written down gives the outcome, not a handle to nothing", async () => {
  const freed = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  class SlowRemoval extends MemoryFiles {
    override async remove(path: string): Promise<void> {
      reached.resolve();
      await freed.promise;
      await super.remove(path);
    }
  }
  const { clock, host } = rig({
    files: new SlowRemoval(),
    model: new MockProvider(["R"]),
    checkpointDirectory: "/project",
  });
  const running = host.run({ source: PLAIN, checkpointPath: "c.json", waitSeconds: 1 });
  await reached.promise;
  await clock.advance(1000);
  freed.resolve();
  const { object } = await running;
  assertEquals([object["status"], object["result"], object["run"]], ["done", "R", undefined]);
});
