import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { linkSignals, raceSignal } from "../../src/llm/cancel.ts";

/** Counts the listeners of a signal. */
function counted(): { readonly controller: AbortController; readonly listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener, options?: object) => {
    listeners += 1;
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    listeners -= 1;
    remove(type, listener);
  };
  return { controller, listeners: () => listeners };
}

Deno.test("linkSignals() fires with the reason of the first signal that fires", () => {
  const [left, right] = [new AbortController(), new AbortController()];
  using link = linkSignals([undefined, left.signal, right.signal]);
  right.abort("right");
  left.abort("left");
  assertEquals([link.signal.aborted, link.signal.reason], [true, "right"]);
});

Deno.test("linkSignals() has fired if a signal had", () => {
  using link = linkSignals([AbortSignal.abort("before")]);
  assertEquals(link.signal.reason, "before");
});

Deno.test("linkSignals() leaves no listener behind", () => {
  const { controller, listeners } = counted();
  {
    using link = linkSignals([controller.signal]);
    assertEquals(listeners(), 1);
    assertFalse(link.signal.aborted);
  }
  assertEquals(listeners(), 0);
});

Deno.test("raceSignal() gives what the work gives, and leaves no listener behind", async () => {
  const { controller, listeners } = counted();
  assertEquals(await raceSignal(Promise.resolve(1), controller.signal), 1);
  assertEquals(listeners(), 0);
});

Deno.test("raceSignal() rejects with the reason at once, whatever becomes of the work", async () => {
  const controller = new AbortController();
  const work = Promise.withResolvers<number>();
  const race = raceSignal(work.promise, controller.signal);
  const reason = new Error("enough");
  controller.abort(reason);
  assert(await assertRejects(() => race) === reason);
  work.reject(new Error("late"));
});
