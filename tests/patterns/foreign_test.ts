/** What callers bring into patterns: their errors, their values, their stores. */
import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { KitError } from "../../src/llm/mod.ts";
import { ApprovalGate } from "../../src/patterns/approval.ts";
import {
  type CheckpointStore,
  createMemoryCheckpointStore,
} from "../../src/patterns/checkpoint_store.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { runEvalSuite } from "../../src/patterns/evals.ts";
import { Kit } from "../../src/patterns/kit.ts";
import { mapReduce } from "../../src/patterns/map_reduce.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import { refineLoop } from "../../src/patterns/refine_loop.ts";
import { structured } from "../../src/patterns/structured.ts";
import { Workflow } from "../../src/patterns/workflow.ts";
import {
  type ManualPorts,
  manualPorts,
  MockProvider,
  mockToolCall,
} from "../../src/testing/mod.ts";

const KEY = "sk-proj-0123456789abcdef";

/** Everything that can be read in what a pattern gives or throws, the original cause excepted. */
type Way = (fail: () => never, ports: ManualPorts) => Promise<unknown>;

const ways: [what: string, run: Way][] = [
  [
    "a step of a pipe",
    (fail, ports) => pipe(new MockProvider([]), "Go", { ports, steps: [{ run: fail }] }),
  ],
  [
    "a step of a workflow",
    (fail, ports) =>
      new Workflow([{ name: "a", run: fail }]).run(new MockProvider([]), {}, { ports }),
  ],
  [
    "a condition of a workflow",
    (fail, ports) =>
      new Workflow([{ name: "a", when: fail, run: () => 1 }]).run(new MockProvider([]), {}, {
        ports,
      }),
  ],
  [
    "an evaluator",
    (fail, ports) => refineLoop(new MockProvider(["draft"]), "Write", { ports, evaluator: fail }),
  ],
  ["an evaluator of a second draft", (fail, ports) => {
    let drafts = 0;
    const evaluator = () => drafts++ === 0 ? 0.5 : fail();
    return refineLoop(new MockProvider(["one", "two"]), "Write", { ports, evaluator });
  }],
  [
    "a case of a suite",
    (fail, ports) =>
      runEvalSuite([{ name: "a", run: fail, check: () => true }], { clock: ports.clock }),
  ],
  [
    "a tool",
    (fail, ports) =>
      reactLoop(new MockProvider([{ toolCalls: [mockToolCall("t")] }, "done"]), "Go", {
        ports,
        tools: [{ name: "t", description: "", parameters: { type: "object" }, execute: fail }],
      }),
  ],
];

async function outcomeOf(run: Way, fail: () => never): Promise<unknown> {
  const ports = manualPorts();
  try {
    return await ports.clock.run(run(fail, ports));
  } catch (error) {
    assert(error instanceof KitError, `foreign: ${Deno.inspect(error)}`);
    const { code, message, details, partial } = error;
    return { code, message, details, partial };
  }
}

for (const [what, run] of ways) {
  Deno.test(`the text of what ${what} throws is shown with secrets masked`, async () => {
    const seen = await outcomeOf(run, () => {
      throw new Error(`cannot log in with ${KEY} ${"x".repeat(5000)}`);
    });
    const text = JSON.stringify(seen);
    assertFalse(text.includes(KEY), text);
    assert(text.length < 3000, `${text.length} characters of a foreign text`);
  });

  Deno.test(`${what} may throw what has no text at all`, async () => {
    await outcomeOf(run, () => {
      throw Object.create(null);
    });
  });
}

class Handle {
  uses = 0;
}

Deno.test("W51 pipe() freezes data and leaves alone what is not data", async () => {
  const ports = manualPorts();
  const handle = new Handle();
  const value = { bytes: new Uint8Array([1, 2]), handle, list: [1] };
  const result = await pipe(new MockProvider([]), "Go", {
    ports,
    steps: [{
      run: () =>
        Promise.resolve({
          value,
          usage: { inputTokens: 0, outputTokens: 0, llmCalls: 0, uncertainTokens: 0 },
          metadata: {},
        }),
      select: () => "x",
    }],
  });
  handle.uses += 1;
  assertEquals([result.value, handle.uses], [value, 1]);
  assert(Object.isFrozen(value.list));
});

const bad = (): Promise<never> => Promise.reject(new Error(`disk is full, ${KEY}`));
const good = createMemoryCheckpointStore();
const stores: [what: string, store: CheckpointStore][] = [
  ["save()", { ...good, save: bad }],
  ["remove()", { ...good, remove: bad }],
];
for (const [what, store] of stores) {
  Deno.test(`W49 Workflow gives its result although the store fails in ${what}`, async () => {
    const { value } = await new Workflow([{ name: "a", run: () => 1 }])
      .run(new MockProvider([]), {}, { ports: manualPorts(), checkpoints: { store, key: "k" } });
    assertEquals(value, { a: 1 });
  });

  Deno.test(`W49 Workflow fails with the store in ${what} where that is wanted`, async () => {
    const error = await assertRejects(
      () =>
        new Workflow([{ name: "a", run: () => 1 }]).run(new MockProvider([]), {}, {
          ports: manualPorts(),
          checkpoints: { store, key: "k" },
          onCheckpointError: "throw",
        }),
      KitError,
    );
    assertEquals(error.code, "checkpoint");
    assertFalse(error.message.includes(KEY));
  });
}

Deno.test("W46 Workflow that cannot read its checkpoint runs nothing and says why", async () => {
  let ran = 0;
  const store = { ...good, load: bad };
  const error = await assertRejects(
    () =>
      new Workflow([{ name: "a", run: () => ++ran }])
        .run(new MockProvider([]), {}, { ports: manualPorts(), checkpoints: { store, key: "k" } }),
    KitError,
  );
  assertEquals([error.code, ran], ["checkpoint", 0]);
});

const listening: [what: string, run: (listener: () => Promise<never>) => Promise<unknown>][] = [
  [
    "consensus() onSample",
    (onSample) =>
      consensus(new MockProvider(["A"]), "Q?", { numSamples: 1, ports: manualPorts(), onSample }),
  ],
  [
    "consensus() trace",
    (write) =>
      consensus(new MockProvider(["A"]), "Q?", {
        numSamples: 1,
        ports: manualPorts(),
        trace: { write },
      }),
  ],
  [
    "reactLoop() onRound",
    (onRound) => reactLoop(new MockProvider(["A"]), "Q?", { ports: manualPorts(), onRound }),
  ],
  ["mapReduce() onItem", (onItem) =>
    mapReduce(new MockProvider(["A", "B"]), ["a"], {
      ports: manualPorts(),
      mapPrompt: "{item}",
      reducePrompt: "{mapped_outputs}",
      onItem,
    })],
  ["Workflow onStep", (onStep) =>
    new Workflow([{ name: "a", run: () => 1 }])
      .run(new MockProvider([]), {}, { ports: manualPorts(), onStep })],
  [
    "runEvalSuite() onCase",
    (onCase) =>
      runEvalSuite([{ name: "a", run: () => 1, check: () => true }], {
        clock: manualPorts().clock,
        onCase,
      }),
  ],
];
for (const [what, run] of listening) {
  Deno.test(`W35 ${what} that rejects changes nothing and leaves nothing unhandled`, async () => {
    let told = 0;
    await run(async () => {
      told += 1;
      await Promise.resolve();
      throw new Error("listener");
    });
    assert(told > 0);
  });
}

// deno-lint-ignore no-explicit-any -- what JavaScript lets a caller hand in
type Anything = any;

const notProviders: [what: string, provider: Anything][] = [
  ["nothing", undefined],
  ["an object without complete()", {}],
  ["a text", "gpt"],
];
const askers: [name: string, run: (provider: Anything) => Promise<unknown>][] = [
  ["consensus", (provider) => consensus(provider, "Q?")],
  ["consensus of several", (provider) => consensus([new MockProvider([]), provider], "Q?")],
  ["reactLoop", (provider) => reactLoop(provider, "Q?")],
  ["refineLoop", (provider) => refineLoop(provider, "Q?")],
  ["structured", (provider) => structured(provider, "Q?")],
  [
    "mapReduce",
    (provider) =>
      mapReduce(provider, [], { mapPrompt: "{item}", reducePrompt: "{mapped_outputs}" }),
  ],
  ["pipe", (provider) => pipe(provider, "Q?", { steps: [] })],
  ["Workflow", (provider) => new Workflow([{ name: "a", run: () => 1 }]).run(provider)],
  ["Kit", (provider) => Promise.try(() => new Kit(provider, { ports: manualPorts() }))],
];
for (const [name, run] of askers) {
  for (const [what, provider] of notProviders) {
    Deno.test(`${name} refuses ${what} for a provider, before anything else`, async () => {
      const error = await assertRejects(() => run(provider), KitError);
      assertEquals(error.code, "argument");
      assert(error.message.includes("complete"), error.message);
    });
  }
}

for (const input of [5, null, { role: "user" }] as Anything[]) {
  Deno.test(`reactLoop() refuses ${JSON.stringify(input)} for a conversation`, async () => {
    const error = await assertRejects(
      () => reactLoop(new MockProvider([]), input, { ports: manualPorts() }),
      KitError,
    );
    assertEquals(error.code, "argument");
  });
}

for (const timeoutMs of [0, -1, Number.NaN, Infinity, "5"] as Anything[]) {
  Deno.test(`reactLoop() refuses a tool whose timeoutMs is ${timeoutMs}`, async () => {
    const tool = { name: "t", description: "", parameters: { type: "object" }, execute: () => "" };
    const error = await assertRejects(
      () =>
        reactLoop(new MockProvider([]), "Q?", {
          ports: manualPorts(),
          tools: [{ ...tool, timeoutMs }],
        }),
      KitError,
    );
    assertEquals(error.code, "tool_definition");
  });

  Deno.test(`ApprovalGate refuses a timeoutMs of ${timeoutMs}`, () => {
    const error = assertThrows(
      () => new ApprovalGate(() => ({ approved: true }), { timeoutMs }),
      KitError,
    );
    assertEquals(error.code, "argument");
  });
}
