/** A handle and the file beside it: one suspension goes on once, and nothing foreign is written over. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { ManualClock, MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, lastingStore, rig, type RigOptions } from "./harness.ts";

const YES = { "decision.answer": "yes" };
const RUN = { source: ASKING, hitl: true, checkpointPath: "o.json" };
const NOTES = '{"my":"precious notes"}';

/** Asks a second time before it ends. */
const TWICE = ASKING.replace(
  "{ when: otherwise, then: ok, to: END }",
  '{ when: otherwise, escalate: true, to: last, ask: "Again?", reply_to: decision.two }',
) +
  `  last: { structure: s, prompt: last, output: final, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

let seed = 0;

/** A process that is like no other: its runs have names of their own. */
function process(
  replies: readonly MockReply[],
  { directory = "/project", ...options }: RigOptions & { directory?: string | null } = {},
) {
  const clock = new ManualClock();
  const model = new MockProvider(replies, { clock });
  const checkpoints = directory === null ? {} : { checkpointDirectory: directory };
  seed += 1;
  return { ...rig({ clock, model, seed, ...checkpoints, ...options }), model };
}

/** One process suspended, another went on with the file and suspended there again. */
async function goneOnElsewhere() {
  const files = new MemoryFiles();
  const here = process(["D", "here"], { files });
  const there = process(["there", "end"], { files, door: "cli" });
  const first = (await here.host.run({ ...RUN, source: TWICE })).object;
  await there.host.resume({ checkpoint: "o.json", inputs: YES });
  return { files, here, there, first, later: files.text("o.json") };
}

Deno.test("Host.resume() by a handle goes on with no suspension that was resumed by its file and waits again", async () => {
  const { files, here, there, first, later } = await goneOnElsewhere();
  const checkpoint = String(first["checkpoint"]);
  const { object } = await here.host.resume({ checkpoint, inputs: YES });
  assertEquals([object["error"], here.model.callCount], ["already-resumed", 1]);
  assertEquals(files.text("o.json"), later);
  const last = await there.host.resume({ checkpoint: "o.json", inputs: { "decision.two": "y" } });
  assertEquals(last.object["result"], "end");
});

Deno.test("Host.resume() cancels no suspension of another process where the file has gone on elsewhere", async () => {
  const { files, here, there, first, later } = await goneOnElsewhere();
  await here.host.resume({ run: String(first["run"]), cancel: true });
  assertEquals(files.text("o.json"), later);
  const last = await there.host.resume({ checkpoint: "o.json", inputs: { "decision.two": "y" } });
  assertEquals(last.object["result"], "end");
});

Deno.test("Host.resume() by a handle goes on with no run whose file another process left in the middle", async () => {
  const { files, here, first } = await goneOnElsewhere();
  const { digest: _digest, metadata: _metadata, ...rest } = JSON.parse(files.text("o.json") ?? "");
  const left = JSON.stringify({ ...rest, reason: "interrupted" });
  files.put("o.json", left);
  const checkpoint = String(first["checkpoint"]);
  const { object } = await here.host.resume({ checkpoint, inputs: YES });
  assertEquals([object["error"], here.model.callCount], ["already-resumed", 1]);
  assertEquals(files.text("o.json"), left);
});

Deno.test("Host.resume() goes on by its handle where the file could not follow the last suspension", async () => {
  const files = new MemoryFiles();
  const failing = (): string => {
    files.failing = "/o.json";
    return "A";
  };
  const { host } = process(["D", failing, "end"], { files });
  const first = (await host.run({ ...RUN, source: TWICE })).object;
  const second = await host.resume({ checkpoint: String(first["checkpoint"]), inputs: YES });
  assertEquals(second.object["error"], "escalated");
  files.failing = undefined;
  const checkpoint = String(second.object["checkpoint"]);
  const { object } = await host.resume({ checkpoint, inputs: { "decision.two": "y" } });
  assertEquals(object["result"], "end");
});

Deno.test("Host.resume() by a handle leaves alone what was put in the place of its file, and says so", async () => {
  const { host, files } = process(["D", "F"]);
  const first = (await host.run(RUN)).object;
  files.put("o.json", NOTES);
  const { object } = await host.resume({ checkpoint: String(first["checkpoint"]), inputs: YES });
  assertEquals([object["result"], files.text("o.json")], ["F", NOTES]);
  assertStringIncludes(String(object["warnings"]), '"o.json" is no checkpoint by now');
  assertEquals([...files.texts.keys()], ["/project/o.json"]);
});

Deno.test("Host.resume() by a handle moves the run over nothing that was put in the place of its file", async () => {
  const { host, files } = process(["D", "F"]);
  const first = (await host.run(RUN)).object;
  files.put("o.json", NOTES);
  const request = { checkpoint: String(first["checkpoint"]), inputs: YES };
  const refused = await host.resume({ ...request, checkpointPath: "o.json" });
  assertEquals([refused.object["error"], files.text("o.json")], ["invalid-request", NOTES]);
  assertEquals((await host.resume(request)).object["result"], "F");
});

for (const by of ["handle", "file"]) {
  Deno.test(`Host.resume() by a ${by} leaves alone what is put in the place of its file while the run goes on`, async () => {
    const files = new MemoryFiles();
    const meanwhile = (): string => {
      files.put("o.json", NOTES);
      return "F";
    };
    const { host } = process(["D", meanwhile], { files });
    const first = (await host.run(RUN)).object;
    const checkpoint = by === "file" ? "o.json" : String(first["checkpoint"]);
    const { object } = await host.resume({ checkpoint, inputs: YES });
    assertEquals([object["result"], files.text("o.json")], ["F", NOTES]);
    assertEquals([...files.texts.keys()], ["/project/o.json"]);
  });

  Deno.test(`Host.resume() by a ${by} suspends over nothing that was put in the place of its file`, async () => {
    const files = new MemoryFiles();
    const meanwhile = (): string => {
      files.put("o.json", NOTES);
      return "A";
    };
    const { host } = process(["D", meanwhile, "end"], { files });
    const first = (await host.run({ ...RUN, source: TWICE })).object;
    const checkpoint = by === "file" ? "o.json" : String(first["checkpoint"]);
    const second = (await host.resume({ checkpoint, inputs: YES })).object;
    assertEquals([second["error"], files.text("o.json")], ["escalated", NOTES]);
    const last = { checkpoint: String(second["checkpoint"]), inputs: { "decision.two": "y" } };
    assertEquals((await host.resume(last)).object["result"], "end");
    assertEquals(files.text("o.json"), NOTES);
  });
}

/** A server with a directory of its own wrote the file; its store is there for others. */
async function writtenInDirectory() {
  const files = new MemoryFiles({ "/ckpt/x.txt": "", "/project/o.json": NOTES });
  const store = lastingStore(new ManualClock());
  const openStore = () => Promise.resolve(store);
  const server = process(["D"], { files, openStore, directory: "/ckpt" });
  const { object } = await server.host.run(RUN);
  return { files, openStore, checkpoint: String(object["checkpoint"]) };
}

Deno.test("Host.resume() finds the file beside a handle from another directory, and writes to no other", async () => {
  const { files, openStore, checkpoint } = await writtenInDirectory();
  const { host } = process(["F"], { files, openStore, door: "cli" });
  assertEquals((await host.resume({ checkpoint, inputs: YES })).object["result"], "F");
  assertEquals(files.text("/project/o.json"), NOTES);
  assertStringIncludes(files.text("/ckpt/o.json") ?? "", '"resumed"');
});

for (const directory of [null, "/project", "/nowhere"]) {
  Deno.test(`Host.resume() goes on by the handle where the file may not be named, below ${directory}`, async () => {
    const { files, openStore, checkpoint } = await writtenInDirectory();
    const before = files.text("/ckpt/o.json");
    const { host } = process(["F"], { files, openStore, directory });
    const { object } = await host.resume({ checkpoint, inputs: YES });
    assertEquals(object["result"], "F");
    assertStringIncludes(String(object["warnings"]), '"o.json" cannot be used here');
    assertFalse(JSON.stringify(object).includes("/ckpt"));
    assertEquals([files.text("/project/o.json"), files.text("/ckpt/o.json")], [NOTES, before]);
  });
}

Deno.test("Host.resume() lets go of the file where a look at it throws", async () => {
  class Broken extends MemoryFiles {
    broken = false;
    override lstat(path: string): ReturnType<MemoryFiles["lstat"]> {
      const held = this.text("n.json.lock") !== undefined;
      if (this.broken && held && path.endsWith("n.json")) throw new Error("broken disk");
      return super.lstat(path);
    }
  }
  const files = new Broken();
  const { host } = process(["D", "F"], { files });
  const first = (await host.run(RUN)).object;
  const request = { checkpoint: String(first["checkpoint"]), inputs: YES };
  files.broken = true;
  const failed = host.resume({ ...request, checkpointPath: "n.json" }).then(
    () => false,
    () => true,
  );
  assert(await failed);
  assertEquals([...files.texts.keys()], ["/project/o.json"]);
  files.broken = false;
  assertEquals((await host.resume(request)).object["result"], "F");
});
