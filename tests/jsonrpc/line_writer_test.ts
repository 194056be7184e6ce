import { assert, assertEquals, assertFalse } from "@std/assert";
import { LineWriter } from "../../src/jsonrpc/mod.ts";

/** A reader that takes at most so many bytes a write, and only when it is let. */
function reader(options: { readonly bytesPerWrite?: number } = {}) {
  const writes: string[] = [];
  let gate: Promise<void> = Promise.resolve();
  let release: () => void = () => {};
  return {
    writes,
    pause(): void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      release = resolve;
    },
    resume: () => release(),
    async write(bytes: Uint8Array): Promise<number> {
      await gate;
      const taken = bytes.slice(0, options.bytesPerWrite ?? bytes.length);
      writes.push(new TextDecoder().decode(taken));
      return taken.length;
    },
  };
}

Deno.test("LineWriter lets all lines of one turn leave in one write", async () => {
  const out = reader();
  const writer = new LineWriter(out);
  for (const line of ["a", "b", "c"]) writer.push(line);
  await writer.drained();
  assertEquals(out.writes, ["a\nb\nc\n"]);
});

Deno.test("LineWriter lets lines that come during a write leave together in the next", async () => {
  const out = reader();
  const writer = new LineWriter(out);
  out.pause();
  writer.push("a");
  await Promise.resolve();
  await Promise.resolve();
  writer.push("b");
  writer.push("c");
  out.resume();
  await writer.drained();
  assertEquals(out.writes, ["a\n", "b\nc\n"]);
});

Deno.test("LineWriter writes on where a write was short", async () => {
  const out = reader({ bytesPerWrite: 3 });
  const writer = new LineWriter(out);
  writer.push("hello!");
  await writer.drained();
  assertEquals(out.writes, ["hel", "lo!", "\n"]);
});

Deno.test("LineWriter takes back what has not begun to leave", async () => {
  const out = reader();
  const writer = new LineWriter(out);
  const owner = {};
  writer.push("a", { owner });
  writer.push("b");
  writer.discard(owner);
  await writer.drained();
  assertEquals(out.writes, ["b\n"]);
});

Deno.test("LineWriter is congested above its bound and relieved below it", async () => {
  const out = reader();
  const writer = new LineWriter({ write: out.write, congestedCharacters: 10 });
  out.pause();
  writer.push("0123456789");
  assert(writer.isCongested);
  let isRelieved = false;
  const relieved = writer.relieved().then(() => {
    isRelieved = true;
  });
  await Promise.resolve();
  assertFalse(isRelieved);
  out.resume();
  await relieved;
  assertFalse(writer.isCongested);
  await writer.drained();
});

Deno.test("LineWriter drops everything once nobody reads", async () => {
  const writer = new LineWriter({ write: () => Promise.reject(new Error("broken pipe")) });
  writer.push("a");
  await writer.broken;
  writer.push("b");
  await writer.drained();
  await writer.relieved();
  assertFalse(writer.isBusy);
});

Deno.test("LineWriter says when the first line has left", async () => {
  const out = reader();
  const writer = new LineWriter(out);
  let isStarted = false;
  writer.started.then(() => {
    isStarted = true;
  });
  await writer.drained();
  assertFalse(isStarted);
  writer.push("a");
  await writer.started;
  assertEquals(out.writes, ["a\n"]);
  await writer.drained();
});

Deno.test("LineWriter cuts a long queue into writes of whole lines", async () => {
  const out = reader();
  const writer = new LineWriter(out);
  const line = "x".repeat(700_000);
  for (let times = 0; times < 3; times += 1) writer.push(line);
  await writer.drained();
  assertEquals(out.writes.map((write) => write.length), [700_001, 700_001, 700_001]);
});
