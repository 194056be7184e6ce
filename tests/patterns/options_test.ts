/** What is wrong with how something is called is said before anything is spent. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { ConfigError, KitError, type LlmProvider } from "../../src/llm/mod.ts";
import { ApprovalGate } from "../../src/patterns/approval.ts";
import { consensusBatch, lookAtBatch, mapBatch } from "../../src/patterns/batches.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { runEvalSuite } from "../../src/patterns/evals.ts";
import { Kit } from "../../src/patterns/kit.ts";
import { mapReduce } from "../../src/patterns/map_reduce.ts";
import { pipe } from "../../src/patterns/pipe.ts";
import { Plan } from "../../src/patterns/plan.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import { refineLoop } from "../../src/patterns/refine_loop.ts";
import { Router } from "../../src/patterns/router.ts";
import { structured } from "../../src/patterns/structured.ts";
import { Workflow } from "../../src/patterns/workflow.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";

/** As a caller without types has it. */
// deno-lint-ignore no-explicit-any -- whatever is wrong with options is wrong for the compiler as well
type Loose = any;

const templates = { mapPrompt: "{item}", reducePrompt: "{mapped_outputs}" };
const endpoint = { apiKey: "correct-horse-1", model: "m" };
const ports = {
  ...manualPorts(),
  fetch: () => Promise.reject(new TypeError("nothing is to be sent")),
};

type Run = (provider: LlmProvider, options: Loose) => Promise<unknown>;

const runs: { readonly [name: string]: Run } = {
  consensus: (provider, options) => consensus(provider, "Q?", options),
  refineLoop: (provider, options) => refineLoop(provider, "Q?", options),
  reactLoop: (provider, options) => reactLoop(provider, "Q?", options),
  structured: (provider, options) => structured(provider, "Q?", options),
  mapReduce: (provider, options) => mapReduce(provider, ["a"], { ...templates, ...options }),
  pipe: (provider, options) => pipe(provider, "Q?", { steps: [], ...options }),
  workflow: (provider, options) =>
    new Workflow([{ name: "a", run: () => 1 }]).run(provider, {}, options),
  plan: (provider, options) =>
    new Plan([{ name: "a", instruction: "b", run: () => 1 }]).run(provider, {}, options),
  router: (provider, options) =>
    new Router([], provider).run(() => Promise.resolve(1), "Q?", { options }),
  kit: async (provider, options) => {
    await using kit = new Kit(provider, options);
    return kit.usage;
  },
  streamText: async (provider, options) => {
    await using kit = new Kit(provider, { ports });
    return await Array.fromAsync(kit.streamText("Q?", options));
  },
  consensusBatch: (_provider, options) => consensusBatch("Q?", { ...endpoint, ports, ...options }),
  mapBatch: (_provider, options) => mapBatch(["Q?"], { ...endpoint, ports, ...options }),
  runEvalSuite: (_provider, options) => runEvalSuite([], { clock: ports.clock, ...options }),
};

async function refusal(name: string, options: Loose): Promise<string> {
  const model = new MockProvider(["a"], { cycle: true });
  const run = runs[name];
  assert(run !== undefined);
  const error = await assertRejects(() => run(model, options), KitError);
  assertEquals([error.code, model.callCount, error.usage.llmCalls], ["argument", 0, 0]);
  assert(error instanceof ConfigError);
  return error.message;
}

for (const name of Object.keys(runs)) {
  Deno.test(`W40 ${name}() refuses an option that it does not have, and names it`, async () => {
    assertStringIncludes(await refusal(name, { qwertz: 1 }), '"qwertz"');
  });
}

const slips: [name: string, options: Loose, key: string, meant: string][] = [
  ["consensus", { num_samples: 3 }, "num_samples", "numSamples"],
  ["consensus", { numSample: 3 }, "numSample", "numSamples"],
  ["structured", { maxRetries: 1 }, "maxRetries", "maxRepairs"],
  ["refineLoop", { maxIteration: 1 }, "maxIteration", "maxIterations"],
  ["reactLoop", { maxRound: 1 }, "maxRound", "maxRounds"],
  ["mapReduce", { maxReduceChar: 1 }, "maxReduceChar", "maxReduceChars"],
  ["pipe", { budgets: {} }, "budgets", "budget"],
  ["workflow", { onSteps: () => {} }, "onSteps", "onStep"],
  ["consensusBatch", { batchID: "b" }, "batchID", "batchId"],
  ["mapBatch", { poll_ms: 1 }, "poll_ms", "pollMs"],
  ["runEvalSuite", { repeats: 3 }, "repeats", "repeat"],
  ["kit", { message: [] }, "message", "messages"],
  ["consensus", { budget: { maxCall: 1 } }, "maxCall", "maxCalls"],
  ["mapBatch", { budget: { maxCall: 1 } }, "maxCall", "maxCalls"],
  ["kit", { budget: { maxCall: 1 } }, "maxCall", "maxCalls"],
  ["consensus", { retry: { maxAttempt: 1 } }, "maxAttempt", "maxAttempts"],
  ["runEvalSuite", { limits: { maxCall: 1 } }, "maxCall", "maxCalls"],
];
for (const [name, options, key, meant] of slips) {
  Deno.test(`W40 ${name}() says that ${meant} may be meant by ${key}`, async () => {
    const message = await refusal(name, options);
    assertStringIncludes(message, `"${key}"`);
    assertStringIncludes(message, `did you mean "${meant}"`);
  });
}

const wrong: [name: string, options: Loose, said: string][] = [
  ["consensus", null, "options"],
  ["consensus", [], "options"],
  ["structured", "schema", "options"],
  ["consensus", { normalize: null }, "normalize"],
  ["consensus", { normalize: 3 }, "normalize"],
  ["consensus", { normalize: {} }, "normalize"],
  ["consensus", { normalize: { map: 3 } }, "normalize"],
  ["consensus", { normalize: { choice: "yes" } }, "normalize"],
  ["consensus", { normalize: { choice: ["yes", 3] } }, "normalize"],
  ["consensusBatch", { normalize: { map: 3 } }, "normalize"],
  ["consensus", { onSample: 3 }, "onSample"],
  ["consensus", { budget: null }, "budget"],
  ["consensus", { budget: 3 }, "budget"],
  ["consensus", { retry: 3 }, "retry"],
  ["consensus", { trace: () => {} }, "trace"],
  ["consensus", { signal: 3 }, "signal"],
  ["consensus", { system: 3 }, "system"],
  ["structured", { validator: 3 }, "validator"],
  ["structured", { schema: null }, "schema"],
  ["refineLoop", { evaluator: "judge" }, "evaluator"],
  ["refineLoop", { judge: {} }, "provider"],
  ["refineLoop", { onCheckpoint: 3 }, "onCheckpoint"],
  ["reactLoop", { summarizer: 3 }, "summarizer"],
  ["reactLoop", { tools: "calculator" }, "tools"],
  ["reactLoop", { approvalGate: () => true }, "approvalGate"],
  ["mapReduce", { onItem: 3 }, "onItem"],
  ["pipe", { steps: "one" }, "steps"],
  ["pipe", { steps: [{ run: 3 }] }, "run"],
  ["pipe", { steps: [null] }, "steps"],
  ["workflow", { onStep: 3 }, "onStep"],
  ["workflow", { approvalGate: {} }, "approvalGate"],
  ["runEvalSuite", { onCase: 3 }, "onCase"],
];
for (const [name, options, said] of wrong) {
  Deno.test(`${name}() refuses ${JSON.stringify(options)} (${said}) before anything is spent`, async () => {
    assertStringIncludes(await refusal(name, options), said);
  });
}

Deno.test("reactLoop() refuses a tool that does nothing", async () => {
  const tool = { name: "t", description: "t", parameters: { type: "object" } } as Loose;
  const run = () => reactLoop(new MockProvider([]), "Q?", { ports, tools: [tool] });
  assertEquals((await assertRejects(run, ConfigError)).code, "tool_definition");
});

Deno.test("refineLoop() refuses a checkpoint that is none", async () => {
  for (const resumeFrom of [null, "x", 3] as Loose[]) {
    const run = () => refineLoop(new MockProvider([]), "Q?", { ports, resumeFrom });
    assertEquals((await assertRejects(run, KitError)).code, "checkpoint");
  }
});

Deno.test("Workflow refuses a checkpoint that is none", async () => {
  for (const resumeFrom of [null, "x", 3] as Loose[]) {
    const work = new Workflow([{ name: "a", run: () => 1 }]);
    const run = () => work.run(new MockProvider([]), {}, { ports, resumeFrom });
    assertEquals((await assertRejects(run, KitError)).code, "checkpoint");
  }
});

Deno.test("Workflow and runEvalSuite() refuse steps and cases that do nothing", async () => {
  const steps = [{ name: "a" }] as Loose;
  assertEquals(assertThrows(() => new Workflow(steps), KitError).code, "workflow");
  for (const one of [{ name: "a", run: () => 1 }, undefined, null]) {
    const run = () => runEvalSuite([one] as Loose, { clock: ports.clock });
    assertEquals((await assertRejects(run, ConfigError)).code, "argument");
  }
});

Deno.test("patterns take options that are undefined, and those of a step", async () => {
  const model = new MockProvider(["a"], { cycle: true });
  await pipe(model, "Q?", {
    ports,
    steps: [{
      run: ({ provider, options }, input) =>
        consensus(provider, input, { ...options, numSamples: 1, qwertz: undefined } as Loose),
    }],
  });
  assertEquals(model.callCount, 1);
});

const made: [what: string, make: () => unknown][] = [
  ["a workflow of no list", () => new Workflow(null as Loose)],
  ["a router of no list", () => new Router("rules" as Loose, new MockProvider([]))],
  ["a router without a provider", () => new Router([], null as Loose)],
  ["a gate with an approver that cannot be asked", () => new ApprovalGate({} as Loose)],
  ["a gate without an approver", () => new ApprovalGate(undefined as Loose)],
];
for (const [what, make] of made) {
  Deno.test(`what composes patterns cannot be made as ${what}`, () => {
    assert(["argument", "workflow"].includes(assertThrows(make, KitError).code));
  });
}

const endpoints: Loose[] = [
  undefined,
  {},
  { apiKey: 3, model: "m" },
  { apiKey: "correct-horse-1" },
  { ...endpoint, pollMs: NaN },
  { ...endpoint, timeoutMs: -1 },
  { ...endpoint, modle: "m" },
];
for (const given of endpoints) {
  Deno.test(`lookAtBatch() refuses ${Deno.inspect(given)} as endpoint`, async () => {
    const looked = given === undefined ? given : { ports, ...given };
    await assertRejects(() => lookAtBatch("b", looked), ConfigError);
  });
}

Deno.test("consensusBatch() refuses a temperature that is none before it sends anything", async () => {
  const run = () => consensusBatch("Q?", { ...endpoint, ports, temperature: NaN });
  assertEquals((await assertRejects(run, ConfigError)).code, "argument");
});
