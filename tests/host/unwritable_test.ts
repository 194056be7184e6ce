import { assertEquals, assertStringIncludes } from "@std/assert";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, rig } from "./harness.ts";

const YES = { "decision.answer": "yes" };

function scene(door: "mcp" | "cli") {
  const model = new MockProvider(["D", "F"]);
  const made = rig({ door, model, checkpointDirectory: "/project" });
  const request = { source: ASKING, hitl: true, checkpointPath: "c.json" };
  return { ...made, run: () => made.host.run(request) };
}

for (const door of ["mcp", "cli"] as const) {
  Deno.test(`Host.run() is refused where its checkpoint file cannot be held, at ${door}`, async () => {
    const { files, host, run } = scene(door);
    files.failing = ".lock";
    const { object, failure } = await run();
    assertEquals([object["error"], failure], ["prepare-failed", "checkpoint"]);
    assertStringIncludes(String(object["errors"]), "the checkpoint file cannot be used: ");
    assertEquals(await host.runs(), []);
  });
}

Deno.test("Host.resume() gives a claimed handle back where its checkpoint file cannot be held", async () => {
  const { files, host, run } = scene("mcp");
  const checkpoint = String((await run()).object["checkpoint"]);
  files.failing = ".lock";
  const refused = await host.resume({ checkpoint, inputs: YES });
  assertEquals(refused.object["error"], "prepare-failed");
  files.failing = undefined;
  assertEquals((await host.resume({ checkpoint, inputs: YES })).object["status"], "done");
});

Deno.test("Host.run() suspends behind its handle where the file beside it cannot be written", async () => {
  const { files, host, run } = scene("mcp");
  files.failing = "c.json";
  const { object } = await run();
  assertEquals([object["status"], object["error"]], ["suspended", "escalated"]);
  assertEquals(object["checkpoint_file"], undefined);
  assertStringIncludes(String(object["warnings"]), "the checkpoint file could not be written");
  assertEquals([...files.texts.keys()], []);
  files.failing = undefined;
  const resumed = await host.resume({ checkpoint: String(object["checkpoint"]), inputs: YES });
  assertEquals(resumed.object["status"], "done");
});

Deno.test("Host.run() leaves no run behind where the only file cannot be written", async () => {
  const { files, host, run } = scene("cli");
  files.failing = "c.json";
  const { object } = await run();
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assertEquals((await host.runs()).map(({ phase }) => phase), []);
  assertEquals([...files.texts.keys()], []);
});
