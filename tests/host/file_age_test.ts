/** A file that is behind the store: its run goes on from what the store keeps. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { lastingStore, rig } from "./harness.ts";

/** An effect, then three states without one; the last asks before it ends. */
const MACHINE = `
machine: effect
entry: t
budget: 9
states:
  t: { tool: write_file, input: { path: out.md, content: hello }, output: sent, gates: [ { when: otherwise, then: ok, to: v } ] }
  v: { structure: s, prompt: "one {{sent}}", output: one, gates: [ { when: otherwise, then: ok, to: w } ] }
  w: { structure: s, prompt: "two {{one}}", output: two, gates: [ { when: otherwise, then: ok, to: x } ] }
  x: { structure: s, prompt: "three {{two}}", output: final, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

const LEASE_OVER_MS = 31_000;

/** A process dies in its last state: its file is of the effect, the store of two states later. */
async function died() {
  const clock = new ManualClock();
  const store = lastingStore(clock);
  const files = new MemoryFiles({ "/space/.keep": "", "/ckpt/.keep": "" });
  const common = { files, workspace: "/space", allowWrite: true, checkpointDirectory: "/ckpt" };
  const options = { ...common, openStore: () => Promise.resolve(store) };
  const dying = new ManualClock();
  const slow = new MockProvider(["1", "2", { content: "never", delayMs: 1e9 }], { clock: dying });
  const first = rig({ ...options, clock: dying, model: slow, seed: 1 });
  void first.host.run({ source: MACHINE, checkpointPath: "c.json" });
  while (slow.callCount < 3) await dying.advance(1);
  await clock.advance(LEASE_OVER_MS);
  const model = new MockProvider(["end", "twice", "thrice"], { clock });
  const second = rig({ ...options, clock, model, seed: 2 });
  await second.host.runs();
  return { ...second, model };
}

Deno.test("Host.resume() by a file that its run has left behind goes on where the store is", async () => {
  const { host, files, model } = await died();
  const { object } = await host.resume({ checkpoint: "c.json" });
  assertEquals([object["status"], model.callCount], ["done", 1]);
  assertStringIncludes(files.text("/ckpt/c.json") ?? "", '"resumed"');
  const again = await host.resume({ checkpoint: "c.json" });
  assertEquals(again.object["error"], "already-resumed");
});
