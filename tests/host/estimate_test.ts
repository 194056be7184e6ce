/** A count of tokens that the endpoint did not give is marked, also after a suspension. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Emitted } from "../../src/host/mod.ts";
import { isJsonObject, type JsonValue } from "../../src/json/mod.ts";
import { MockProvider, type MockReply } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, PLAIN, rig } from "./harness.ts";

const YES = { "decision.answer": "yes" };

/** An answer of an endpoint that sends no `usage`. */
function uncounted(content: string): MockReply {
  return { content, usage: { known: false } };
}

function isEstimated({ object }: Emitted): JsonValue | undefined {
  const { usage = null } = object;
  return isJsonObject(usage) ? usage["estimated"] : undefined;
}

function estimates({ object }: Emitted): readonly string[] {
  const { warnings } = object;
  const all = Array.isArray(warnings) ? warnings.map(String) : [];
  return all.filter((warning) => warning.includes("estimated"));
}

Deno.test("Host.run() says that its count is estimated where the endpoint gave none", async () => {
  const { host } = rig({ model: new MockProvider([uncounted("A")]) });
  const done = await host.run({ source: PLAIN });
  assertEquals([done.object["result"], isEstimated(done)], ["A", true]);
  assertEquals(estimates(done).length, 1);
  assertMatch(
    String(estimates(done)),
    /^about \d+ of the tokens in usage are estimated: the endpoint gave no count$/,
  );
  assertStringIncludes(done.text, "warning: about ");
});

Deno.test("Host.run() says nothing of estimates where every answer had a count", async () => {
  const { host } = rig({ model: new MockProvider(["A"]) });
  const done = await host.run({ source: PLAIN });
  assertEquals([isEstimated(done), estimates(done)], [undefined, []]);
});

Deno.test("Host.resume() by a handle remembers that the first part of the count was estimated", async () => {
  const { host } = rig({ model: new MockProvider([uncounted("D"), "Y"]) });
  const suspended = await host.run({ source: ASKING, hitl: true });
  const checkpoint = String(suspended.object["checkpoint"]);
  const shown = await host.resume({ checkpoint });
  const done = await host.resume({ checkpoint, inputs: YES });
  const seen = await host.resume({ run: String(suspended.object["run"]) });
  const all = [suspended, shown, done, seen];
  assertEquals(all.map(isEstimated), [true, true, true, true]);
  assertEquals(new Set(all.map((one) => String(estimates(one)))).size, 1);
  assertEquals(done.object["result"], "Y");
});

Deno.test("Host.resume() by a file remembers it in another process", async () => {
  const files = new MemoryFiles();
  const door = "cli";
  const first = rig({ door, files, model: new MockProvider([uncounted("D")]) });
  const request = { source: ASKING, hitl: true, checkpointPath: "o.json" };
  const suspended = await first.host.run(request);
  const second = rig({ door, files, model: new MockProvider([uncounted("Y")]), seed: 2 });
  const shown = await second.host.resume({ checkpoint: "o.json" });
  assertEquals([isEstimated(shown), estimates(shown)], [true, estimates(suspended)]);
  const done = await second.host.resume({ checkpoint: "o.json", inputs: YES });
  const { usage } = done.object;
  const { input_tokens = 0, output_tokens = 0 } = isJsonObject(usage) ? usage : {};
  const whole = Number(input_tokens) + Number(output_tokens);
  assertStringIncludes(String(estimates(done)), `about ${whole} of the tokens`);
});

Deno.test("Host.resume() marks a count whose second part alone is estimated", async () => {
  const { host } = rig({ model: new MockProvider(["D", uncounted("Y")]) });
  const suspended = await host.run({ source: ASKING, hitl: true });
  const checkpoint = String(suspended.object["checkpoint"]);
  const done = await host.resume({ checkpoint, inputs: YES });
  assertEquals([isEstimated(suspended), isEstimated(done)], [undefined, true]);
});
