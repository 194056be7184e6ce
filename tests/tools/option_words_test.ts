/** No text of a tool names an option of the library: a client knows its own arguments alone. */
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { LlmError } from "../../src/llm/mod.ts";
import { MockProvider, type MockReply, mockToolCall } from "../../src/testing/mod.ts";
import { PLAIN, type RigOptions } from "../host/harness.ts";
import { texts, toolRig } from "./harness.ts";

const CAMEL_CASE = /\b(?:max|min|num|cost|deadline|timeout|checkpoint|wait|on)[A-Z]\w*/;
const MANY: readonly MockReply[] = Array.from({ length: 9 }, (_, i) => ({
  content: "thinking",
  toolCalls: [mockToolCall("calculator", { expression: `${i}+1` })],
}));

const failing: readonly (readonly [what: string, tool: string, args: JsonObject, RigOptions])[] = [
  ["too few rounds", "react_loop", { prompt: "Q?", max_rounds: 2 }, {}],
  ["no calls left", "react_loop", { prompt: "Q?" }, { limits: { maxProcessCalls: 1 } }],
  ["no tokens left", "react_loop", { prompt: "Q?" }, { limits: { maxCallTokens: 1 } }],
  ["no calls left", "consensus", { prompt: "Q?", n: 3 }, { limits: { maxProcessCalls: 1 } }],
  ["no tokens left", "consensus", { prompt: "Q?", n: 3 }, { limits: { maxProcessTokens: 1 } }],
  ["no calls left", "run", { source: PLAIN }, { limits: { maxProcessCalls: 0 } }],
  ["no tokens left", "run", { source: PLAIN }, { limits: { maxProcessTokens: 1 } }],
  ["a budget of none", "run", { source: PLAIN, cost_budget: 0 }, {}],
  ["a budget of none", "resume", { run: "r", cost_budget: 0, wait_seconds: -1 }, {}],
  ["a policy of no name", "run", { source: PLAIN, on_truncate: "x", on_untrusted_flow: "y" }, {}],
];
for (const [what, tool, args, options] of failing) {
  Deno.test(`${tool} names no option of the library where there are ${what}`, async () => {
    const model = new MockProvider(MANY, { supportsTools: true });
    const said = texts(await toolRig({ model, ...options }).call(tool, args)).join("\n");
    assert(/error|failed|halt/i.test(said), said);
    assertEquals(CAMEL_CASE.exec(said)?.[0], undefined, said);
  });
}

Deno.test("consensus names no option of the library where the endpoint fails", async () => {
  const refused = new LlmError("bad_request", "status 400");
  const model = new MockProvider([refused, refused, refused]);
  const said = texts(await toolRig({ model }).call("consensus", { prompt: "Q?", n: 3 })).join("\n");
  assertEquals(CAMEL_CASE.exec(said)?.[0], undefined, said);
});
