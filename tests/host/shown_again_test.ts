import { assertEquals, assertFalse } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, rig, type RigOptions } from "./harness.ts";

/** Members by which the places differ, not the suspension. */
function apart({ checkpoint: _handle, checkpoint_file: _file, ...rest }: JsonObject): JsonObject {
  return rest;
}

async function suspended(options: RigOptions, checkpointPath?: string) {
  const made = rig({
    model: new MockProvider(["D"]),
    checkpointDirectory: "/project",
    files: { "/project/m.mk": ASKING, "/project/machines/other.mk": ASKING },
    ...options,
  });
  const named = checkpointPath === undefined ? {} : { checkpointPath };
  const { object } = await made.host.run({ path: "m.mk", hitl: true, ...named });
  assertEquals([object["status"], object["provider"]], ["suspended", "test"]);
  return { ...made, first: object };
}

const places: readonly (readonly [what: string, door: "mcp" | "cli", file: string | undefined])[] =
  [
    ["over MCP by its handle", "mcp", undefined],
    ["over MCP by its file", "mcp", "c.json"],
    ["at the command line by its file", "cli", "c.json"],
  ];
for (const [what, door, file] of places) {
  Deno.test(`Host.resume() without inputs shows a suspension as it was first shown, ${what}`, async () => {
    const { first, host } = await suspended({ door }, file);
    const { object } = await host.resume({ checkpoint: file ?? String(first["checkpoint"]) });
    assertEquals(apart(object), apart(first));
  });
}

for (const door of ["mcp", "cli"] as const) {
  Deno.test(`Host.resume() leaves out what a file of the reference does not say, at ${door}`, async () => {
    const { files, first, host } = await suspended({ door }, "c.json");
    const whole = JSON.parse(files.text("c.json") ?? "");
    const { metadata: _metadata, run_id: _run, fingerprint: _print, digest: _digest, ...plain } =
      whole;
    files.put("c.json", JSON.stringify(plain));
    const { object } = await host.resume({ checkpoint: "c.json" });
    assertFalse("provider" in object);
    assertFalse("run" in object);
    const { provider: _provider, run: _first, ...rest } = apart(first);
    assertEquals(apart(object), rest);
  });
}

Deno.test("Host.resume() leaves a checkpoint file alone that is of another run by now", async () => {
  const model = new MockProvider(["D", "E", "first", "second"]);
  const { host, files } = rig({ model, checkpointDirectory: "/project" });
  const request = { source: ASKING, hitl: true, checkpointPath: "c.json" };
  const inputs = { "decision.answer": "yes" };
  const first = (await host.run(request)).object;
  files.texts.delete("/project/c.json");
  await host.run(request);
  const { object } = await host.resume({ checkpoint: String(first["checkpoint"]), inputs });
  assertEquals(object["result"], "first");
  assertEquals((await host.resume({ checkpoint: "c.json", inputs })).object["result"], "second");
});

Deno.test("Host.resume() goes on by its handle though another run has spent the file", async () => {
  const model = new MockProvider(["D", "E", "second", "first"]);
  const { host, files } = rig({ model, checkpointDirectory: "/project" });
  const request = { source: ASKING, hitl: true, checkpointPath: "c.json" };
  const inputs = { "decision.answer": "yes" };
  const first = (await host.run(request)).object;
  files.texts.delete("/project/c.json");
  await host.run(request);
  await host.resume({ checkpoint: "c.json", inputs });
  const { object } = await host.resume({ checkpoint: String(first["checkpoint"]), inputs });
  assertEquals(object["result"], "first");
});

Deno.test("Host.resume() by the file spends the handle of the same suspension, and says so", async () => {
  const model = new MockProvider(["D", "Y"]);
  const { host } = rig({ model, checkpointDirectory: "/project" });
  const first = (await host.run({ source: ASKING, hitl: true, checkpointPath: "c.json" })).object;
  const inputs = { "decision.answer": "yes" };
  assertEquals((await host.resume({ checkpoint: "c.json", inputs })).object["status"], "done");
  const { object } = await host.resume({ checkpoint: String(first["checkpoint"]), inputs });
  assertEquals([object["error"], object["run"]], ["already-resumed", first["run"]]);
});
