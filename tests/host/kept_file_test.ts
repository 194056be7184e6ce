/** A checkpoint file that somebody was told of is written over by its own run alone, until it is spent. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Door, Emitted } from "../../src/host/mod.ts";
import { ManualClock, MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, rig } from "./harness.ts";

const YES = { "decision.answer": "yes" };
const RUN = { source: ASKING, hitl: true, checkpointPath: "o.json" };
const DOORS: readonly Door[] = ["mcp", "cli"];

let seed = 0;

/** A process that is like no other: its runs have names of their own. */
function process(door: Door, replies: readonly MockReply[], files = new MemoryFiles()) {
  const clock = new ManualClock();
  const model = new MockProvider(replies, { clock });
  seed += 1;
  const made = rig({ door, clock, files, model, checkpointDirectory: "/project", seed });
  return { ...made, model };
}

function word({ object }: Emitted): unknown {
  return object["error"];
}

function errors({ object }: Emitted): string {
  return JSON.stringify(object["errors"] ?? object["warnings"]);
}

/** A file of another run that waits. */
async function waitingFile(): Promise<string> {
  const { host, files } = process("cli", ["Theirs"]);
  await host.run(RUN);
  return files.text("o.json") ?? "";
}

for (const door of DOORS) {
  Deno.test(`Host.run() at the door ${door} writes over no suspension that waits, and spends nothing`, async () => {
    const { host, files, model } = process(door, ["D", "Y"]);
    assertEquals(word(await host.run(RUN)), "escalated");
    const before = files.text("o.json") ?? "";
    const refused = await host.run(RUN);
    assertEquals([refused.isError, word(refused)], [true, "invalid-request"]);
    assertStringIncludes(errors(refused), "o.json");
    assertStringIncludes(errors(refused), JSON.parse(before).run_id);
    assertStringIncludes(errors(refused), "resume it, remove the file, or name another one");
    assertEquals([files.text("o.json"), model.callCount], [before, 1]);
    assertEquals([...files.texts.keys()], ["/project/o.json"]);
    const done = await host.resume({ checkpoint: "o.json", inputs: YES });
    assertEquals(done.object["result"], "Y");
  });

  Deno.test(`Host.run() at the door ${door} writes over a spent file`, async () => {
    const { host, files } = process(door, ["D", "Y", "E", "Z"]);
    await host.run(RUN);
    await host.resume({ checkpoint: "o.json", inputs: YES });
    assertStringIncludes(files.text("o.json") ?? "", '"resumed"');
    assertEquals(word(await host.run(RUN)), "escalated");
    const done = await host.resume({ checkpoint: "o.json", inputs: YES });
    assertEquals(done.object["result"], "Z");
  });

  Deno.test(`Host.resume() at the door ${door} moves a run to no file of another that waits`, async () => {
    const theirs = await waitingFile();
    const files = new MemoryFiles({ "o.json": theirs });
    const { host, model } = process(door, ["D", "Y"], files);
    await host.run({ ...RUN, checkpointPath: "mine.json" });
    const request = { checkpoint: "mine.json", inputs: YES };
    const refused = await host.resume({ ...request, checkpointPath: "o.json" });
    assertEquals([word(refused), model.callCount], ["invalid-request", 1]);
    assertEquals(files.text("o.json"), theirs);
    assertEquals((await host.resume(request)).object["result"], "Y");
  });
}

Deno.test("Host.resume() by a handle moves the run to no file of another that waits, and keeps the handle", async () => {
  const theirs = await waitingFile();
  const { host, files } = process("mcp", ["D", "Y"], new MemoryFiles({ "o.json": theirs }));
  const { object } = await host.run({ source: ASKING, hitl: true });
  const request = { checkpoint: String(object["checkpoint"]), inputs: YES };
  assertEquals(
    word(await host.resume({ ...request, checkpointPath: "o.json" })),
    "invalid-request",
  );
  assertEquals(files.text("o.json"), theirs);
  assertEquals((await host.resume(request)).object["result"], "Y");
});

Deno.test("Host.run() writes over the file of a run that has ended, though nobody marked it", async () => {
  const { host, files } = process("mcp", ["D", "Y", "E"]);
  await host.run(RUN);
  const before = files.text("o.json") ?? "";
  await host.resume({ checkpoint: "o.json", inputs: YES });
  files.put("o.json", before);
  assertEquals(word(await host.run(RUN)), "escalated");
});

const unreadable: readonly (readonly [what: string, change: (text: string) => string])[] = [
  ["is a checkpoint of the reference, which names no run", (text) => {
    const { run_id: _run, digest: _digest, ...plain } = JSON.parse(text);
    return JSON.stringify(plain);
  }],
  ["is a checkpoint that was changed", (text) => text.replace('"escalated"', '"escalatee"')],
];
for (const [what, change] of unreadable) {
  Deno.test(`Host.run() leaves a file alone that ${what}`, async () => {
    const theirs = change(await waitingFile());
    const { host, files, model } = process("cli", ["D"], new MemoryFiles({ "o.json": theirs }));
    assertEquals([word(await host.run(RUN)), model.callCount], ["invalid-request", 0]);
    assertEquals(files.text("o.json"), theirs);
  });
}

Deno.test("Host.run() looks again once it holds the file: of two runs that race for it one is refused", async () => {
  const theirs = await waitingFile();
  class Raced extends MemoryFiles {
    override async writeAtomic(
      ...[path, content, options]: Parameters<MemoryFiles["writeAtomic"]>
    ): Promise<void> {
      if (options?.exclusive === true) this.put("o.json", theirs);
      await super.writeAtomic(path, content, options);
    }
  }
  const { host, files, model } = process("cli", ["D"], new Raced());
  assertEquals([word(await host.run(RUN)), model.callCount], ["invalid-request", 0]);
  assertEquals([...files.texts], [["/project/o.json", theirs]]);
});

Deno.test("Host.run() keeps its handle where another program wrote the file in the meantime", async () => {
  const theirs = await waitingFile();
  const files = new MemoryFiles();
  const meanwhile = (): string => {
    files.put("o.json", theirs);
    return "D";
  };
  const { host } = process("mcp", [meanwhile, "Y"], files);
  const suspended = await host.run(RUN);
  assertEquals([word(suspended), files.text("o.json")], ["escalated", theirs]);
  assertStringIncludes(errors(suspended), "go on with the handle");
  const checkpoint = String(suspended.object["checkpoint"]);
  assertEquals((await host.resume({ checkpoint, inputs: YES })).object["result"], "Y");
  assertEquals(files.text("o.json"), theirs);
});

Deno.test("Host.run() says that the directory of checkpoint files is missing, and so does Host.resume()", async () => {
  const { host } = rig({ model: new MockProvider([]), checkpointDirectory: "/nowhere" });
  for (const emitted of [await host.run(RUN), await host.resume({ checkpoint: "o.json" })]) {
    assertStringIncludes(errors(emitted), "--checkpoint-dir does not exist: make it");
  }
});

Deno.test("Host.resume() holds the file that it moves to while the run is under way", async () => {
  const files = new MemoryFiles();
  const { host, clock, model } = process("cli", ["D", { content: "Y", delayMs: 1000 }], files);
  await host.run({ ...RUN, checkpointPath: "mine.json" });
  const late = host.resume({ checkpoint: "mine.json", inputs: YES, checkpointPath: "o.json" });
  while (model.callCount < 2) await clock.advance(1);
  const other = process("cli", ["E"], files);
  assertEquals([word(await other.host.run(RUN)), other.model.callCount], ["busy", 0]);
  assertEquals((await clock.run(late)).object["status"], "done");
  assertEquals([...files.texts.keys()], ["/project/mine.json"]);
});
