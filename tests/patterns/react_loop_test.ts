import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { KitError, type Message } from "../../src/llm/mod.ts";
import { ApprovalGate } from "../../src/patterns/approval.ts";
import { calculatorTool, echoTool } from "../../src/patterns/builtin_tools.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import type {
  ReactLoopOptions,
  ReactMetadata,
  ReactTool,
} from "../../src/patterns/react_options.ts";
import {
  manualPorts,
  MockProvider,
  type MockReply,
  type MockReplyParts,
  mockToolCall,
} from "../../src/testing/mod.ts";

const FREE: JsonObject = { type: "object", properties: {} };

function tool(name: string, execute: ReactTool["execute"], parameters = FREE): ReactTool {
  return { name, description: name, parameters, execute };
}

function calls(...names: (string | [name: string, args: JsonObject])[]): MockReplyParts {
  return {
    toolCalls: names.map((entry, index) => {
      const [name, args] = typeof entry === "string" ? [entry, {}] : entry;
      return mockToolCall(name, args, `c${index + 1}`);
    }),
  };
}

async function loop(script: readonly MockReply[], options: ReactLoopOptions = {}) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  const work = reactLoop(model, "Q?", { ports, ...options });
  return { model, ports, result: await ports.clock.run(work) };
}

async function failure(script: readonly MockReply[], options: ReactLoopOptions = {}) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock });
  const work = reactLoop(model, "Q?", { ports, ...options });
  const error = await assertRejects(() => ports.clock.run(work), KitError);
  return { error, model, ports, partial: error.partial as ReactMetadata };
}

function observations(
  messages: readonly Message[],
): { tool: string; ok: boolean; output: string }[] {
  return messages.flatMap((message) => message.role === "tool" ? JSON.parse(message.content) : []);
}

Deno.test("reactLoop() runs a tool and gives the answer after it", async () => {
  const { result, model } = await loop(
    [calls(["calculator", { expression: "17 * 83" }]), "1411"],
    { tools: [calculatorTool] },
  );
  assertEquals(result.value, "1411");
  assertEquals(result.usage.llmCalls, 2);
  assertEquals(result.metadata.rounds, 2);
  assertEquals(result.metadata.toolCallsMade, 1);
  assertEquals(result.metadata.terminationReason, "natural");
  assertEquals(model.calls[1]?.messages, [
    { role: "user", content: "Q?" },
    {
      role: "assistant",
      content: null,
      toolCalls: [mockToolCall("calculator", { expression: "17 * 83" }, "c1")],
    },
    { role: "tool", toolCallId: "c1", content: '{"tool":"calculator","ok":true,"output":"1411"}' },
  ]);
});

Deno.test("reactLoop() without tools asks once and offers none", async () => {
  const { result, model } = await loop(["hello"]);
  assertEquals([result.value, model.lastCall?.options.tools], ["hello", undefined]);
});

Deno.test("reactLoop() runs the tools of a round together and answers in the model's order", async () => {
  const ports = manualPorts();
  const slow = tool("slow", async (args) => {
    await ports.clock.sleep(Number(args["ms"]));
    return String(args["ms"]);
  });
  const model = new MockProvider([calls(["slow", { ms: 300 }], ["slow", { ms: 100 }]), "done"]);
  const result = await ports.clock.run(reactLoop(model, "Q?", { tools: [slow], ports }));
  assertEquals(observations(result.metadata.messages).map(({ output }) => output), ["300", "100"]);
  assertEquals(ports.clock.monotonic(), 300);
});

const refusals: [what: string, reply: MockReplyParts, output: string][] = [
  ["an unknown tool", calls("nope"), 'unknown tool "nope"; offered: echo'],
  [
    "a tool named like a member of every object",
    calls("constructor"),
    'unknown tool "constructor"; offered: echo',
  ],
  ["a missing argument", calls("echo"), "argument error: "],
  ["a number for a text", calls(["echo", { text: 5 }]), "argument error: /text"],
  ["a boolean for a text", calls(["echo", { text: true }]), "argument error: /text"],
  ["a surplus argument", calls(["echo", { text: "a", more: 1 }]), "argument error: "],
  [
    "W12 arguments that are no JSON",
    {
      toolCalls: [{
        kind: "invalid",
        id: "c1",
        name: "echo",
        rawArguments: "{",
        problem: "not JSON",
      }],
    },
    "argument error: not JSON; the tool was not run",
  ],
];
for (const [what, reply, output] of refusals) {
  Deno.test(`reactLoop() answers ${what} with an observation and does not run the tool`, async () => {
    const { result } = await loop([reply, "sorry"], { tools: [echoTool] });
    const [observation] = observations(result.metadata.messages);
    assertEquals(observation?.ok, Boolean(0));
    assertStringIncludes(observation?.output ?? "", output);
    assertEquals([result.metadata.toolCallsMade, result.metadata.failedToolCalls], [0, 1]);
  });
}

const unfitting: [what: string, n: JsonValue][] = [
  ["a text", "3"],
  ["a boolean", true],
  ["a fraction", 2.5],
];
for (const [what, n] of unfitting) {
  Deno.test(`W31 reactLoop() does not run a tool that wants an integer with ${what}`, async () => {
    let ran = 0;
    const parameters: JsonObject = { type: "object", properties: { n: { type: "integer" } } };
    const counting = tool("count", () => `${++ran}`, parameters);
    const { result } = await loop([calls(["count", { n }]), "sorry"], { tools: [counting] });
    assertStringIncludes(observations(result.metadata.messages)[0]?.output ?? "", "argument error");
    assertEquals([ran, result.metadata.toolCallsMade], [0, 0]);
  });
}

Deno.test("reactLoop() tells the class of what a tool throws and nothing else", async () => {
  const bad = tool("bad", () => {
    throw new TypeError("secret at /home/u key sk-123456789");
  });
  const { result } = await loop([calls("bad"), "ok"], { tools: [bad] });
  assertEquals(observations(result.metadata.messages)[0]?.output, "failed: TypeError");
  assertEquals([result.metadata.toolCallsMade, result.metadata.failedToolCalls], [1, 1]);
});

Deno.test("W63 reactLoop() leaves a tool behind that ignores its signal", async () => {
  const signals: AbortSignal[] = [];
  const stuck = tool("stuck", (_args, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const { result, ports } = await loop([calls("stuck"), "ok"], {
    tools: [stuck],
    toolTimeoutMs: 300,
  });
  assertEquals(observations(result.metadata.messages)[0]?.output, "timed out after 300 ms");
  assertEquals([signals[0]?.aborted, ports.clock.monotonic(), ports.clock.pending], [true, 300, 0]);
});

Deno.test("W63 reactLoop() does not take the late result of a tool that blocked the thread", async () => {
  const { clock, random } = manualPorts();
  let blocked = 0;
  const ports = {
    random,
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + blocked,
      sleep: (ms: number) => clock.sleep(ms),
      deadline: (ms: number) => clock.deadline(ms),
      local: (instant: number) => clock.local(instant),
    },
  };
  const busy = tool("busy", () => {
    blocked += 1000;
    return "late";
  });
  const model = new MockProvider([calls("busy"), "ok"]);
  const result = await reactLoop(model, "Q?", { tools: [busy], toolTimeoutMs: 100, ports });
  assertEquals(observations(result.metadata.messages)[0]?.output, "timed out after 100 ms");
});

Deno.test("W33 reactLoop() cuts observations, flags them and never cuts through a character", async () => {
  const long = tool("long", () => "\u{1f600}".repeat(7500));
  const { result } = await loop([calls("long"), "ok"], { tools: [long], maxObservationChars: 100 });
  const output = observations(result.metadata.messages)[0]?.output ?? "";
  assert(output.length <= 100 && output.endsWith("\u{1f600}\n[truncated]"), output);
  assertEquals(result.metadata.truncatedObservations, 1);
});

Deno.test("W33 reactLoop() does not flag an observation that ends like a cut one", async () => {
  const fake = tool("fake", () => "all of it\n[truncated]");
  const { result } = await loop([calls("fake"), "ok"], { tools: [fake] });
  assertEquals(result.metadata.truncatedObservations, 0);
});

Deno.test("reactLoop() flags a cut even below the length of the mark", async () => {
  const { result } = await loop([calls(["echo", { text: "0123456789" }]), "ok"], {
    tools: [echoTool],
    maxObservationChars: 5,
  });
  assertEquals(observations(result.metadata.messages)[0]?.output, "01234");
  assertEquals(result.metadata.truncatedObservations, 1);
});

Deno.test("reactLoop() shows what is no text as JSON", async () => {
  const { result } = await loop([calls("facts", "nothing"), "ok"], {
    tools: [tool("facts", () => ({ a: true })), tool("nothing", () => undefined)],
  });
  assertEquals(observations(result.metadata.messages).map(({ output }) => output), [
    '{"a":true}',
    "",
  ]);
});

Deno.test("reactLoop() refuses calls beyond the limit of a round and answers each", async () => {
  const { result } = await loop([calls("t", "t", "t"), "ok"], {
    tools: [tool("t", () => "1")],
    maxToolCallsPerRound: 2,
  });
  assertEquals(observations(result.metadata.messages).map(({ output }) => output), [
    "1",
    "1",
    "not run: 3 calls, at most 2 allowed",
  ]);
  assertEquals([result.metadata.toolCallsMade, result.metadata.rejectedToolCalls], [2, 1]);
});

Deno.test("reactLoop() asks for an answer once no more tools may run", async () => {
  const { result, model } = await loop([calls("t", "t"), "ok"], {
    tools: [tool("t", () => "1")],
    maxToolCalls: 2,
  });
  assertEquals(model.calls.map((call) => call.options.toolChoice), [undefined, "none"]);
  assertEquals(result.metadata.terminationReason, "max_tool_calls");
});

Deno.test("reactLoop() without an answer in time fails with the conversation so far", async () => {
  const script = [0, 1, 2].map((n) => calls(["t", { n }]));
  const { error, model, partial } = await failure(script, {
    tools: [tool("t", () => "1")],
    maxRounds: 3,
  });
  assertEquals([error.code, error.usage.llmCalls, partial.toolCallsMade], ["max_rounds", 3, 3]);
  assertEquals(model.calls.map((call) => call.options.toolChoice), [undefined, undefined, "none"]);
  assertEquals(partial.messages.length, 7);
});

Deno.test("reactLoop() goes on with the conversation of a loop that failed", async () => {
  const { partial } = await failure([calls("t")], { tools: [tool("t", () => "1")], maxRounds: 1 });
  const model = new MockProvider(["done"]);
  const result = await reactLoop(model, partial.messages, { ports: manualPorts() });
  assertEquals(result.value, "done");
  assertEquals(model.lastCall?.messages, partial.messages);
});

Deno.test("reactLoop() ends as stuck when the same calls bring the same results again and again", async () => {
  const script = Array.from({ length: 16 }, (_, index) => calls(index % 2 === 0 ? "a" : "b"));
  const { error, model } = await failure(script, {
    tools: [tool("a", () => "1"), tool("b", () => "2")],
    maxRounds: 50,
  });
  assertEquals([error.code, model.callCount], ["stuck", 6]);
});

Deno.test("reactLoop() takes a call repeated with another result for progress", async () => {
  let count = 0;
  const { result } = await loop([...Array.from({ length: 7 }, () => calls("poll")), "fin"], {
    tools: [tool("poll", () => count += 1)],
    maxRounds: 50,
  });
  assertEquals([result.value, result.metadata.toolCallsMade], ["fin", 7]);
});

Deno.test("reactLoop() with dedupeIdentical runs equal calls of a round once and answers each", async () => {
  let runs = 0;
  const { result } = await loop(
    [calls(["bump", { k: 1, j: 2 }], ["bump", { j: 2, k: 1 }]), "done"],
    {
      tools: [tool("bump", () => runs += 1)],
      dedupeIdentical: true,
    },
  );
  assertEquals([runs, result.metadata.toolCallsMade], [1, 1]);
  assertEquals(observations(result.metadata.messages).map(({ output }) => output), ["1", "1"]);
});

const endings: [
  finish: "length" | "refusal" | "stop",
  parts: MockReplyParts,
  reason: string,
  value: string,
][] = [
  ["length", { content: "half an ans" }, "truncated", "half an ans"],
  ["refusal", { refusal: "I will not" }, "refused", "I will not"],
  ["stop", { content: "yes" }, "natural", "yes"],
];
for (const [finishReason, parts, reason, value] of endings) {
  Deno.test(`reactLoop() tells that an answer with finish reason ${finishReason} is ${reason}`, async () => {
    const { result } = await loop([{ ...parts, finishReason }]);
    assertEquals([result.metadata.terminationReason, result.value], [reason, value]);
    assertEquals(result.metadata.truncatedResponses, finishReason === "length" ? 1 : 0);
  });
}

Deno.test("W34 reactLoop() asks nobody to approve a call that cannot run", async () => {
  const asked: string[] = [];
  const { result } = await loop([calls("nope", "echo", ["echo", { text: "hi" }]), "ok"], {
    tools: [echoTool],
    approvalGate: new ApprovalGate(({ subject, details }) => {
      asked.push(`${subject} ${JSON.stringify(details)}`);
      return { approved: false, reason: "not today" };
    }),
  });
  assertEquals(asked, ['echo {"text":"hi"}']);
  assertEquals(observations(result.metadata.messages)[2]?.output, "blocked by approval: not today");
  assertEquals([result.metadata.toolCallsMade, result.metadata.failedToolCalls], [0, 3]);
});

Deno.test("W22 W23 reactLoop() always shows the system message, the latest question and the latest results", async () => {
  const ports = manualPorts();
  const script = [0, 1, 2, 3].map((n) =>
    calls(["t", { n }], ["t", { n: n + 50 }], ["t", { n: n + 90 }])
  );
  const model = new MockProvider([...script, "done"]);
  const result = await reactLoop(model, [
    { role: "system", content: "S" },
    { role: "user", content: "old" },
    { role: "assistant", content: "old answer" },
    { role: "user", content: "new" },
  ], { tools: [tool("t", () => "1")], maxHistoryMessages: 4, ports });
  for (const { messages, index } of model.calls.slice(1)) {
    assertEquals(messages.slice(0, 2).map((message) => message.content), ["S", "new"]);
    assertEquals(messages.map((message) => message.role).slice(2), [
      "assistant",
      "tool",
      "tool",
      "tool",
    ]);
    assertEquals(messages[2], model.calls[index]?.messages[2] ?? messages[2]);
  }
  assertEquals(result.metadata.messages.length, 4 + 4 * 4 + 1);
  assertEquals(result.metadata.messagesTrimmed, 2 + 3 * 4);
});

Deno.test("W32 reactLoop() puts a summary in as data, and summarises each message once", async () => {
  const seen: number[] = [];
  const { model, result } = await loop([...[0, 1, 2, 3].map((n) => calls(["t", { n }])), "done"], {
    tools: [tool("t", () => "1")],
    maxHistoryMessages: 3,
    system: "S",
    summarizer: ({ dropped, previous }) => {
      seen.push(dropped.length);
      return `${previous ?? ""}<summary>${dropped.length}`;
    },
  });
  assertEquals(seen, [2, 2, 2]);
  const [system, summary, question] = model.lastCall?.messages ?? [];
  assertEquals([system?.role, summary?.role, question?.content], ["system", "user", "Q?"]);
  assertStringIncludes(
    String(summary?.content),
    "&lt;summary>2&lt;summary>2&lt;summary>2\n</summary-",
  );
  assert(result.metadata.summarized);
});

Deno.test("reactLoop() charges the summarizer's requests and survives its failure", async () => {
  const { result } = await loop([calls("t"), calls(["t", { n: 1 }]), "a summary", "done"], {
    tools: [tool("t", () => "1")],
    maxHistoryMessages: 2,
    summarizer: async ({ provider, dropped }) => (await provider.complete(dropped)).content,
  });
  assertEquals([result.value, result.usage.llmCalls], ["done", 4]);
  const failing = await loop([calls("t"), calls(["t", { n: 1 }]), "done"], {
    tools: [tool("t", () => "1")],
    maxHistoryMessages: 2,
    summarizer: () => Promise.reject(new Error("no")),
  });
  assertEquals([failing.result.value, failing.result.metadata.summarized], ["done", Boolean(0)]);
});

Deno.test("W2b reactLoop() past its budget tells the spending and keeps the conversation", async () => {
  const { error, partial } = await failure([calls("t"), calls("t")], {
    tools: [tool("t", () => "1")],
    budget: { maxCalls: 1 },
  });
  assertEquals([error.code, error.usage.llmCalls, partial.messages.length], ["budget", 1, 3]);
});

Deno.test("reactLoop() past its deadline ends tools too, with code budget", async () => {
  const stuck = tool("stuck", () => new Promise(() => {}));
  const { error, ports } = await failure([calls("stuck")], { tools: [stuck], deadlineMs: 100 });
  assertEquals([error.code, ports.clock.monotonic(), ports.clock.pending], ["budget", 100, 0]);
});

Deno.test("reactLoop() ends tools with the caller's signal", async () => {
  const controller = new AbortController();
  const stop = tool("stop", () => {
    controller.abort();
    return new Promise(() => {});
  });
  const { error, partial, ports } = await failure([calls("stop")], {
    tools: [stop],
    signal: controller.signal,
  });
  assertEquals([error.code, partial.rounds, ports.clock.pending], ["aborted", 1, 0]);
  assertEquals(partial.terminationReason, "aborted");
});

Deno.test("W35 reactLoop() is not changed by listeners, sinks and checkpoints that throw", async () => {
  function fail(): never {
    throw new Error("no");
  }
  const { result } = await loop([calls(["echo", { text: "a" }]), "ok"], {
    tools: [echoTool],
    onRound: fail,
    onCheckpoint: fail,
    trace: { write: fail },
  });
  assertEquals(observations(result.metadata.messages)[0], { tool: "echo", ok: true, output: "a" });
});

Deno.test("W49 reactLoop() stops at a failing checkpoint only where it is told to", async () => {
  const { error } = await failure([calls(["echo", { text: "a" }])], {
    tools: [echoTool],
    onCheckpoint: () => Promise.reject(new Error("disk full")),
    onCheckpointError: "throw",
  });
  assertEquals([error.code, error.message], [
    "pattern",
    "Cannot finish react_loop: Error: disk full",
  ]);
});

Deno.test("reactLoop() reports each round, that of the answer included", async () => {
  const rounds: [number, number, string[], number][] = [];
  await loop([calls(["echo", { text: "a" }]), "ok"], {
    tools: [echoTool],
    onRound: ({ round, maxRounds, toolNames, usage }) => {
      rounds.push([round, maxRounds, [...toolNames], usage.llmCalls]);
    },
  });
  assertEquals(rounds, [[1, 8, ["echo"], 1], [2, 8, [], 2]]);
});

Deno.test("reactLoop() gives a checkpoint after each round of tools", async () => {
  const rounds: [number, string[], number][] = [];
  await loop([calls(["echo", { text: "a" }]), "ok"], {
    tools: [echoTool],
    onCheckpoint: ({ round, toolNames, messages }) => {
      rounds.push([round, [...toolNames], messages.length]);
    },
  });
  assertEquals(rounds, [[0, ["echo"], 3]]);
});

Deno.test("reactLoop() gives a tool frozen arguments without a prototype to pollute", async () => {
  let prototype: unknown = "none";
  const look = tool("look", (args) => {
    prototype = Object.getPrototypeOf(args);
    assert(Object.isFrozen(args));
    return "ok";
  });
  await loop([calls(["look", JSON.parse('{"__proto__": {"polluted": true}}')]), "ok"], {
    tools: [look],
  });
  assertEquals(prototype, null);
  assertEquals(Object.hasOwn(Object.prototype, "polluted"), Boolean(0));
});

const wrongTools: [what: string, tools: ReactTool[]][] = [
  ["W31b two tools of one name", [echoTool, echoTool]],
  ["a name with a space", [tool("a b", () => "")]],
  ["parameters that are no object", [tool("a", () => "", { type: "string" })]],
  ["W31 a keyword nobody checks", [tool("a", () => "", { type: "object", $dynamicRef: "#x" })]],
];
for (const [what, tools] of wrongTools) {
  Deno.test(`reactLoop() refuses ${what} before anything is spent`, async () => {
    const { error, model } = await failure([], { tools });
    assertEquals([error.code, model.callCount], ["tool_definition", 0]);
  });
}

Deno.test("reactLoop() refuses tools where the provider does not take them", async () => {
  const model = new MockProvider([], { supportsTools: false });
  const error = await assertRejects(
    () => reactLoop(model, "Q?", { tools: [echoTool], ports: manualPorts() }),
    KitError,
  );
  assertEquals([error.code, model.callCount], ["argument", 0]);
});

const broken: [what: string, messages: Message[]][] = [
  ["an empty conversation", []],
  ["a result without its call", [{ role: "tool", toolCallId: "c1", content: "x" }]],
  ["a call without its result", [{
    role: "assistant",
    content: null,
    toolCalls: [mockToolCall("a")],
  }]],
];
for (const [what, messages] of broken) {
  Deno.test(`reactLoop() refuses to go on with ${what}`, async () => {
    const error = await assertRejects(
      () => reactLoop(new MockProvider([]), messages, { ports: manualPorts() }),
      KitError,
    );
    assertEquals(error.code, "argument");
  });
}

Deno.test("W51 reactLoop() neither changes nor shares the caller's messages", async () => {
  const messages: Message[] = [{ role: "user", content: "Q?" }];
  const result = await reactLoop(new MockProvider(["A"]), messages, { ports: manualPorts() });
  assertEquals(messages.length, 1);
  assert(!Object.isFrozen(messages[0]) && Object.isFrozen(result.metadata.messages[0]));
});

const ends: [what: string, options: ReactLoopOptions, told: [code: string, reason: string]][] = [
  ["out of rounds", { maxRounds: 1 }, ["max_rounds", "max_rounds"]],
  ["out of tool calls", { maxToolCalls: 1 }, ["max_rounds", "max_tool_calls"]],
  ["out of budget", { budget: { maxCalls: 1 } }, ["budget", "budget"]],
  ["past its deadline", { deadlineMs: 0 }, ["budget", "budget"]],
  ["stuck", { maxRepeatedRounds: 1 }, ["stuck", "failed"]],
  ["not approved in time", {
    approvalGate: new ApprovalGate(() => new Promise(() => {}), {
      timeoutMs: 10,
      onTimeout: "throw",
    }),
  }, ["approval_timeout", "failed"]],
];
for (const [what, options, [code, reason]] of ends) {
  Deno.test(`reactLoop() ${what} says why it ended in what it leaves`, async () => {
    const script = [calls("t"), calls("t"), calls("t")];
    const { error, partial } = await failure(script, { tools: [tool("t", () => "1")], ...options });
    assertEquals([error.code, partial.terminationReason], [code, reason]);
  });
}
