import { assert, assertEquals } from "@std/assert";
import { MockProvider } from "../../src/testing/mod.ts";
import { createTools } from "../../src/tools/mod.ts";
import { traced } from "../../src/tools/telemetry.ts";
import { rig } from "../host/harness.ts";
import { object, toolRig } from "./harness.ts";

Deno.test("traced() leaves a tool alone where telemetry is off", () => {
  const { host } = rig();
  const [tool] = createTools(host);
  assert(tool !== undefined && traced(tool, host) === tool);
});

Deno.test("traced() changes no result, of a vote or of a machine", async () => {
  const on = { env: { OTEL_DENO: "true" } };
  const { call } = toolRig({ ...on, model: new MockProvider(["a", "a", "a", "R"]) });
  assertEquals(object(await call("consensus", { prompt: "?" }))["value"], "a");
  const source = "machine: m\nentry: a\nbudget: 1\nstates:\n" +
    "  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }\n";
  assertEquals(object(await call("run", { source }))["result"], "R");
  const failed = await toolRig(on).call("consensus", { prompt: "?" });
  assert(failed.kind === "result" && failed.isError);
});
