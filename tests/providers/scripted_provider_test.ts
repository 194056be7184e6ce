import { assert, assertEquals, assertRejects } from "@std/assert";
import { LlmError, type Message } from "../../src/llm/mod.ts";
import { createScriptedProvider } from "../../src/providers/mod.ts";
import { testProvider } from "../contracts/provider.ts";

testProvider("createScriptedProvider()", (behaviour) => {
  if (behaviour === "hang") return undefined;
  return { provider: createScriptedProvider({ script: { produce: ["Hello there"] } }) };
});

const ask = (content: string): readonly Message[] => [{ role: "user", content }];
const JUDGE: readonly Message[] = [
  { role: "system", content: 'Reply with {"choice": k} and nothing else' },
  { role: "user", content: "CONDITIONS\n1. it is short\n2. it is long\n3. none of the above" },
];

Deno.test("every answer says that no model was asked", async () => {
  const response = await createScriptedProvider().complete(ask("x"));
  assertEquals([response.model, response.warnings], [
    "scripted",
    ["The answer is scripted: no model was asked"],
  ]);
});

Deno.test("a list is played in order, then ok", async () => {
  const provider = createScriptedProvider({ script: { produce: ["a", { b: 1 }] } });
  const said = [];
  for (let n = 0; n < 3; n += 1) said.push((await provider.complete(ask("x"))).content);
  assertEquals(said, ["a", '{"b":1}', "ok"]);
});

Deno.test("a mapping answers by what the prompt has in it, and refuses what it does not know", async () => {
  const provider = createScriptedProvider({ script: { produce: { France: "Paris" } } });
  assertEquals((await provider.complete(ask("Capital of France?"))).content, "Paris");
  const error = await assertRejects(() => provider.complete(ask("Spain?")), LlmError);
  assertEquals([error.code, error.retryable], ["bad_request", false]);
});

const judged: [what: string, judge: readonly (number | string)[] | undefined, said: string[]][] = [
  ["the first condition without a script", undefined, ["1", "1"]],
  ["the picks of the script, the last one for ever", [1, "none"], ["2", "3", "3"]],
  ["the last condition where the script has no picks", [], ["2"]],
];
for (const [what, judge, said] of judged) {
  Deno.test(`a judge picks ${what}`, async () => {
    const provider = createScriptedProvider(judge === undefined ? {} : { script: { judge } });
    const replies = [];
    for (const _ of said) replies.push((await provider.complete(JUDGE)).content);
    assertEquals(replies, said.map((choice) => `{"choice": ${choice}}`));
  });
}

Deno.test("without a script the same prompt gets the same short answer", async () => {
  const provider = createScriptedProvider();
  const [first, second] = [
    await provider.complete(ask("Why is the sky blue?")),
    await provider.complete(ask("Why is the sky blue?")),
  ];
  assertEquals(first.content, "Scripted answer to: Why is the sky blue?");
  assertEquals(first, second);
});

Deno.test("the marks around data are left out of an answer made of the prompt", async () => {
  const prompt = "Greet <data-dff3a0b1c2d3>\nAnn\n</data-dff3a0b1c2d3>";
  const { content } = await createScriptedProvider().complete(ask(prompt));
  assertEquals(content, "Scripted answer to: Greet Ann");
});

const CALCULATOR = { name: "calculator", description: "x", parameters: { type: "object" } };
const ECHO = { name: "echo", description: "x", parameters: { type: "object" } };

Deno.test("without a script a calculation goes to the calculator, and its result is the answer", async () => {
  const provider = createScriptedProvider();
  const messages = ask("What is 17 * 83?");
  const { toolCalls } = await provider.complete(messages, { tools: [CALCULATOR] });
  const [call] = toolCalls;
  assert(call?.kind === "ok");
  assertEquals([call.name, call.arguments], ["calculator", { expression: "17 * 83" }]);
  const answered: readonly Message[] = [
    ...messages,
    { role: "assistant", content: null, toolCalls },
    {
      role: "tool",
      toolCallId: call.id,
      content: '{"tool":"calculator","ok":true,"output":"1411"}',
    },
  ];
  const final = await provider.complete(answered, { tools: [CALCULATOR] });
  assertEquals([final.content, final.toolCalls.length], ["The tool says 1411.", 0]);
});

Deno.test("without a script a quoted text goes to echo", async () => {
  const { toolCalls } = await createScriptedProvider().complete(ask('Echo "good morning"'), {
    tools: [CALCULATOR, ECHO],
  });
  const [call] = toolCalls;
  assert(call?.kind === "ok");
  assertEquals([call.name, call.arguments], ["echo", { text: "good morning" }]);
});

Deno.test("a tool is not called where the caller wants none", async () => {
  const { toolCalls } = await createScriptedProvider().complete(ask("2 + 2"), {
    tools: [CALCULATOR],
    toolChoice: "none",
  });
  assertEquals(toolCalls, []);
});
