/**
 * What every store of runs does, whatever keeps them.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { NewSuspension, SuspensionStore } from "../../src/host/mod.ts";
import { ManualClock } from "../../src/testing/mod.ts";

const LEASE_MS = 30_000;
const RUN = "0123456789abcdef0123456789abcdef";
const HANDLE = "fedcba9876543210fedcba9876543210";
const SECOND = "aaaaaaaaaaaaaaaa0000000000000000";

/** Makes a new, empty store that is dated by the clock. */
export type CreateStore = (
  clock: ManualClock,
  options?: { readonly maxRuns?: number },
) => Promise<SuspensionStore>;

/** A fact of the contract. */
type Fact = (store: SuspensionStore, clock: ManualClock) => Promise<void>;

/**
 * Registers the tests of the contract.
 *
 * @param name The store's name, first in every test's name.
 * @param create Makes a store.
 * @param options `ignore`: whether the tests are skipped, where there is no server.
 */
export function testStore(
  name: string,
  create: CreateStore,
  options: { readonly ignore?: boolean } = {},
): void {
  for (const [fact, check] of Object.entries(FACTS)) {
    Deno.test({
      name: `${name} ${fact}`,
      ignore: options.ignore ?? false,
      fn: async () => {
        const clock = new ManualClock();
        const store = await create(clock);
        try {
          await check(store, clock);
        } finally {
          await store.close();
        }
      },
    });
  }
  Deno.test({
    name: `${name} refuses the run beyond its cap and takes one again when another has ended`,
    ignore: options.ignore ?? false,
    fn: async () => {
      const clock = new ManualClock();
      const store = await create(clock, { maxRuns: 2 });
      try {
        assertEquals(await begin(store, "a"), "stored");
        assertEquals(await begin(store, "b"), "stored");
        assertEquals(await begin(store, "c"), "full");
        assertEquals(await store.look(idOf("c")), undefined);
        // What it began it also takes when it suspends.
        assertEquals((await store.suspend(idOf("a"), "h", suspension({}))).kind, "stored");
        assertEquals(await begin(store, "c"), "full");
        const end = { reason: "done", outcome: 1, expiresMs: undefined };
        assertEquals((await store.finish(idOf("b"), "h", end)).kind, "stored");
        assertEquals(await begin(store, "c"), "stored");
      } finally {
        await store.close();
      }
    },
  });
}

const FACTS: Readonly<Record<string, Fact>> = {
  "keeps what a run began with until it settles": async (store) => {
    await begin(store);
    assertEquals((await store.look(RUN))?.phase, "running");
    assertEquals((await store.look(RUN))?.payload, { began: true });
    await store.settle(RUN, { ...holding("h"), payload: { settled: 1 }, at: "draft" });
    const record = await store.look(RUN);
    assertEquals([record?.payload, record?.at], [{ settled: 1 }, "draft"]);
    await store.settle(RUN, { ...holding("h"), payload: undefined, at: undefined });
    assertEquals((await store.look(RUN))?.payload, { settled: 1 });
  },
  "gives a payload back as it was": async (store) => {
    const payload = { text: "é😀\u0000\n", list: [1, -0.5, null, true], nested: { "": {} } };
    await begin(store);
    await store.suspend(RUN, "h", suspension({ payload }));
    const claim = await store.claim(HANDLE, holding("x"));
    assert(claim.kind === "claimed");
    assertEquals(claim.record.payload, payload);
  },
  "shows a suspension without claiming it": async (store) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    for (let look = 0; look < 2; look++) {
      const peeked = await store.peek(HANDLE);
      assert(peeked.kind === "claimed");
      assertEquals(peeked.record.handle, HANDLE);
      assertEquals(
        [peeked.record.at, peeked.record.reason, peeked.record.ask],
        ["review", "escalated", "Sure?"],
      );
    }
    assertEquals((await store.look(RUN))?.phase, "suspended");
  },
  "lets exactly one of twenty racing claims win": async (store) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.claim(HANDLE, holding(`racer ${index}`))),
    );
    assertEquals(claims.filter(({ kind }) => kind === "claimed").length, 1);
    assertEquals(claims.filter(({ kind }) => kind === "busy").length, 19);
  },
  "says busy while a claim is held and already-resumed once it is settled for good": async (
    store,
  ) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    await store.claim(HANDLE, holding("x"));
    assertEquals((await store.claim(HANDLE, holding("y"))).kind, "busy");
    await store.finish(RUN, "x", { reason: "done", outcome: "end", expiresMs: undefined });
    assertEquals((await store.claim(HANDLE, holding("y"))).kind, "already-resumed");
    assertEquals((await store.peek(HANDLE)).kind, "already-resumed");
    const record = await store.look(RUN);
    assertEquals([record?.phase, record?.payload, record?.reason], ["finished", "end", "done"]);
  },
  "spends the old handle when a run suspends again": async (store) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    await store.claim(HANDLE, holding("x"));
    await store.suspend(RUN, "x", suspension({ handle: SECOND, at: "second" }));
    assertEquals((await store.claim(HANDLE, holding("y"))).kind, "already-resumed");
    const claim = await store.claim(SECOND, holding("y"));
    assert(claim.kind === "claimed");
    assertEquals(claim.record.at, "second");
  },
  "makes a handle valid again when its claim is parked": async (store) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    await store.claim(HANDLE, holding("x"));
    assertEquals((await store.park(RUN, "x")).kind, "stored");
    const claim = await store.claim(HANDLE, holding("y"));
    assert(claim.kind === "claimed");
    assertEquals(claim.record.payload, { stands: 1 });
    const later = { ...suspension({ at: "later", payload: { stands: 2 } }) };
    assertEquals((await store.park(RUN, "y", later)).kind, "stored");
    const again = await store.peek(HANDLE);
    assert(again.kind === "claimed");
    assertEquals([again.record.at, again.record.payload], ["later", { stands: 2 }]);
  },
  "does not park what was never claimed": async (store) => {
    await begin(store);
    assertEquals((await store.park(RUN, "h")).kind, "lost");
    assertEquals((await store.look(RUN))?.phase, "running");
  },
  "tells a holder that lost its run": async (store) => {
    await begin(store);
    const point = { payload: { stolen: true }, at: undefined };
    assertEquals((await store.settle(RUN, { ...holding("other"), ...point })).kind, "lost");
    assertEquals((await store.suspend(RUN, "other", suspension({}))).kind, "lost");
    const end = { reason: "done", outcome: 1, expiresMs: undefined };
    assertEquals((await store.finish(RUN, "other", end)).kind, "lost");
    assertEquals((await store.look(RUN))?.payload, { began: true });
    assertEquals((await store.settle("f".repeat(32), { ...holding("h"), ...point })).kind, "lost");
  },
  "does not know what it was never given": async (store) => {
    assertEquals((await store.claim(HANDLE, holding("x"))).kind, "unknown");
    assertEquals((await store.peek(HANDLE)).kind, "unknown");
    assertEquals(await store.look(RUN), undefined);
    assert(!await store.forget(RUN));
  },
  "answers expired, before and after it forgot the run": async (store, clock) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({ expiresMs: clock.now() + 1000 }));
    await clock.advance(999);
    assertEquals((await store.peek(HANDLE)).kind, "claimed");
    await clock.advance(1);
    assertEquals((await store.claim(HANDLE, holding("x"))).kind, "expired");
    assertEquals(await store.look(RUN), undefined);
    assertEquals(await store.list(), []);
    assertEquals(await store.sweep(), 1);
    assertEquals((await store.claim(HANDLE, holding("x"))).kind, "expired");
    assertEquals((await store.peek(HANDLE)).kind, "expired");
  },
  "forgets an outcome when its time is over": async (store, clock) => {
    await begin(store);
    const end = { reason: "done", outcome: 1, expiresMs: clock.now() + 1000 };
    await store.finish(RUN, "h", end);
    assertEquals(await store.sweep(), 0);
    await clock.advance(1000);
    assertEquals(await store.look(RUN), undefined);
    assertEquals(await store.sweep(), 1);
    assertEquals(await store.counts(), { suspended: 0, running: 0, finished: 0 });
  },
  "recovers a run whose lease is over, once, at its last settled state": async (store, clock) => {
    await begin(store);
    await store.settle(RUN, { ...holding("h"), payload: { settled: 7 }, at: "seventh" });
    const options = { newHandle: () => SECOND, limit: 10, reason: "interrupted" };
    assertEquals(await store.recover(options), []);
    await clock.advance(LEASE_MS);
    const [record, ...more] = await store.recover(options);
    assertEquals(more, []);
    assertEquals([record?.handle, record?.payload], [SECOND, { settled: 7 }]);
    assertEquals([record?.phase, record?.reason], ["suspended", "interrupted"]);
    assertEquals(await store.recover({ ...options, newHandle: () => HANDLE }), []);
    const late = { ...holding("h"), payload: { late: true }, at: undefined };
    assertEquals((await store.settle(RUN, late)).kind, "lost");
    assertEquals((await store.claim(SECOND, holding("x"))).kind, "claimed");
  },
  "keeps a run from recovery while its holder renews the lease": async (store, clock) => {
    await begin(store);
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(LEASE_MS - 1);
      await store.settle(RUN, { ...holding("h"), payload: undefined, at: undefined });
    }
    const options = { newHandle: () => SECOND, limit: 10, reason: "interrupted" };
    assertEquals(await store.recover(options), []);
  },
  "recovers a claim whose holder died, under a new handle": async (store, clock) => {
    await begin(store);
    await store.suspend(RUN, "h", suspension({}));
    await store.claim(HANDLE, holding("x"));
    await clock.advance(LEASE_MS);
    const options = { newHandle: () => SECOND, limit: 10, reason: "interrupted" };
    assertEquals((await store.recover(options)).length, 1);
    assertEquals((await store.claim(HANDLE, holding("y"))).kind, "already-resumed");
    assertEquals((await store.claim(SECOND, holding("y"))).kind, "claimed");
  },
  "recovers no more than asked": async (store, clock) => {
    for (const name of ["a", "b", "c"]) await begin(store, name);
    await clock.advance(LEASE_MS);
    let made = 0;
    const newHandle = () => `${made++}`.padStart(32, "0");
    assertEquals((await store.recover({ newHandle, limit: 2, reason: "interrupted" })).length, 2);
    assertEquals((await store.recover({ newHandle, limit: 2, reason: "interrupted" })).length, 1);
  },
  "lists without payloads and handles, newest change first": async (store, clock) => {
    await begin(store, "a");
    await clock.advance(10);
    await begin(store, "b");
    await clock.advance(10);
    await store.suspend(idOf("a"), "h", suspension({}));
    const rows = await store.list();
    assertEquals(rows.map(({ runId }) => runId), [idOf("a"), idOf("b")]);
    assertEquals(rows.map(({ resumable }) => resumable), [true, false]);
    assertEquals([rows[0]?.ask, rows[0]?.machine], ["Sure?", "m"]);
    assert(!JSON.stringify(rows).includes("stands"));
    assert(!JSON.stringify(rows).includes(HANDLE));
    assertEquals((await store.list({ phase: "running" })).map(({ runId }) => runId), [idOf("b")]);
    assertEquals((await store.list({ limit: 1 })).length, 1);
    assertEquals(await store.counts(), { suspended: 1, running: 1, finished: 0 });
  },
  "forgets a run that nobody holds, and only that": async (store) => {
    await begin(store);
    assert(!await store.forget(RUN));
    await store.suspend(RUN, "h", suspension({}));
    assert(await store.forget(RUN));
    assertEquals((await store.peek(HANDLE)).kind, "unknown");
  },
};

function idOf(name: string): string {
  return name.padStart(32, "0");
}

async function begin(store: SuspensionStore, name?: string): Promise<string> {
  const runId = name === undefined ? RUN : idOf(name);
  const run = { runId, machine: "m", payload: { began: true }, ...holding("h") };
  return (await store.begin(run)).kind;
}

function holding(holder: string): { readonly holder: string; readonly leaseForMs: number } {
  return { holder, leaseForMs: LEASE_MS };
}

function suspension(changes: Partial<NewSuspension>): NewSuspension {
  return {
    handle: HANDLE,
    at: "review",
    reason: "escalated",
    ask: "Sure?",
    payload: { stands: 1 },
    expiresMs: undefined,
    ...changes,
  };
}
