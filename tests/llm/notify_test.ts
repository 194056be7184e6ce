import { assertEquals } from "@std/assert";
import { notify } from "../../src/llm/notify.ts";

Deno.test("notify() gives the report to the listener, if there is one", () => {
  const seen: number[] = [];
  notify((report: number) => seen.push(report), 7);
  notify(undefined, 8);
  assertEquals(seen, [7]);
});

const listeners: [what: string, listener: () => unknown][] = [
  ["throws", () => {
    throw new Error("listener");
  }],
  ["rejects", () => Promise.reject(new Error("listener"))],
  ["rejects later", async () => {
    await Promise.resolve();
    throw new Error("listener");
  }],
  ["gives something that only looks like a promise", () => ({
    then: (_resolve: unknown, reject: (reason: Error) => void) => reject(new Error("listener")),
  })],
  ["gives something whose then cannot be read", () => ({
    get then() {
      throw new Error("listener");
    },
  })],
];
for (const [what, listener] of listeners) {
  Deno.test(`notify() survives a listener that ${what}`, async () => {
    let unhandled = 0;
    const count = (event: PromiseRejectionEvent): void => {
      unhandled += 1;
      event.preventDefault();
    };
    globalThis.addEventListener("unhandledrejection", count);
    notify(listener, undefined);
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(undefined); // rejections are told at the end of a turn of the event loop
    });
    port1.close();
    port2.close();
    globalThis.removeEventListener("unhandledrejection", count);
    assertEquals(unhandled, 0);
  });
}
