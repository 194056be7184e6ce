import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { validateSchema } from "../../src/json/mod.ts";
import type { Progress } from "../../src/mcp/mod.ts";
import { MockProvider, mockToolCall } from "../../src/testing/mod.ts";
import { object, texts, toolRig } from "./harness.ts";

const USAGE = { inputTokens: 5, outputTokens: 2, known: true };

function calculating() {
  return new MockProvider([
    { toolCalls: [mockToolCall("calculator", { expression: "17 * 83" })], usage: USAGE },
    { content: "It is 1411.", usage: USAGE },
  ]);
}

Deno.test("react_loop runs the calculator and says how it went", async () => {
  const seen: Progress[] = [];
  const { call, tools } = toolRig({ model: calculating() });
  const outcome = await call("react_loop", { prompt: "17*83?" }, {
    progress: (report) => seen.push(report),
  });
  assertEquals(
    texts(outcome)[0],
    "It is 1411.\n\nrounds: 2\ntool_calls_made: 1\ncost: input_tokens=10 output_tokens=4 llm_calls=2",
  );
  const given = object(outcome);
  assertEquals([given["termination_reason"], given["rounds"]], ["natural", 2]);
  assertEquals(await validateSchema(tools[1]?.outputSchema ?? {}, given), []);
  assertEquals(seen.map(({ message }) => message), [
    "round 1 of at most 5",
    "round 2 of at most 5",
  ]);
});

Deno.test("react_loop offers calculator and echo and nothing else", async () => {
  const model = calculating();
  await toolRig({ model }).call("react_loop", { prompt: "17*83?" });
  assertEquals(model.calls[0]?.options.tools?.map(({ name }) => name), ["calculator", "echo"]);
});

Deno.test("react_loop answers isError with rounds and spend when the model never ends", async () => {
  const again = (n: number) => ({
    toolCalls: [mockToolCall("echo", { text: `${n}` })],
    usage: USAGE,
  });
  const model = new MockProvider([again(1), again(2)]);
  const outcome = await toolRig({ model }).call("react_loop", { prompt: "?", max_rounds: 2 });
  assert(outcome.kind === "result" && outcome.isError);
  assertStringIncludes(texts(outcome)[0] ?? "", "Tool loop failed: ");
  assertStringIncludes(texts(outcome)[0] ?? "", "spent so far: 2 model calls, 14 tokens");
});
