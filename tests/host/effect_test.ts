import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { SuspensionStore } from "../../src/host/mod.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { lastingStore, rig } from "./harness.ts";

const EFFECT = `
machine: effect
entry: t
budget: 6
states:
  t: { tool: write_file, input: { path: out.md, content: hello }, output: sent, gates: [ { when: otherwise, then: ok, to: v } ] }
  v: { structure: s, prompt: "after {{sent}}", output: final, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

/** Files on which a write may never come back, as if the process died in the middle of it. */
class DyingFiles extends MemoryFiles {
  dies = true;
  writes = 0;
  readonly begun = Promise.withResolvers<void>();

  override writeAtomic(...args: Parameters<MemoryFiles["writeAtomic"]>): Promise<void> {
    if (!args[0].endsWith("out.md")) return super.writeAtomic(...args);
    this.writes++;
    this.begun.resolve();
    return this.dies ? new Promise(() => {}) : super.writeAtomic(...args);
  }
}

function scene() {
  const clock = new ManualClock();
  const store = lastingStore(clock);
  const files = new DyingFiles({ "/space/.keep": "" });
  const options = { clock, files, workspace: "/space", allowWrite: true };
  const openStore = () => Promise.resolve(store);
  const open = (replies: readonly string[], seed: number) => {
    const model = new MockProvider(replies);
    return { ...rig({ ...options, openStore, model, seed }), model };
  };
  return { clock, store, files, open };
}

/** A host that dies inside the effect, and the handle that its run is found under. */
async function died() {
  const { clock, store, files, open } = scene();
  const first = open([], 1);
  void first.host.run({ source: EFFECT });
  await files.begun.promise;
  const [row] = await store.list();
  const dead = row?.runId ?? "";
  return { clock, store, files, open, dead };
}

Deno.test("Host.resume() finds a run that died in an effect suspended as effect-unknown", async () => {
  const { store, open, dead } = await died();
  const handle = await takeOver(store);
  const { host, model } = open([], 2);
  const found = await host.resume({ run: dead });
  assertEquals([found.object["status"], found.object["error"]], ["suspended", "effect-unknown"]);
  assertEquals([found.object["checkpoint"], found.object["at"]], [handle, "t"]);
  assertStringIncludes(found.text, "effect.repeat");
  assertStringIncludes(found.text, "effect.result");
  for (const inputs of [undefined, {}, { other: 1 }, { "effect.repeat": "yes" }]) {
    const request = inputs === undefined ? { checkpoint: handle } : { checkpoint: handle, inputs };
    const shown = await host.resume(request);
    assertEquals(shown.object["error"], "effect-unknown");
  }
  assertEquals(model.callCount, 0);
});

Deno.test("Host.resume() with effect.result goes on without doing the effect again", async () => {
  const { store, files, open } = await died();
  const handle = await takeOver(store);
  const { host, model } = open(["F"], 2);
  const inputs = { "effect.result": "it was written" };
  const done = await host.resume({ checkpoint: handle, inputs });
  assertEquals([done.object["status"], done.object["result"]], ["done", "F"]);
  assertEquals(files.writes, 1);
  assertStringIncludes(String(model.calls[0]?.messages.at(-1)?.content), "it was written");
  assertFalse(JSON.stringify(done.object).includes("effect.result"));
});

Deno.test("Host.resume() with effect.repeat does the effect again", async () => {
  const { store, files, open } = await died();
  const handle = await takeOver(store);
  files.dies = false;
  const { host } = open(["F"], 2);
  const done = await host.resume({ checkpoint: handle, inputs: { "effect.repeat": true } });
  assertEquals(done.object["status"], "done");
  assertEquals([files.writes, files.text("/space/out.md")], [2, "hello"]);
});

Deno.test("Host.runs() recovers the runs of dead hosts and lists them", async () => {
  const { clock, store, open } = scene();
  await store.begin({
    runId: "a".repeat(32),
    machine: "m",
    payload: null,
    holder: "dead",
    leaseForMs: 30_000,
  });
  const { host } = open([], 2);
  assertEquals((await host.runs()).map(({ phase }) => phase), ["running"]);
  await clock.advance(30_000);
  const [row] = await host.runs();
  assertEquals([row?.phase, row?.reason, row?.resumable], ["suspended", "interrupted", true]);
});

Deno.test("Host.run() settles every state in a durable store, and keeps the outcome", async () => {
  const { files, store, open } = scene();
  files.dies = false;
  const points: unknown[] = [];
  const settle = store.settle.bind(store);
  const spied = new Proxy(store, {
    get: (target, key) =>
      key === "settle"
        ? (...args: Parameters<SuspensionStore["settle"]>) => {
          points.push(args[1].at);
          return settle(...args);
        }
        : Reflect.get(target, key),
  });
  const model = new MockProvider(["F"]);
  const { host } = rig({
    files,
    workspace: "/space",
    allowWrite: true,
    model,
    openStore: () => Promise.resolve(spied),
  });
  const done = await host.run({ source: EFFECT });
  assertEquals(done.object["status"], "done");
  assertEquals(points, ["t", "v"]);
  const again = await open([], 3).host.resume({ run: String(done.object["run"]) });
  assertEquals(again.object["result"], "F");
});

Deno.test("Host.run() stops at the next state when another host took its run over", async () => {
  const { clock, store, files } = scene();
  files.dies = false;
  const model = new MockProvider([{ content: "x", delayMs: 1000 }, "never"], { clock });
  const source = EFFECT.replace("entry: t", "entry: v").replace(
    "then: ok, to: END",
    "then: ok, to: t",
  );
  const openStore = () => Promise.resolve(store);
  const { host } = rig({ clock, files, workspace: "/space", allowWrite: true, model, openStore });
  const running = host.run({ source: source.replace("to: v", "to: END") });
  while (model.callCount === 0) await clock.advance(0);
  await takeOver(store);
  const end = await clock.run(running);
  assertEquals([end.object["status"], end.object["error"]], ["halt", "interrupted"]);
  assertStringIncludes(String(end.object["warnings"]), "taken over by another process");
  assertEquals(files.writes, 0);
  assertEquals((await store.counts()).suspended, 1);
});

Deno.test("Host.close() parks what runs in a durable store, for another host to resume", async () => {
  const clock = new ManualClock();
  const store = lastingStore(clock);
  const openStore = () => Promise.resolve(store);
  const slow = new MockProvider([{ content: "x", delayMs: 60_000 }], { clock });
  const source = EFFECT.replace("entry: t", "entry: v");
  const one = rig({ clock, openStore, model: slow });
  const first = await clock.run(one.host.run({ source, waitSeconds: 1 }));
  await one.host.close();
  const two = rig({ clock, openStore, model: new MockProvider(["F"]), seed: 2 });
  const found = await two.host.resume({ run: String(first.object["run"]) });
  assertEquals([found.object["status"], found.object["error"]], ["suspended", "interrupted"]);
  const done = await two.host.resume({ checkpoint: String(found.object["checkpoint"]) });
  assertEquals([done.object["status"], done.object["result"]], ["done", "F"]);
  assertEquals(clock.pending, 0);
});

Deno.test("Host.run() says that the store cannot be used", async () => {
  const openStore = () => Promise.reject(new Error("disk is full"));
  const { host, log } = rig({ openStore, model: new MockProvider([]) });
  const emitted = await host.run({ source: EFFECT });
  assertEquals([emitted.object["error"], emitted.failure], ["prepare-failed", "store"]);
  assertStringIncludes(emitted.text, "disk is full");
  assertStringIncludes(log.join(), "disk is full");
});

Deno.test("Host.run() ends at its last settled state when the store fails on the way", async () => {
  const { files, store } = scene();
  files.dies = false;
  const failing = new Proxy(store, {
    get: (target, key) =>
      key === "settle"
        ? () => Promise.reject(new Error("connection lost"))
        : Reflect.get(target, key),
  });
  const { host, log } = rig({
    files,
    workspace: "/space",
    allowWrite: true,
    model: new MockProvider([]),
    openStore: () => Promise.resolve(failing),
  });
  const emitted = await host.run({ source: EFFECT });
  assertEquals([emitted.object["status"], emitted.object["error"]], ["halt", "interrupted"]);
  assertEquals(files.writes, 0);
  assertStringIncludes(log.join(), "connection lost");
});

/** Takes the dead host's run over as if its lease were over. */
async function takeOver(store: SuspensionStore): Promise<string> {
  const handle = "e".repeat(32);
  const [row] = await store.list({ phase: "running" });
  const before = await store.look(row?.runId ?? "");
  // The holder is dead: nobody renews. A lease of no length says so without moving the clock of the dead.
  await store.settle(row?.runId ?? "", {
    holder: before?.holder ?? "",
    leaseForMs: 0,
    payload: undefined,
    at: undefined,
  });
  const recovered = await store.recover({
    newHandle: () => handle,
    limit: 10,
    reason: "interrupted",
  });
  assertEquals(recovered.length, 1);
  return handle;
}

Deno.test("Host.resume() waits for a run that another host holds", async () => {
  const clock = new ManualClock();
  const store = lastingStore(clock);
  const openStore = () => Promise.resolve(store);
  const model = new MockProvider([{ content: "F", delayMs: 5500 }], { clock });
  const source = EFFECT.replace("entry: t", "entry: v");
  const one = rig({ clock, openStore, model });
  const two = rig({ clock, openStore, model: new MockProvider([]), seed: 2 });
  const first = await clock.run(one.host.run({ source, waitSeconds: 1 }));
  const run = String(first.object["run"]);
  const early = await clock.run(two.host.resume({ run, waitSeconds: 2 }));
  assertEquals([early.object["status"], early.object["run"]], ["running", run]);
  const cancel = await two.host.resume({ run, cancel: true });
  assertStringIncludes(String(cancel.object["warnings"]), "another process holds the run");
  const end = await clock.run(two.host.resume({ run, waitSeconds: 60 }));
  assertEquals([end.object["status"], end.object["result"]], ["done", "F"]);
  assertEquals(Math.ceil(clock.monotonic() / 1000), 6);
  assertEquals(clock.pending, 0);
});
