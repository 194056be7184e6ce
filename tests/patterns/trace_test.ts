import { assert, assertEquals } from "@std/assert";
import {
  callModel,
  createLedger,
  type Ledger,
  LlmError,
  type LlmProvider,
  streamModel,
  type TraceEvent,
  type TraceSink,
} from "../../src/llm/mod.ts";
import { ApprovalGate } from "../../src/patterns/approval.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import type { PatternOptions } from "../../src/patterns/options.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import type { ReactTool } from "../../src/patterns/react_options.ts";
import { refineLoop } from "../../src/patterns/refine_loop.ts";
import { Router } from "../../src/patterns/router.ts";
import { Workflow } from "../../src/patterns/workflow.ts";
import { createFailoverProvider } from "../../src/providers/mod.ts";
import { manualPorts, MockProvider, type MockReply, mockToolCall } from "../../src/testing/mod.ts";

const SECRET = "the secret of the prompt";
const QUESTION = [{ role: "user", content: "Q?" }] as const;

function tool(name: string, execute: ReactTool["execute"]): ReactTool {
  return { name, description: name, parameters: { type: "object" }, execute };
}

function call(name: string, args = {}): MockReply {
  return { toolCalls: [mockToolCall(name, args)] };
}

const retryable = new LlmError("server", "HTTP 500", { retryable: true });

type Run = (model: MockProvider, options: PatternOptions) => Promise<unknown>;

const runs: [what: string, script: MockReply[], run: Run][] = [
  [
    "a vote with a failed and an aborted sample",
    [
      { content: SECRET, delayMs: 5 },
      new LlmError("bad_request", "HTTP 400"),
      { content: SECRET, delayMs: 900 },
    ],
    (model, options) => consensus(model, SECRET, { ...options, numSamples: 3, onError: "strict" }),
  ],
  [
    "a call that is retried",
    [retryable, SECRET],
    (model, options) => consensus(model, SECRET, { ...options, numSamples: 1 }),
  ],
  ["a loop with good, failing, late, denied and unknown tools", [
    call("good"),
    call("bad"),
    call("late"),
    call("denied", { text: SECRET }),
    call("nope"),
    SECRET,
  ], (model, options) =>
    reactLoop(model, SECRET, {
      ...options,
      toolTimeoutMs: 50,
      approvalGate: new ApprovalGate(({ subject }) => ({ approved: subject !== "denied" })),
      tools: [
        tool("good", () => SECRET),
        tool("bad", () => Promise.reject(new Error(SECRET))),
        tool("late", () => new Promise(() => {})),
        tool("denied", () => SECRET),
      ],
    })],
  [
    "a refinement",
    ["draft", "7", "draft", "9"],
    (model, options) => refineLoop(model, SECRET, options),
  ],
  ["a pipe", [SECRET, SECRET], (model, options) =>
    pipe(model, SECRET, {
      ...options,
      steps: Array.from({ length: 2 }, () => ({
        run: (context, input) =>
          consensus(context.provider, input, { ...context.options, numSamples: 1 }),
      })),
    })],
  [
    "a workflow whose step fails beside others",
    [{ content: SECRET, delayMs: 500 }],
    (model, options) =>
      new Workflow([
        {
          name: "slow",
          run: (step) => consensus(step.provider, SECRET, { ...step.options, numSamples: 1 }),
        },
        { name: "broken", run: () => Promise.reject(new Error("no")) },
      ]).run(model, {}, options),
  ],
];

async function trace(
  script: readonly MockReply[],
  run: Run,
  captureContent?: NonNullable<TraceSink["captureContent"]>,
): Promise<TraceEvent[]> {
  const ports = manualPorts();
  const events: TraceEvent[] = [];
  const sink: TraceSink = {
    write: (event) => void events.push(event),
    ...(captureContent === undefined ? {} : { captureContent }),
  };
  const model = new MockProvider(script, { clock: ports.clock });
  await ports.clock.run(run(model, { ports, trace: sink }).catch(() => {}));
  return events;
}

for (const [what, script, run] of runs) {
  Deno.test(`W35b the trace of ${what} ends every span once, below its own`, async () => {
    const events = await trace(script, run);
    const starts = events.filter(({ kind }) => kind.endsWith("-start"));
    const ends = events.filter(({ kind }) => kind.endsWith("-end"));
    const ids = starts.map(({ spanId }) => spanId);
    assert(starts.length > 1);
    assertEquals(new Set(ids).size, ids.length);
    assertEquals(ends.map(({ spanId }) => spanId).toSorted(), ids.toSorted());
    assertEquals(new Set(events.map(({ traceId }) => traceId)).size, 1);
    assertEquals(starts.filter(({ parentSpanId }) => parentSpanId === undefined).length, 1);
    assert(
      starts.every(({ parentSpanId }) => parentSpanId === undefined || ids.includes(parentSpanId)),
    );
  });

  Deno.test(`W35b the trace of ${what} has no text of prompts, answers and tools unless it is asked for`, async () => {
    assert(!JSON.stringify(await trace(script, run)).includes(SECRET));
  });
}

Deno.test("W35b a trace that is asked for texts has them, a redacted one the names of arguments", async () => {
  const script: MockReply[] = [call("good", { text: SECRET }), "done"];
  const run: Run = (model, options) =>
    reactLoop(model, "Q?", { ...options, tools: [tool("good", () => "seen")] });
  const full = await trace(script, run, "full");
  assert(JSON.stringify(full).includes(SECRET) && JSON.stringify(full).includes("seen"));
  const redacted = await trace(script, run, "redacted");
  const start = redacted.find((event) => event.kind === "tool-call-start");
  assertEquals(start?.kind === "tool-call-start" && start.arguments, '{"text":"[redacted]"}');
  const end = redacted.find((event) => event.kind === "tool-call-end");
  assert(end?.kind === "tool-call-end" && end.output === undefined);
});

Deno.test("W35b the trace tells attempts, approvals and how long things took", async () => {
  const retried = await trace(
    [retryable, SECRET],
    (model, options) => consensus(model, "Q?", { ...options, numSamples: 1 }),
  );
  assertEquals(retried.filter(({ kind }) => kind === "llm-attempt").length, 2);
  const end = retried.find((event) => event.kind === "llm-call-end");
  assert(end?.kind === "llm-call-end" && end.durationMs >= 0 && end.attempts === 2);
  const asked = await trace([call("t"), "ok"], (model, options) =>
    reactLoop(model, "Q?", {
      ...options,
      tools: [tool("t", () => "x")],
      approvalGate: ApprovalGate.denyAll("no"),
    }));
  const decided = asked.find((event) => event.kind === "approval-decide");
  assert(decided?.kind === "approval-decide" && !decided.approved && decided.reason === "no");
  const blocked = asked.find((event) => event.kind === "tool-call-end");
  assert(blocked?.kind === "tool-call-end" && blocked.blocked === true);
});

const asking: [what: string, run: Run, spent: number][] = [
  ["a pipe", (model, options) =>
    pipe(model, "Q?", {
      ...options,
      steps: [{
        run: ({ provider, options: own }, input) =>
          consensus(provider, input, { ...own, numSamples: 1 }),
      }],
    }), 2],
  ["a pipe that hands on the provider alone", (model, options) =>
    pipe(model, "Q?", {
      ...options,
      steps: [{
        run: ({ provider }, input) =>
          consensus(provider, input, { ports: manualPorts(), numSamples: 1 }),
      }],
    }), 2],
  ["a workflow", (model, options) =>
    new Workflow([{
      name: "ask",
      run: (step) => consensus(step.provider, "Q?", { ...step.options, numSamples: 1 }),
    }]).run(model, {}, options), 2],
  ["a pipe in a workflow", (model, options) =>
    new Workflow([{
      name: "ask",
      run: (step) =>
        pipe(step.provider, "Q?", {
          ...step.options,
          steps: [{
            run: ({ provider, options: own }, input) =>
              consensus(provider, input, { ...own, numSamples: 1 }),
          }],
        }),
    }]).run(model, {}, options), 2],
  ["a router", (model, options) =>
    new Router([], model).run(
      (provider, prompt, own) => consensus(provider, prompt, { ...own, numSamples: 1 }),
      "Q?",
      { options },
    ), 2],
  ["a step that fails over", (model, options) =>
    pipe(model, "Q?", {
      ...options,
      steps: [{
        run: ({ provider, options: own }, input) => {
          const down = new MockProvider([new LlmError("overloaded", "HTTP 529")]);
          const both = createFailoverProvider([down, provider], { ports: manualPorts() });
          return consensus(both, input, { ...own, numSamples: 1 });
        },
      }],
    }), 3],
];
for (const [what, run, spent] of asking) {
  Deno.test(`a request in ${what} is traced once, its retries within it`, async () => {
    const events = await trace([retryable, SECRET], run);
    assertEquals(events.filter(({ kind }) => kind === "llm-call-start").length, 1);
    const ends = events.filter((event) => event.kind === "llm-call-end");
    const [end] = ends;
    assert(ends.length === 1 && end?.kind === "llm-call-end" && end.status === "ok");
    assertEquals(end.usage.llmCalls, spent);
    const attempts = events.filter(({ kind }) => kind === "llm-attempt");
    assert(attempts.length >= 2 && attempts.every(({ spanId }) => spanId === end.spanId));
  });
}

Deno.test("a request that a step makes by itself, or through an untraced call, is traced once", async () => {
  const question = [{ role: "user", content: "Q?" }] as const;
  const events = await trace([SECRET, SECRET], (model, options) =>
    new Workflow([{
      name: "ask",
      run: async ({ provider, options: { ledger = createLedger() } }) => {
        await provider.complete(question);
        await callModel(provider, question, { ledger, ports: manualPorts() });
        return null;
      },
    }]).run(model, {}, options));
  const step = events.find(({ kind }) => kind === "step-start");
  const calls = events.filter(({ kind }) => kind === "llm-call-start");
  assertEquals(calls.map(({ parentSpanId }) => parentSpanId), [step?.spanId, step?.spanId]);
});

const twice: [what: string, ask: (provider: LlmProvider, ledger: Ledger) => Promise<unknown>][] = [
  ["asks", (provider, ledger) => provider.complete(QUESTION, { ledger })],
  ["streams", async (provider, ledger) => {
    for await (const _part of provider.stream?.(QUESTION, { ledger }) ?? []);
  }],
];
for (const [how, ask] of twice) {
  Deno.test(`a provider that ${how} twice for one call is traced twice, each time with what it spent`, async () => {
    const events = await trace(["a", "b"], (model, options) =>
      new Workflow([{
        name: "ask",
        run: async ({ provider, options: own }) => {
          const both: LlmProvider = {
            metersItself: true,
            complete: async (_messages, { ledger = createLedger() } = {}) => {
              await ask(provider, ledger);
              return await provider.complete(QUESTION, { ledger });
            },
          };
          return await consensus(both, "Q?", { ...own, numSamples: 1 });
        },
      }]).run(model, {}, options));
    const starts = events.filter(({ kind }) => kind === "llm-call-start");
    const attempts = events.filter(({ kind }) => kind === "llm-attempt");
    const ends = events.filter((event) => event.kind === "llm-call-end");
    assertEquals(new Set(starts.map(({ spanId }) => spanId)).size, 2);
    assertEquals(attempts.map(({ spanId }) => spanId), ends.map(({ spanId }) => spanId));
    assertEquals(ends.map(({ status, usage }) => [status, usage.llmCalls]), [["ok", 1], ["ok", 1]]);
  });
}

Deno.test("two untraced calls within a traced one tell of themselves in its span", async () => {
  const events = await trace(["a", "b"], (model, options) =>
    new Workflow([{
      name: "ask",
      run: async ({ provider, options: own }) => {
        const both: LlmProvider = {
          metersItself: true,
          complete: async (_messages, { ledger = createLedger() } = {}) => {
            const ports = manualPorts();
            await callModel(provider, QUESTION, { ledger, ports });
            return await callModel(provider, QUESTION, { ledger, ports });
          },
        };
        return await consensus(both, "Q?", { ...own, numSamples: 1 });
      },
    }]).run(model, {}, options));
  const attempts = events.filter(({ kind }) => kind === "llm-attempt");
  const ends = events.filter((event) => event.kind === "llm-call-end");
  assertEquals(ends.map(({ usage }) => usage.llmCalls), [2]);
  assert(attempts.length >= 2 && attempts.every(({ spanId }) => spanId === ends[0]?.spanId));
});

Deno.test("what a step of a workflow does is traced below the step", async () => {
  const events = await trace(["a"], (model, options) =>
    new Workflow([{
      name: "ask",
      run: (step) => consensus(step.provider, "Q?", { ...step.options, numSamples: 1 }),
    }]).run(model, {}, options));
  const starts = events.filter(({ kind }) => kind.endsWith("-start"));
  assertEquals(starts.map(({ kind }) => kind), [
    "pattern-start",
    "step-start",
    "pattern-start",
    "llm-call-start",
  ]);
  assertEquals(
    starts.map(({ parentSpanId }) => starts.findIndex(({ spanId }) => spanId === parentSpanId)),
    [-1, 0, 1, 2],
  );
});

Deno.test("a stream that a step leaves is traced once, with what it spent", async () => {
  const events = await trace(["one two three"], (model, options) =>
    new Workflow([{
      name: "ask",
      run: async ({ provider, options: own }) => {
        const { ledger = createLedger(), ...rest } = own;
        const question = [{ role: "user", content: "Q?" }] as const;
        for await (const _part of streamModel(provider, question, { ...rest, ledger })) break;
        return null;
      },
    }]).run(model, {}, options));
  const ends = events.filter((event) => event.kind === "llm-call-end");
  const [end] = ends;
  assert(ends.length === 1 && end?.kind === "llm-call-end" && end.status === "abandoned");
  assertEquals(end.usage.llmCalls, 1);
  assert(end.usage.outputTokens + (end.usage.uncertainTokens ?? 0) > 0);
});

Deno.test("a pattern that is traced in a composition that is not begins a trace of its own", async () => {
  const ports = manualPorts();
  const events: TraceEvent[] = [];
  const sink: TraceSink = { write: (event) => void events.push(event) };
  await pipe(new MockProvider(["a"]), "Q?", {
    ports,
    steps: [{
      run: ({ provider, options }, input) =>
        consensus(provider, input, { ...options, numSamples: 1, trace: sink }),
    }],
  });
  const [first, call] = events;
  assert(first !== undefined && call?.kind === "llm-call-start");
  assertEquals([first.parentSpanId, call.parentSpanId], [undefined, first.spanId]);
  assert(!/^0+$/.test(first.traceId));
});
