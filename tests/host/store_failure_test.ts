/** A store that fails under a call: contention is `busy`, and what was done and paid is told all the same. */
import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import { BusyStoreError, type SuspensionStore } from "../../src/host/mod.ts";
import { ManualClock, MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, PLAIN, rig } from "./harness.ts";

const YES = { "decision.answer": "yes" };
const BUSY = new BusyStoreError("the database was locked for 10 s");

/** A durable store some of whose transitions fail, as long as `failing` names them. */
function failingStore(clock: ManualClock, error: Error) {
  const kept = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 10 });
  const failing = new Set<keyof SuspensionStore>();
  const store = new Proxy(kept, {
    get(target, key): unknown {
      if (key === "durable") return true;
      if (failing.has(key as keyof SuspensionStore)) return () => Promise.reject(error);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store, failing };
}

function scene(error: Error, replies: readonly MockReply[]) {
  const clock = new ManualClock();
  const { store, failing } = failingStore(clock, error);
  const model = new MockProvider(replies);
  const files = new MemoryFiles();
  const options = { clock, model, files, checkpointDirectory: "/project" };
  const made = rig({ ...options, openStore: () => Promise.resolve(store) });
  return { ...made, failing, model };
}

Deno.test("Host.run() gives the outcome of a run that ended while its store was lost, and says so", async () => {
  const { host, failing, log } = scene(new Error("connection refused"), ["made"]);
  failing.add("finish");
  const { object } = await host.run({ source: PLAIN });
  assertEquals([object["status"], object["result"], object["error"]], ["done", "made", null]);
  assertEquals(Array.isArray(object["trace"]) && object["trace"].length, 1);
  assertStringIncludes(String(object["warnings"]), "the outcome could not be written down");
  assertFalse("run" in object);
  assertStringIncludes(log.join("\n"), "connection refused");
});

Deno.test("Host.resume() gives such an outcome too, and spends the file beside", async () => {
  const { host, failing, files } = scene(new Error("connection refused"), ["D", "made"]);
  await host.run({ source: ASKING, hitl: true, checkpointPath: "o.json" });
  failing.add("finish");
  const { object } = await host.resume({ checkpoint: "o.json", inputs: YES });
  assertEquals([object["status"], object["result"]], ["done", "made"]);
  assertStringIncludes(files.text("o.json") ?? "", '"resumed"');
});

Deno.test("Host.run() that cannot suspend in its store is interrupted and says why", async () => {
  const { host, failing } = scene(new Error("connection refused"), ["D"]);
  failing.add("suspend");
  const { object } = await host.run({ source: ASKING, hitl: true });
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assertStringIncludes(String(object["warnings"]), "could not be written down");
});

Deno.test("Host.resume() that is cancelled while its store is lost is interrupted and says why", async () => {
  const controller = new AbortController();
  const { host, failing, files } = scene(new Error("connection refused"), ["D", () => {
    controller.abort();
    return "late";
  }]);
  const first = await host.run({ source: ASKING, hitl: true, checkpointPath: "o.json" });
  failing.add("park");
  const { object } = await host.resume({
    checkpoint: String(first.object["checkpoint"]),
    inputs: YES,
  }, { signal: controller.signal });
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assertStringIncludes(String(object["warnings"]), `look at run "${first.object["run"]}"`);
  assertEquals([...files.texts.keys()], ["/project/o.json"]);
});

const steps: readonly (readonly [step: keyof SuspensionStore, what: "run" | "file" | "handle"])[] =
  [
    ["begin", "run"],
    ["look", "file"],
    ["claim", "handle"],
    ["peek", "handle"],
  ];
for (const [step, what] of steps) {
  Deno.test(`a ${what} is answered with busy where the store is locked at ${step}`, async () => {
    const { host, failing, model } = scene(BUSY, ["D", "Y"]);
    const request = { source: ASKING, hitl: true, checkpointPath: "o.json" };
    if (what === "run") failing.add(step);
    const { object: first } = await host.run(request);
    failing.add(step);
    const checkpoint = what === "file" ? "o.json" : String(first["checkpoint"]);
    const late = what === "run" ? first : (await host.resume({ checkpoint, inputs: YES })).object;
    assertEquals([late["status"], late["error"]], ["error", "busy"]);
    assertStringIncludes(String(late["errors"]), "locked for 10 s");
    assertEquals(model.callCount, what === "run" ? 0 : 1);
    failing.clear();
    const after = what === "run"
      ? await host.run(request)
      : await host.resume({ checkpoint, inputs: YES });
    assertEquals(after.object["status"], what === "run" ? "suspended" : "done");
  });
}

Deno.test("a store that is locked when it is opened is busy, one that cannot be opened is not", async () => {
  const model = new MockProvider([]);
  const words = [];
  for (const error of [BUSY, new Error("no such host")]) {
    const { host } = rig({ model, openStore: () => Promise.reject(error) });
    const { object, failure } = await host.run({ source: PLAIN });
    words.push([object["error"], failure]);
  }
  assertEquals(words, [["busy", "busy"], ["prepare-failed", "store"]]);
});
