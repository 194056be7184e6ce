import { assert, assertEquals } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { testStore } from "../contracts/store.ts";

testStore(
  "createMemoryStore()",
  (clock, options = {}) =>
    Promise.resolve(
      createMemoryStore({ clock, maxRuns: options.maxRuns ?? 100, maxOutcomes: 100 }),
    ),
);

const RUN = { machine: "m", payload: null, holder: "one", leaseForMs: 1000 };
const ONE = { holder: "one", leaseForMs: 1000 };
const POINT = { at: "s", reason: "escalated", ask: "Sure?", payload: 1, expiresMs: undefined };

function store() {
  const clock = new ManualClock();
  return { clock, kept: createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 2 }) };
}

Deno.test("createMemoryStore() keeps at most maxOutcomes outcomes, the newest", async () => {
  const { kept } = store();
  for (const runId of ["a", "b", "c"]) {
    await kept.begin({ ...RUN, runId });
    await kept.finish(runId, "one", { reason: "done", outcome: 1, expiresMs: undefined });
  }
  assertEquals(await kept.look("a"), undefined);
  assertEquals((await kept.look("c"))?.phase, "finished");
  assertEquals((await kept.counts()).finished, 2);
});

Deno.test("createMemoryStore() keeps outcomes up to maxOutcomeChars, the newest first, and always that", async () => {
  const clock = new ManualClock();
  const kept = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 9, maxOutcomeChars: 100 });
  const sizes: [runId: string, chars: number][] = [["a", 50], ["b", 40], ["c", 40], ["d", 500]];
  const left: string[][] = [];
  for (const [runId, chars] of sizes) {
    await kept.begin({ ...RUN, runId });
    const outcome = "x".repeat(chars);
    await kept.finish(runId, "one", { reason: "done", outcome, expiresMs: undefined });
    left.push((await kept.list()).map((run) => run.runId).sort());
  }
  assertEquals(left, [["a"], ["a", "b"], ["b", "c"], ["d"]]);
});

Deno.test("createMemoryStore() begins nothing while suspended runs hold maxSuspendedChars, and drops none", async () => {
  const clock = new ManualClock();
  const kept = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 9, maxSuspendedChars: 100 });
  await kept.begin({ ...RUN, runId: "a" });
  await kept.begin({ ...RUN, runId: "b" });
  const payload = "x".repeat(100);
  await kept.suspend("a", "one", { ...POINT, payload, handle: "h" });
  assertEquals(await kept.begin({ ...RUN, runId: "c" }), { kind: "full" });
  // What it began it also takes when it suspends.
  assertEquals(await kept.suspend("b", "one", { ...POINT, payload, handle: "i" }), {
    kind: "stored",
  });
  await kept.claim("h", ONE);
  assertEquals(await kept.begin({ ...RUN, runId: "c" }), { kind: "full" });
  assert(await kept.forget("b"));
  assertEquals(await kept.begin({ ...RUN, runId: "c" }), { kind: "stored" });
});

Deno.test("createMemoryStore() says already-resumed also after the outcome is gone", async () => {
  const { clock, kept } = store();
  await kept.begin({ ...RUN, runId: "a" });
  await kept.suspend("a", "one", { ...POINT, handle: "h" });
  await kept.claim("h", ONE);
  await kept.finish("a", "one", { reason: "done", outcome: 1, expiresMs: clock.now() });
  assertEquals(await kept.sweep(), 1);
  assertEquals(await kept.claim("h", ONE), { kind: "already-resumed", runId: "a" });
});

Deno.test("createMemoryStore() puts a claim back exactly as it was", async () => {
  const { kept } = store();
  await kept.begin({ ...RUN, runId: "a" });
  await kept.suspend("a", "one", { ...POINT, handle: "h" });
  const before = await kept.look("a");
  await kept.claim("h", ONE);
  assertEquals(await kept.claim("h", ONE), { kind: "busy", runId: "a" });
  assertEquals(await kept.park("a", "one"), { kind: "stored" });
  assertEquals(await kept.look("a"), before);
});

Deno.test("createMemoryStore() cannot park what never had a handle", async () => {
  const { kept } = store();
  await kept.begin({ ...RUN, runId: "a" });
  assertEquals(await kept.park("a", "one"), { kind: "lost" });
});

Deno.test("createMemoryStore() counts 10,000 suspended runs and gives each back", async () => {
  const clock = new ManualClock();
  const kept = createMemoryStore({ clock, maxRuns: 10_000, maxOutcomes: 1 });
  for (let i = 0; i < 10_000; i++) {
    await kept.begin({ ...RUN, runId: `r${i}` });
    await kept.suspend(`r${i}`, "one", { ...POINT, handle: `h${i}` });
  }
  assertEquals(await kept.begin({ ...RUN, runId: "more" }), { kind: "full" });
  assertEquals((await kept.list({ limit: 20_000 })).length, 10_000);
  for (let i = 0; i < 10_000; i++) {
    assertEquals((await kept.claim(`h${i}`, ONE)).kind, "claimed");
  }
  assertEquals((await kept.counts()).running, 10_000);
});
