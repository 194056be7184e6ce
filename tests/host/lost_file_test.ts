/** Two processes and one checkpoint file: a holder that was asleep for longer than its lease finds it taken over. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ManualClock, MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { rig } from "./harness.ts";

/** Asks, thinks, then writes a file; then thinks again. */
const WRITING = `
machine: writing
entry: draft
budget: 9
states:
  draft: { structure: s, prompt: p, output: d, gates: [ { when: otherwise, escalate: true, to: think, ask: "Go on?", reply_to: r } ] }
  think: { structure: s, prompt: q, output: t, gates: [ { when: otherwise, then: ok, to: put } ] }
  put: { tool: write_file, input: { path: out.md, content: "by {{t}}" }, output: w, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

const ASLEEP_MS = 40_000;
const INPUTS = { r: "yes" };

/** A process with its own clock; all have the same files. */
function process(files: MemoryFiles, seed: number, replies: readonly MockReply[]) {
  const clock = new ManualClock();
  const model = new MockProvider(replies, { clock });
  const options = { door: "cli", clock, files, model, seed } as const;
  return { ...rig({ ...options, workspace: "/space", allowWrite: true }), model };
}

/** Lets a process get as far as its model. */
async function untilAsked({ clock, model }: ReturnType<typeof process>, calls: number) {
  while (model.callCount < calls) await clock.advance(1);
}

/** The first process goes on with a file and falls asleep while its model thinks, for longer than its lease. */
async function asleep({ slowMs, quickMs }: { slowMs: number; quickMs: number }) {
  const files = new MemoryFiles({ "/space/.keep": "", "/project/m.mk": WRITING });
  const slow = process(files, 1, ["D", { content: "first", delayMs: slowMs }]);
  const quick = process(files, 2, [{ content: "second", delayMs: quickMs }]);
  await slow.host.run({ path: "m.mk", hitl: true, checkpointPath: "c.json" });
  const late = slow.host.resume({ checkpoint: "c.json", inputs: INPUTS });
  await untilAsked(slow, 2);
  await quick.clock.advance(ASLEEP_MS);
  const taken = quick.host.resume({ checkpoint: "c.json", inputs: INPUTS });
  await untilAsked(quick, 1);
  return { files, slow, quick, late, taken };
}

Deno.test("Host.resume() does no effect whose file another process has taken over, and leaves its file alone", async () => {
  const { files, slow, quick, late, taken } = await asleep({ slowMs: 5000, quickMs: 10 });
  assertEquals((await quick.clock.run(taken)).object["status"], "done");
  const spent = files.text("c.json");
  files.texts.delete("/space/out.md");
  const { object } = await slow.clock.run(late);
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assertStringIncludes(String(object["warnings"]), "taken over by another process");
  assertEquals([files.text("/space/out.md"), files.text("c.json")], [undefined, spent]);
});

Deno.test("Host.resume() stops within its renewal where another process holds its file, and leaves the hold alone", async () => {
  const { files, slow, quick, late, taken } = await asleep({ slowMs: 100_000, quickMs: 10 });
  const hold = files.text("c.json.lock");
  const { object } = await slow.clock.run(late);
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assert(hold !== undefined);
  assertEquals(files.text("c.json.lock"), hold);
  assertEquals((await quick.clock.run(taken)).object["status"], "done");
});
