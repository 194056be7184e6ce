import { assertEquals } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { ASKING, PLAIN, rig } from "./harness.ts";

/** A host whose store can be made to wait before it writes down what begins or is claimed. */
function slowStore() {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 10 });
  const { begin, claim, close } = store;
  const order: string[] = [];
  let hold: { readonly reached: () => void; readonly freed: Promise<void> } | undefined;
  const wait = async (what: string): Promise<void> => {
    hold?.reached();
    await hold?.freed;
    order.push(what);
  };
  store.begin = async (run) => {
    await wait("begin");
    return await begin.call(store, run);
  };
  store.claim = async (handle, by) => {
    await wait("claim");
    return await claim.call(store, handle, by);
  };
  store.close = () => {
    order.push("close");
    return close.call(store);
  };
  const model = new MockProvider(["D", "Y"]);
  const { host } = rig({ clock, model, openStore: () => Promise.resolve(store) });
  /** Closes the host while a call is at the store. */
  const closeDuring = async <T>(call: () => Promise<T>): Promise<T> => {
    const reached = Promise.withResolvers<void>();
    const freed = Promise.withResolvers<void>();
    hold = { reached: reached.resolve, freed: freed.promise };
    const calling = call();
    await reached.promise;
    const closing = host.close();
    freed.resolve();
    const given = await calling;
    await closing;
    return given;
  };
  return { closeDuring, host, model, order };
}

Deno.test("Host.close() waits for a run that is about to begin, and asks no model for it any more", async () => {
  const { closeDuring, host, model, order } = slowStore();
  const { object } = await closeDuring(() => host.run({ source: PLAIN }));
  assertEquals([object["status"], object["error"]], ["suspended", "interrupted"]);
  assertEquals([model.callCount, order], [0, ["begin", "close"]]);
});

Deno.test("Host.close() waits for a resume that is about to claim, and its handle is put back", async () => {
  const { closeDuring, host, model, order } = slowStore();
  const checkpoint = String((await host.run({ source: ASKING, hitl: true })).object["checkpoint"]);
  const inputs = { "decision.answer": "yes" };
  const { object } = await closeDuring(() => host.resume({ checkpoint, inputs }));
  assertEquals([object["status"], object["checkpoint"]], ["suspended", checkpoint]);
  assertEquals([model.callCount, order], [1, ["begin", "claim", "close"]]);
});
