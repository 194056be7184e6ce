import { assert, assertEquals, assertRejects } from "@std/assert";
import { AbortedError, KitError, type LlmResponse, type Message } from "../../src/llm/mod.ts";
import { ManualClock, MockProvider, type MockReply, mockToolCall } from "../../src/testing/mod.ts";

const ASK: readonly Message[] = [{ role: "user", content: "12345678" }];

Deno.test("W52 MockProvider gives each reply once and fails when it is asked again", async () => {
  const model = new MockProvider(["a", "b"]);
  assertEquals((await model.complete(ASK)).content, "a");
  assertEquals(model.remaining, 1);
  assertEquals((await model.complete(ASK)).content, "b");
  const error = await assertRejects(() => model.complete(ASK), KitError);
  assertEquals(error.message, "MockProvider is overdrawn: request 3 of a script of 2");
  assertEquals([error.code, error.retryable, model.callCount, model.remaining], [
    "config",
    false,
    3,
    0,
  ]);
});

Deno.test("MockProvider starts over only where it is told to", async () => {
  const model = new MockProvider(["a", "b"], { cycle: true });
  const texts: string[] = [];
  for (let call = 0; call < 3; call += 1) texts.push((await model.complete(ASK)).content);
  assertEquals(texts, ["a", "b", "a"]);
});

const replies: [what: string, reply: MockReply, expected: Partial<LlmResponse>][] = [
  ["a text", "hello", { content: "hello", finishReason: "stop", toolCalls: [] }],
  ["parts", { content: "x", finishReason: "length" }, { content: "x", finishReason: "length" }],
  ["a tool call", { toolCalls: [mockToolCall("t")] }, {
    content: "",
    finishReason: "tool_calls",
    toolCalls: [{ kind: "ok", id: "call_1", name: "t", arguments: {} }],
  }],
  ["a function", ({ index, messages }) => `${index} ${messages.length}`, { content: "0 1" }],
  ["a function that promises parts", () => Promise.resolve({ content: "later" }), {
    content: "later",
  }],
];
for (const [what, reply, expected] of replies) {
  Deno.test(`MockProvider answers with ${what}`, async () => {
    const answer = await new MockProvider([reply]).complete(ASK);
    for (const [key, value] of Object.entries(expected)) {
      assertEquals(answer[key as keyof LlmResponse], value);
    }
  });
}

Deno.test("W52 MockProvider charges four characters a token where a reply names no usage", async () => {
  const model = new MockProvider(["12345678", { content: "x", usage: { outputTokens: 7 } }]);
  const length = JSON.stringify(ASK).length;
  const usage = { inputTokens: Math.ceil(length / 4), outputTokens: 2, known: true };
  assertEquals((await model.complete(ASK)).usage, usage);
  assertEquals((await model.complete(ASK)).usage, { ...usage, outputTokens: 7 });
});

Deno.test("MockProvider fails with the very error of its script", async () => {
  const error = new TypeError("as told");
  const thrown = await assertRejects(() => new MockProvider([error]).complete(ASK), TypeError);
  assert(thrown === error);
});

Deno.test("MockProvider keeps copies of what it was asked", async () => {
  const messages: { role: "user"; content: string }[] = [{ role: "user", content: "before" }];
  const model = new MockProvider(["a"]);
  await model.complete(messages, { temperature: 0.5, signal: new AbortController().signal });
  messages[0] = { role: "user", content: "after" };
  assertEquals(model.lastCall, {
    index: 0,
    messages: [{ role: "user", content: "before" }],
    options: { temperature: 0.5 },
  });
  assert(Object.isFrozen(model.lastCall?.messages[0]));
});

Deno.test("MockProvider counts the most requests under way at once", async () => {
  const clock = new ManualClock();
  const model = new MockProvider(Array(3).fill({ content: "a", delayMs: 5 }), { clock });
  await clock.run(Promise.all([model.complete(ASK), model.complete(ASK)]));
  await clock.run(model.complete(ASK));
  assertEquals([model.peakConcurrency, model.inFlight], [2, 0]);
});

Deno.test("MockProvider ends a delay with the signal", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const model = new MockProvider([{ content: "a", delayMs: 1000 }], { clock });
  const waiting = assertRejects(
    () => model.complete(ASK, { signal: controller.signal }),
    AbortedError,
  );
  await clock.advance(1);
  controller.abort();
  await waiting;
  assertEquals([model.inFlight, clock.pending], [0, 0]);
});

Deno.test("MockProvider streams a word at a time and ends with the whole answer", async () => {
  const kinds: string[] = [];
  for await (const event of new MockProvider(["one two three"]).stream(ASK)) {
    kinds.push(event.type === "text" ? event.text : event.type);
  }
  assertEquals(kinds, ["one ", "two ", "three", "done"]);
});
