import { assertEquals } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { testStore } from "../contracts/store.ts";

testStore(
  "createMemoryStore()",
  (clock) => Promise.resolve(createMemoryStore({ clock, maxSuspended: 100, maxOutcomes: 100 })),
);

const RUN = { machine: "m", payload: null, holder: "one", leaseForMs: 1000 };
const POINT = { at: "s", reason: "escalated", ask: undefined, payload: 1, expiresMs: undefined };

Deno.test("createMemoryStore() refuses to begin when full, and still takes what it began", async () => {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock, maxSuspended: 1, maxOutcomes: 1 });
  await store.begin({ ...RUN, runId: "a" });
  await store.begin({ ...RUN, runId: "b" });
  assertEquals(await store.suspend("a", "one", { ...POINT, handle: "ha" }), { kind: "stored" });
  assertEquals(await store.begin({ ...RUN, runId: "c" }), { kind: "full" });
  assertEquals(await store.suspend("b", "one", { ...POINT, handle: "hb" }), { kind: "stored" });
  assertEquals((await store.counts()).suspended, 2);
  assertEquals((await store.peek("ha")).kind, "claimed");
});

Deno.test("createMemoryStore() keeps at most maxOutcomes outcomes, the newest", async () => {
  const store = createMemoryStore({ clock: new ManualClock(), maxSuspended: 1, maxOutcomes: 2 });
  for (const runId of ["a", "b", "c"]) {
    await store.begin({ ...RUN, runId });
    await store.finish(runId, "one", { reason: "done", outcome: 1, expiresMs: undefined });
  }
  assertEquals(await store.look("a"), undefined);
  assertEquals((await store.look("c"))?.phase, "finished");
  assertEquals((await store.counts()).finished, 2);
});
