import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import { ManualClock } from "../../src/testing/mod.ts";

type Step =
  | {
    readonly do: "begin" | "settle" | "finish" | "park";
    readonly run: string;
    readonly by: string;
  }
  | { readonly do: "suspend"; readonly run: string; readonly by: string }
  | { readonly do: "claim"; readonly nth: number; readonly by: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "recover" };

const LEASE_MS = 100;
const run = fc.constantFrom("a", "b", "c");
const by = fc.constantFrom("one", "two");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("begin", "settle", "finish", "park", "suspend"), run, by }),
  fc.record({ do: fc.constant("claim" as const), nth: fc.nat(9), by }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(150) }),
  fc.record({ do: fc.constant("recover" as const) }),
);

Deno.test("createMemoryStore() lets no two hold a run, and no handle be used twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new ManualClock();
      const store = createMemoryStore({ clock, maxRuns: 100, maxOutcomes: 100 });
      const holders = new Map<string, string>();
      const waits = new Map<string, string>();
      const handles: string[] = [];
      const spent = new Set<string>();
      const claimedBy = new Map<string, string>();
      const newHandle = (): string => {
        handles.push(`h${handles.length}`);
        return handles.at(-1) ?? "";
      };
      const release = (id: string): void => {
        holders.delete(id);
        claimedBy.delete(id);
      };
      for (const one of steps) {
        if (one.do === "wait") await clock.advance(one.ms);
        else if (one.do === "recover") {
          for (const record of await store.recover({ newHandle, limit: 9, reason: "x" })) {
            assert(holders.has(record.runId), "only what was held is recovered");
            const before = claimedBy.get(record.runId);
            if (before !== undefined) spent.add(before);
            release(record.runId);
            waits.set(record.handle ?? "", record.runId);
          }
        } else if (one.do === "claim") {
          const handle = handles[one.nth] ?? "none";
          const claim = await store.claim(handle, { holder: one.by, leaseForMs: LEASE_MS });
          assertEquals(claim.kind === "claimed", waits.has(handle), handle);
          if (spent.has(handle)) assertEquals(claim.kind, "already-resumed");
          if (claim.kind !== "claimed") continue;
          waits.delete(handle);
          holders.set(claim.record.runId, one.by);
          claimedBy.set(claim.record.runId, handle);
        } else {
          const held = holders.get(one.run) === one.by;
          const known = holders.has(one.run) || [...waits.values()].includes(one.run);
          const { kind } = await act(one, { store, newHandle });
          if (one.do === "begin") {
            if (known) assertEquals(kind, "lost");
            if (kind === "stored") holders.set(one.run, one.by);
            continue;
          }
          const parks = one.do !== "park" || claimedBy.has(one.run);
          assertEquals(kind === "stored", held && parks, JSON.stringify(one));
          if (kind !== "stored" || one.do === "settle") continue;
          const before = claimedBy.get(one.run);
          if (one.do === "park") waits.set(before ?? "", one.run);
          else if (before !== undefined) spent.add(before);
          if (one.do === "suspend") waits.set(handles.at(-1) ?? "", one.run);
          release(one.run);
        }
        const counts = await store.counts();
        assertEquals([counts.running, counts.suspended], [holders.size, waits.size]);
      }
    }),
    { numRuns: 300, seed: 7 },
  );
});

function act(
  one: Extract<Step, { readonly run: string }>,
  { store, newHandle }: {
    readonly store: ReturnType<typeof createMemoryStore>;
    readonly newHandle: () => string;
  },
): Promise<{ readonly kind: string }> {
  const point = { at: "s", reason: "escalated", ask: undefined, payload: 1, expiresMs: undefined };
  switch (one.do) {
    case "begin":
      return store.begin({
        runId: one.run,
        machine: "m",
        payload: null,
        holder: one.by,
        leaseForMs: LEASE_MS,
      });
    case "settle":
      return store.settle(one.run, { holder: one.by, leaseForMs: LEASE_MS, payload: 2, at: "t" });
    case "finish":
      return store.finish(one.run, one.by, { reason: "done", outcome: 1, expiresMs: undefined });
    case "park":
      return store.park(one.run, one.by);
    case "suspend":
      return store.suspend(one.run, one.by, { ...point, handle: newHandle() });
  }
}
