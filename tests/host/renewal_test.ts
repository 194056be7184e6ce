/** A hold that cannot be renewed for a while is not given up, and one of its two parts does not wait for the other. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import type { SuspensionStore } from "../../src/host/mod.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { PLAIN, rig } from "./harness.ts";

/** A durable store whose renewals `fail`, or do what they should. */
function renewedBy(clock: ManualClock, fail: () => Promise<never> | undefined): SuspensionStore {
  const kept = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 10 });
  const settle: SuspensionStore["settle"] = (runId, point) =>
    (point.payload === undefined ? fail() : undefined) ?? kept.settle(runId, point);
  return new Proxy(kept, {
    get(target, key): unknown {
      if (key === "durable") return true;
      if (key === "settle") return settle;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Two processes over one store; the first has a run whose model takes two minutes. */
function scene(fail: (clock: ManualClock) => Promise<never> | undefined) {
  const clock = new ManualClock();
  const files = new MemoryFiles();
  const store = renewedBy(clock, () => fail(clock));
  const openStore = () => Promise.resolve(store);
  const model = new MockProvider([{ content: "made", delayMs: 120_000 }], { clock });
  const options = { clock, files, openStore, checkpointDirectory: "/project" };
  const first = rig({ ...options, model, seed: 1 });
  const second = rig({ ...options, model: new MockProvider([]), seed: 2 });
  return { clock, model, first, second };
}

/** Moves the time in steps that let what waits go on in between. */
async function pass(clock: ManualClock, seconds: number) {
  for (let second = 0; second < seconds; second++) await clock.advance(1000);
}

Deno.test("a hold whose renewal failed once is renewed again, so that nobody takes the run over", async () => {
  let failures = 0;
  const reset = () => failures++ === 0 ? Promise.reject(new Error("reset")) : undefined;
  const { clock, model, first, second } = scene(reset);
  const done = first.host.run({ source: PLAIN, waitSeconds: 0 });
  while (model.callCount === 0) await clock.advance(1);
  await pass(clock, 40);
  assertEquals((await second.host.runs()).map(({ phase }) => phase), ["running"]);
  assertEquals(first.log, ["error: Cannot renew the hold on a run: Error: reset"]);
  const { object } = await clock.run(done);
  assertEquals([object["status"], object["result"]], ["done", "made"]);
});

Deno.test("a hold on a file is renewed while the store is slow to fail", async () => {
  const slow = (clock: ManualClock) =>
    clock.sleep(10_000).then(() => Promise.reject(new Error("locked")));
  const { clock, model, first } = scene(slow);
  const done = first.host.run({ source: PLAIN, waitSeconds: 0, checkpointPath: "c.json" });
  while (model.callCount === 0) await clock.advance(1);
  const hold = () => first.files.text("c.json.lock");
  const begun = hold();
  await pass(clock, 11);
  const renewed = hold();
  assert(begun !== undefined && renewed !== undefined);
  assertNotEquals(begun, renewed);
  const { object } = await clock.run(done);
  assertEquals([object["status"], object["result"]], ["done", "made"]);
});

Deno.test("a run keeps its record while the hold on its file cannot be renewed", async () => {
  const { clock, model, first, second } = scene(() => undefined);
  const done = first.host.run({ source: PLAIN, waitSeconds: 0, checkpointPath: "c.json" });
  while (model.callCount === 0) await clock.advance(1);
  first.files.failing = ".lock";
  await pass(clock, 40);
  assertEquals((await second.host.runs()).map(({ phase }) => phase), ["running"]);
  first.files.failing = undefined;
  const { object } = await clock.run(done);
  assertEquals([object["status"], object["result"]], ["done", "made"]);
});
