import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { KitError } from "../../src/llm/mod.ts";
import { echoTool } from "../../src/patterns/builtin_tools.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { Kit, type KitOptions } from "../../src/patterns/kit.ts";
import { Router } from "../../src/patterns/router.ts";
import { manualPorts, MockProvider, type MockReply, mockToolCall } from "../../src/testing/mod.ts";

function open(script: readonly MockReply[], options: KitOptions = {}) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  return { ports, model, kit: new Kit(model, { ports, ...options }) };
}

Deno.test("Kit keeps the history of its turns, tools included", async () => {
  const { kit, model } = open([
    { toolCalls: [mockToolCall("echo", { text: "hi" })] },
    "done",
    "you said hi",
  ], { system: "Be brief" });
  await kit.turn("say hi", { tools: [echoTool] });
  const { value } = await kit.turn("what did you echo?");
  assertEquals(value, "you said hi");
  assertEquals(model.lastCall?.messages.map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  assertEquals(kit.messages.length, 7);
  assertEquals(kit.usage.llmCalls, 3);
});

Deno.test("W42 Kit runs turns that are called at once one after another and loses none", async () => {
  const { kit, ports } = open([{ content: "one", delayMs: 50 }, "two", "three"]);
  await ports.clock.run(Promise.all([kit.turn("1"), kit.turn("2"), kit.turn("3")]));
  assertEquals(kit.messages.map(({ content }) => content), ["1", "one", "2", "two", "3", "three"]);
});

Deno.test("Kit leaves its history as it was when a turn fails, and counts what it spent", async () => {
  const { kit } = open([{ toolCalls: [mockToolCall("echo", { text: "hi" })] }, "ok"]);
  const error = await assertRejects(
    () => kit.turn("a", { tools: [echoTool], maxRounds: 1 }),
    KitError,
  );
  assertEquals([error.code, kit.messages.length, kit.usage.llmCalls], ["max_rounds", 0, 1]);
  assertEquals((await kit.turn("b")).value, "ok");
});

Deno.test("Kit holds its budget over everything asked through it and its forks", async () => {
  const { kit, model } = open(["A", "A", "B", "C"], { budget: { maxCalls: 3 } });
  await kit.consensus("Q?", { numSamples: 2 });
  const fork = kit.fork();
  await fork.turn("hello");
  const error = await assertRejects(() => kit.structured("more"), KitError);
  assertEquals([error.code, model.callCount, kit.usage.llmCalls], ["budget", 3, 3]);
});

Deno.test("Kit forks go their own way", async () => {
  const { kit } = open(["one", "left", "right"]);
  await kit.turn("1");
  const fork = kit.fork();
  await kit.turn("L");
  await fork.turn("R");
  assertEquals(kit.messages.map(({ content }) => content), ["1", "one", "L", "left"]);
  assertEquals(fork.messages.map(({ content }) => content), ["1", "one", "R", "right"]);
});

Deno.test("W42b Kit runs every pattern on its account", async () => {
  const { kit } = open(["A", "r", "d", "{}", "m", "s", "p"]);
  await kit.consensus("Q?", { numSamples: 1 });
  await kit.react("Q?");
  await kit.refine("Q?", { evaluator: () => 1 });
  await kit.structured("Q?");
  await kit.mapReduce(["i"], { mapPrompt: "{item}", reducePrompt: "{mapped_outputs}" });
  await kit.pipe("Q?", {
    steps: [{
      run: ({ provider, options }, input) =>
        consensus(provider, input, { ...options, numSamples: 1 }),
    }],
  });
  assertEquals([kit.usage.llmCalls, kit.messages.length], [7, 0]);
});

Deno.test("Kit streams one answer and charges it", async () => {
  const { kit } = open(["a stream of words"]);
  const parts: string[] = [];
  for await (const part of kit.streamText("Q?")) parts.push(part);
  assertEquals([parts.join(""), kit.usage.llmCalls], ["a stream of words", 1]);
  assert(parts.length > 1);
});

Deno.test("Kit ends a stream at the deadline that it is given", async () => {
  const { kit, ports } = open([{ content: "a stream", delayMs: 1000 }]);
  const work = Array.fromAsync(kit.streamText("Q?", { deadlineMs: 100 }));
  const error = await assertRejects(() => ports.clock.run(work), KitError);
  assertEquals([error.code, ports.clock.monotonic()], ["budget", 100]);
});

Deno.test("Kit that ends aborts what is under way, waits for it, and refuses more", async () => {
  const { kit, model, ports } = open([{ content: "late", delayMs: 1000 }]);
  const waiting = assertRejects(() => kit.turn("a"), KitError);
  await ports.clock.advance(1);
  await kit[Symbol.asyncDispose]();
  assertEquals([(await waiting).code, model.inFlight, ports.clock.pending], ["aborted", 0, 0]);
  assertEquals((await assertRejects(() => kit.turn("b"), KitError)).code, "argument");
});

Deno.test("Kit closes its provider only where it is told to", async () => {
  let closed = 0;
  const provider = Object.assign(new MockProvider([]), {
    [Symbol.dispose]: () => {
      closed += 1;
    },
  });
  const { ports } = open([]);
  await new Kit(provider, { ports })[Symbol.asyncDispose]();
  assertEquals(closed, 0);
  await new Kit(provider, { ports, closeProvider: true })[Symbol.asyncDispose]();
  assertEquals(closed, 1);
});

Deno.test("W51 Kit shows messages that nobody can change", async () => {
  const { kit } = open(["A"]);
  await kit.turn("1");
  assert(Object.isFrozen(kit.messages[0]));
});

Deno.test("Router asks the first rule that matches, else the fallback", () => {
  const [a, b, c] = [new MockProvider([]), new MockProvider([]), new MockProvider([])];
  const router = new Router<{ vip: boolean }>([
    { name: "vip", provider: a, matches: (_prompt, context) => context?.vip === true },
    { name: "long", provider: b, matches: (prompt) => prompt.length > 5 },
  ], c);
  assertEquals(router.select("a long one", { vip: true }).rule, "vip");
  assert(router.select("a long one").provider === b);
  assertEquals(router.select("short"), { provider: c, rule: "fallback" });
});

Deno.test("Router takes nothing but true for a yes", () => {
  const router = new Router([
    { name: "odd", provider: new MockProvider([]), matches: () => "yes" as unknown as boolean },
  ], new MockProvider([]));
  assertEquals(router.select("x").rule, "fallback");
});

Deno.test("Router tells a rule that throws as code routing", () => {
  const router = new Router([{
    name: "bad",
    provider: new MockProvider([]),
    matches: () => {
      throw new Error("no");
    },
  }], new MockProvider([]));
  assertEquals(assertThrows(() => router.select("x"), KitError).code, "routing");
});

Deno.test("Router runs a pattern with the provider chosen, and traces the choice", async () => {
  const kinds: string[] = [];
  const chosen = new MockProvider(["A"]);
  const router = new Router(
    [{ name: "all", provider: chosen, matches: () => Boolean(1) }],
    new MockProvider([]),
  );
  const result = await router.run(
    (provider, prompt, options) => consensus(provider, prompt, { ...options, numSamples: 1 }),
    "Q?",
    {
      options: {
        ports: manualPorts(),
        trace: {
          write: (event) =>
            void kinds.push(event.kind === "route-select" ? event.route : event.kind),
        },
      },
    },
  );
  assertEquals([result.value, chosen.callCount], ["A", 1]);
  assert(kinds.includes("all"));
});

Deno.test("Router refuses two rules of one name", () => {
  const rule = { name: "a", provider: new MockProvider([]), matches: () => Boolean(1) };
  assertThrows(() => new Router([rule, rule], new MockProvider([])), KitError);
});
