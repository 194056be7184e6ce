import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { KitError, LlmError } from "../../src/llm/mod.ts";
import { ApprovalGate } from "../../src/patterns/approval.ts";
import { createMemoryCheckpointStore } from "../../src/patterns/checkpoint_store.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { Plan } from "../../src/patterns/plan.ts";
import { Workflow } from "../../src/patterns/workflow.ts";
import type {
  WorkflowCheckpoint,
  WorkflowOptions,
  WorkflowStep,
} from "../../src/patterns/workflow_options.ts";
import { manualPorts, MockProvider, type MockReply } from "../../src/testing/mod.ts";

async function work(
  steps: readonly WorkflowStep[],
  options: WorkflowOptions = {},
  facts: { readonly script?: readonly MockReply[]; readonly input?: Record<string, unknown> } = {},
) {
  const ports = manualPorts();
  const model = new MockProvider(facts.script ?? [], { clock: ports.clock });
  const running = new Workflow(steps).run(model, facts.input ?? {}, { ports, ...options });
  return { ports, model, result: await ports.clock.run(running) };
}

function give(name: string, output: unknown, ...dependsOn: string[]): WorkflowStep {
  return { name, dependsOn, run: () => output };
}

Deno.test("Workflow gives each step what it depends on and nothing else", async () => {
  const seen: unknown[] = [];
  const { result } = await work(
    [
      {
        name: "c",
        dependsOn: ["b"],
        run: ({ outputs, input }) => {
          seen.push({ ...outputs }, { ...input });
          return null;
        },
      },
      give("b", { list: [1] }, "a"),
      give("a", 1),
    ],
    {},
    { input: { topic: "t" } },
  );
  assertEquals(seen, [{ b: { list: [1] } }, { topic: "t" }]);
  assertEquals(result.value, { a: 1, b: { list: [1] }, c: null });
  assertEquals(result.metadata.steps.map(({ name }) => name), ["a", "b", "c"]);
});

Deno.test("Workflow keeps the value of a pattern's result and counts its spending", async () => {
  const { result } = await work(
    [{
      name: "vote",
      run: ({ provider, options }) => consensus(provider, "Q?", { ...options, numSamples: 2 }),
    }],
    {},
    { script: ["A", "A"] },
  );
  assertEquals(result.value, { vote: "A" });
  assertEquals(result.usage.llmCalls, 2);
  assertEquals(result.metadata.steps[0]?.usage.llmCalls, 2);
});

Deno.test("W44 Workflow starts a step when its own dependencies are finished, not a level later", async () => {
  const ports = manualPorts();
  const starts: Record<string, number> = {};
  function timed(name: string, ms: number, ...dependsOn: string[]): WorkflowStep {
    return {
      name,
      dependsOn,
      run: async () => {
        starts[name] = ports.clock.monotonic();
        await ports.clock.sleep(ms);
      },
    };
  }
  const workflow = new Workflow([
    timed("slow", 500),
    timed("quick", 50),
    timed("next", 10, "quick"),
  ]);
  await ports.clock.run(workflow.run(new MockProvider([]), {}, { ports }));
  assertEquals(starts, { slow: 0, quick: 0, next: 50 });
});

Deno.test("Workflow keeps to maxConcurrency", async () => {
  const ports = manualPorts();
  let running = 0;
  let peak = 0;
  const steps = Array.from({ length: 20 }, (_, index): WorkflowStep => ({
    name: `s${index}`,
    run: async () => {
      peak = Math.max(peak, running += 1);
      await ports.clock.sleep(5);
      running -= 1;
    },
  }));
  const workflow = new Workflow(steps);
  await ports.clock.run(workflow.run(new MockProvider([]), {}, { ports, maxConcurrency: 3 }));
  assertEquals(peak, 3);
});

const shapes: [what: string, steps: WorkflowStep[], message: string][] = [
  ["no steps", [], "wanted from 1 to 10000 steps, found 0"],
  ["two steps of one name", [give("a", 1), give("a", 2)], 'two steps have the name "a"'],
  ["an unknown dependency", [give("a", 1, "b")], '"a" depends on "b", which is no step'],
  [
    "a step that waits for itself",
    [give("a", 1, "a")],
    'these steps wait for each other: "a" -> "a"',
  ],
  [
    "W44 a cycle behind other steps",
    [give("free", 1), give("a", 1, "c"), give("b", 1, "a", "free"), give("c", 1, "b")],
    'these steps wait for each other: "a" -> "c" -> "b" -> "a"',
  ],
];
for (const [what, steps, message] of shapes) {
  Deno.test(`Workflow refuses ${what} when it is made`, () => {
    const error = assertThrows(() => new Workflow(steps), KitError);
    assertEquals([error.code, error.message], ["workflow", `Cannot make the workflow: ${message}`]);
  });
}

Deno.test("W45 Workflow that fails keeps what its finished steps gave and spent", async () => {
  const error = await assertRejects(
    () =>
      work(
        [
          {
            name: "paid",
            run: ({ provider, options }) =>
              consensus(provider, "Q?", { ...options, numSamples: 1 }),
          },
          {
            name: "broken",
            dependsOn: ["paid"],
            run: () => {
              throw new RangeError("no");
            },
          },
        ],
        {},
        { script: ["A"] },
      ),
    KitError,
  );
  assertEquals([error.code, error.message], ["workflow", 'Step "broken" failed: RangeError: no']);
  assertEquals([error.usage.llmCalls, error.details["step"]], [1, "broken"]);
  assertEquals((error.partial as WorkflowCheckpoint).outputs, { paid: "A" });
});

Deno.test("Workflow ends the siblings of a step that failed and starts nothing more", async () => {
  const ports = manualPorts();
  const ended: string[] = [];
  const workflow = new Workflow([
    {
      name: "slow",
      run: async ({ signal }) => {
        try {
          await ports.clock.sleep(1000, { signal });
        } finally {
          ended.push("slow");
        }
      },
    },
    { name: "broken", run: () => Promise.reject(new LlmError("auth", "HTTP 401")) },
    { name: "later", dependsOn: ["slow"], run: () => ended.push("later") },
  ]);
  const error = await assertRejects(
    () => ports.clock.run(workflow.run(new MockProvider([]), {}, { ports })),
    KitError,
  );
  assertEquals([error.code, ended, ports.clock.monotonic(), ports.clock.pending], [
    "auth",
    ["slow"],
    0,
    0,
  ]);
});

Deno.test("W45 W49 Workflow hands out a checkpoint after each step, one at a time and in order", async () => {
  const kept: string[][] = [];
  let writing = 0;
  const ports = manualPorts();
  const workflow = new Workflow([give("a", 1), give("b", 2), give("c", 3, "a", "b")]);
  await ports.clock.run(workflow.run(new MockProvider([]), {}, {
    ports,
    onCheckpoint: async ({ outputs }) => {
      assertEquals(writing += 1, 1);
      await ports.clock.sleep(10);
      kept.push(Object.keys(outputs));
      writing -= 1;
    },
  }));
  assertEquals(kept.map((names) => names.length), [2, 2, 3]);
});

Deno.test("Workflow goes on from a checkpoint read back from JSON, and counts what was spent before", async () => {
  const kept: string[] = [];
  const runs: string[] = [];
  function step(name: string, ...dependsOn: string[]): WorkflowStep {
    return {
      name,
      dependsOn,
      run: ({ provider, options }) => {
        runs.push(name);
        return consensus(provider, name, { ...options, numSamples: 1 });
      },
    };
  }
  const steps = [step("a"), step("b", "a"), { ...step("never", "a"), when: () => runs.length > 9 }];
  await work(steps, {
    onCheckpoint: (checkpoint) => {
      kept.push(JSON.stringify(checkpoint));
    },
  }, { script: ["A", "B"] });
  const afterTwo = JSON.parse(kept.find((text) => text.includes('"skipped":["never"]')) ?? "");
  delete afterTwo.outputs.b;
  runs.length = 0;
  const { result } = await work(steps, { resumeFrom: afterTwo }, { script: ["B again"] });
  assertEquals(runs, ["b"]);
  assertEquals(result.value, { a: "A", b: "B again", never: null });
  assertEquals(result.metadata.steps.map(({ status }) => status), ["resumed", "resumed", "done"]);
  assertEquals(result.usage.llmCalls, afterTwo.usage.llmCalls + 1);
});

Deno.test("Workflow keeps its checkpoints in a store, goes on from there, and forgets at the end", async () => {
  const store = createMemoryCheckpointStore();
  let fails = Boolean(1);
  const steps: WorkflowStep[] = [give("a", 1), {
    name: "b",
    dependsOn: ["a"],
    run: () => {
      if (fails) throw new Error("down");
      return 2;
    },
  }];
  await assertRejects(() => work(steps, { checkpoints: { store, key: "run" } }), KitError);
  assert(await store.load("run") !== undefined);
  fails = Boolean(0);
  const { result } = await work(steps, { checkpoints: { store, key: "run" } });
  assertEquals(result.metadata.steps.map(({ name, status }) => [name, status]), [["a", "resumed"], [
    "b",
    "done",
  ]]);
  assertEquals(await store.load("run"), undefined);
});

async function checkpointOf(steps: readonly WorkflowStep[]): Promise<WorkflowCheckpoint> {
  let taken: WorkflowCheckpoint | undefined;
  await work(steps, {
    onCheckpoint: (checkpoint) => {
      taken = checkpoint;
    },
  });
  if (taken === undefined) throw new Error("no checkpoint");
  return taken;
}

const tampered: [what: string, change: Record<string, unknown>][] = [
  ["another version", { version: 2 }],
  ["a version as text", { version: "1" }],
  ["a digest of other steps", { workflowDigest: "00" }],
  ["a digest of another input", { inputDigest: "00" }],
  ["an output of no step", { outputs: { a: 1, b: 2, x: 3 } }],
  ["an output before that of its dependency", { outputs: { b: 2 } }],
  ["outputs as a list", { outputs: [] }],
  ["a skipped step that is not finished", { skipped: ["zz"] }],
  ["a negative count", {
    usage: { inputTokens: -5, outputTokens: 0, llmCalls: 0, uncertainTokens: 0 },
  }],
  ["a count that is true", {
    usage: { inputTokens: true, outputTokens: 0, llmCalls: 0, uncertainTokens: 0 },
  }],
];
for (const [what, change] of tampered) {
  Deno.test(`W46 Workflow refuses a checkpoint with ${what}`, async () => {
    const steps = [give("a", 1), give("b", 2, "a")];
    const checkpoint = await checkpointOf(steps);
    const resumeFrom = { ...checkpoint, ...change } as WorkflowCheckpoint;
    const error = await assertRejects(() => work(steps, { resumeFrom }), KitError);
    assertEquals(error.code, "checkpoint");
  });
}

Deno.test("W46 Workflow refuses the checkpoint of a workflow with other dependencies", async () => {
  const checkpoint = await checkpointOf([give("a", 1), give("b", 2, "a")]);
  const error = await assertRejects(
    () => work([give("a", 1), give("b", 2)], { resumeFrom: checkpoint }),
    KitError,
  );
  assertEquals(error.message, "Cannot resume the workflow: it is of a workflow with other steps");
});

Deno.test("W49 Workflow goes on when a checkpoint cannot be kept, unless told otherwise", async () => {
  const onCheckpoint = () => Promise.reject(new Error("disk full"));
  assertEquals((await work([give("a", 1)], { onCheckpoint })).result.value, { a: 1 });
  const error = await assertRejects(
    () => work([give("a", 1)], { onCheckpoint, onCheckpointError: "throw" }),
    KitError,
  );
  assert(error.message.includes("disk full"));
});

Deno.test("W47 Workflow gives parallel steps nothing that they could change for each other", async () => {
  const error = await assertRejects(
    () =>
      work(
        [{
          name: "a",
          run: ({ input }) => {
            (input["list"] as number[]).push(1);
          },
        }],
        {},
        { input: { list: [] } },
      ),
    KitError,
  );
  assertEquals(error.code, "workflow");
  const list: number[] = [];
  await work([give("a", 1)], {}, { input: { list } });
  assert(!Object.isFrozen(list));
});

const notJson: [what: string, output: unknown, pointer: string][] = [
  ["a date", { at: new Date(0) }, '/at" found Date'],
  ["NaN", [NaN], '/0" found NaN'],
  ["a member that is undefined", { a: undefined }, '/a" found undefined'],
  ["a function", () => 1, '" found function'],
];
for (const [what, output, pointer] of notJson) {
  Deno.test(`Workflow refuses an output with ${what}`, async () => {
    const error = await assertRejects(() => work([give("a", output)]), KitError);
    assertEquals(error.message, `Cannot keep the output: at "${pointer}, wanted JSON data`);
  });
}

Deno.test("Workflow ends a step whose time is over", async () => {
  const ports = manualPorts();
  const workflow = new Workflow([{ name: "a", timeoutMs: 50, run: () => new Promise(() => {}) }]);
  const error = await assertRejects(
    () => ports.clock.run(workflow.run(new MockProvider([]), {}, { ports })),
    KitError,
  );
  assertEquals([error.code, ports.clock.monotonic(), ports.clock.pending], ["timeout", 50, 0]);
});

Deno.test("Workflow repeats a step as often as it says and no oftener", async () => {
  let runs = 0;
  const flaky: WorkflowStep = {
    name: "a",
    maxAttempts: 3,
    run: () => {
      runs += 1;
      if (runs < 3) throw new Error("flaky");
      return runs;
    },
  };
  assertEquals((await work([flaky])).result.value, { a: 3 });
  runs = -9;
  await assertRejects(() => work([flaky]), KitError);
  assertEquals(runs, -6);
});

Deno.test("Workflow does not repeat a step over a spent budget", async () => {
  const { error, calls } = await (async () => {
    const ports = manualPorts();
    const model = new MockProvider(["A", "A"]);
    const workflow = new Workflow([{
      name: "a",
      maxAttempts: 5,
      run: ({ provider, options }) => consensus(provider, "Q?", { ...options, numSamples: 2 }),
    }]);
    const error = await assertRejects(
      () => workflow.run(model, {}, { ports, budget: { maxCalls: 1 } }),
      KitError,
    );
    return { error, calls: model.callCount };
  })();
  assertEquals([error.code, calls, error.usage.llmCalls], ["budget", 1, 1]);
});

Deno.test("Workflow ends at a step that is not approved", async () => {
  const asked: string[] = [];
  const approvalGate = new ApprovalGate(({ action, subject }) => {
    asked.push(`${action} ${subject}`);
    return { approved: subject === "a" };
  });
  const error = await assertRejects(
    () => work([give("a", 1), give("b", 2, "a"), give("c", 3, "b")], { approvalGate }),
    KitError,
  );
  assertEquals([error.code, asked], ["approval_denied", ["workflow_step a", "workflow_step b"]]);
});

Deno.test("Workflow ends with the caller's signal, whatever its reason", async () => {
  const controller = new AbortController();
  const error = await assertRejects(
    () =>
      work([{
        name: "a",
        run: () => {
          controller.abort("enough");
          return new Promise(() => {});
        },
      }], { signal: controller.signal }),
    KitError,
  );
  assertEquals(error.code, "aborted");
});

Deno.test("W47b Plan keeps its input apart from its outputs and tells which step failed", async () => {
  const ports = manualPorts();
  const plan = new Plan([
    { name: "x", instruction: "Double", run: ({ input }) => Number(input["x"]) * 2 },
    {
      name: "y",
      instruction: "Fail",
      run: ({ outputs, input, instruction }) => {
        throw new Error(`${instruction} ${input["x"]} ${outputs["x"]}`);
      },
    },
  ]);
  const error = await assertRejects(
    () => plan.run(new MockProvider([]), { x: 1 }, { ports }),
    KitError,
  );
  assertEquals([error.message, error.details["step"]], ['Step "y" failed: Error: Fail 1 2', "y"]);
});

Deno.test("Plan asks for the approval of plan_step with the instruction", async () => {
  const ports = manualPorts();
  let details: unknown;
  const plan = new Plan([{ name: "a", instruction: "Do it", run: () => 1 }]);
  await plan.run(new MockProvider([]), {}, {
    ports,
    approvalGate: new ApprovalGate((request) => {
      details = [request.action, request.details];
      return { approved: true };
    }),
  });
  assertEquals(details, ["plan_step", {
    input: {},
    outputs: {},
    metadata: { instruction: "Do it" },
  }]);
});
