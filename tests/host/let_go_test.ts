/** Files that cannot be marked or let go once the store has the end: the result and the handle are told all the same. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../../src/host/memory_store.ts";
import type { SuspensionStore } from "../../src/host/mod.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { ASKING, rig } from "./harness.ts";

const YES = { "decision.answer": "yes" };

/** Asks twice. */
const TWICE = ASKING
  .replace("then: ok, to: END", 'escalate: true, to: last, ask: "Again?", reply_to: decision.two')
  .concat("  last: { structure: s, prompt: q, output: final, gates: [ ")
  .concat("{ when: otherwise, then: ok, to: END } ] }\n");

/** A run that asks; its files fail from the moment that it is resumed and the model answered. */
function scene(door: "mcp" | "cli", failing: string) {
  const files = new MemoryFiles();
  const model = new MockProvider(["D", () => {
    files.failing = failing;
    return "F";
  }]);
  const made = rig({ door, model, files, checkpointDirectory: "/project" });
  return { ...made, run: { hitl: true, checkpointPath: "o.json" } };
}

for (const door of ["mcp", "cli"] as const) {
  for (const failing of ["/o.json", "/o.json.lock"]) {
    Deno.test(`Host.resume() at ${door} gives the outcome where ${failing} cannot be written any more`, async () => {
      const { host, files, log, run } = scene(door, failing);
      await host.run({ ...run, source: ASKING });
      const { object } = await host.resume({ checkpoint: "o.json", inputs: YES });
      assertEquals([object["status"], object["result"]], ["done", "F"]);
      assertStringIncludes(String(object["warnings"]), "could not be marked as spent");
      assertStringIncludes(log.join("\n"), "Permission denied");
      assertEquals([...files.texts.keys()], ["/project/o.json"]);
    });
  }
}

Deno.test("Host.resume() tells the new handle where the file that the run moved from cannot be marked", async () => {
  const { host, files, run } = scene("mcp", "/o.json");
  const first = await host.run({ ...run, source: TWICE });
  const checkpoint = String(first.object["checkpoint"]);
  const { object } = await host.resume({ checkpoint, inputs: YES, checkpointPath: "n.json" });
  assertEquals([object["status"], object["at"]], ["suspended", "last"]);
  assertStringIncludes(String(object["warnings"]), "could not be marked as spent");
  assertEquals([...files.texts.keys()].sort(), ["/project/n.json", "/project/o.json"]);
  const again = await host.resume({ checkpoint: String(object["checkpoint"]) });
  assertEquals([again.object["status"], again.object["at"]], ["suspended", "last"]);
});

/** A store that outlives the process, and cannot suspend. */
function unsuspending(clock: ManualClock): SuspensionStore {
  const kept = createMemoryStore({ clock, maxRuns: 10, maxOutcomes: 10 });
  return new Proxy(kept, {
    get(target, key): unknown {
      if (key === "durable") return true;
      if (key === "suspend") return () => Promise.reject(new Error("gone"));
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

Deno.test("a run that is dropped leaves no hold on its file, and names itself for a look", async () => {
  const clock = new ManualClock();
  const files = new MemoryFiles();
  const store = unsuspending(clock);
  const common = { clock, files, openStore: () => Promise.resolve(store) };
  const model = new MockProvider(["D"]);
  const { host } = rig({ ...common, model, door: "cli", checkpointDirectory: "/project" });
  const { object } = await host.run({ source: ASKING, hitl: true, checkpointPath: "o.json" });
  assertEquals([object["status"], object["error"]], ["halt", "interrupted"]);
  assertEquals([...files.texts.keys()], ["/project/o.json"]);
  const [left] = await host.runs();
  assertStringIncludes(String(object["warnings"]), `look at run "${left?.runId}"`);
});
