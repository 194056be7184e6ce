import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CompleteOptions,
  createLedger,
  type FinishReason,
  LlmError,
  type LlmProvider,
  type LlmResponse,
  type Message,
} from "../../src/llm/mod.ts";
import {
  createModelOracle,
  type JudgeRequest,
  type ProduceRequest,
  RefusalError,
  runMachine,
} from "../../src/machine/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";
import { oneState } from "./support/running.ts";

interface Asked {
  readonly messages: readonly Message[];
  readonly options: CompleteOptions;
}

/** A provider that answers from a list and keeps what it was asked. */
function providerOf(
  answers: readonly (Partial<LlmResponse> | Error)[],
  facts: Partial<LlmProvider> = {},
): LlmProvider & { readonly asked: Asked[] } {
  const left = [...answers];
  const asked: Asked[] = [];
  return {
    name: "openai",
    model: "mid",
    ...facts,
    asked,
    complete(messages, options = {}) {
      asked.push({ messages, options });
      const answer = left.shift();
      if (answer === undefined) throw new Error("asked once too often");
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({
        content: "",
        toolCalls: [],
        finishReason: "stop" as FinishReason,
        usage: { inputTokens: 5, outputTokens: 2, known: true },
        warnings: [],
        ...answer,
      });
    },
  };
}

const PRODUCE: ProduceRequest = {
  machine: "m",
  state: "a",
  depth: 0,
  path: "a",
  system: "S",
  user: "U",
  tier: "balanced",
  temperature: 0.4,
  reason: false,
  signal: new AbortController().signal,
};
const JUDGE: JudgeRequest = {
  machine: "m",
  state: "a",
  depth: 0,
  path: "a",
  conditions: ["it is red", "it is blue"],
  output: "red",
  context: {},
  tier: "balanced",
  signal: new AbortController().signal,
};
const ports = manualPorts();

Deno.test("createModelOracle() asks the tier's model with system and user message, temperature and 4096 tokens", async () => {
  const balanced = providerOf([{ content: " hello \n" }]);
  const produced = await createModelOracle({ tiers: { balanced }, ports }).produce(PRODUCE);
  assertEquals([produced.text, produced.tokens], ["hello", { input: 5, output: 2 }]);
  assertEquals(balanced.asked[0]?.messages, [
    { role: "system", content: "S" },
    { role: "user", content: "U" },
  ]);
  assertEquals(balanced.asked[0]?.options.temperature, 0.4);
  assertEquals(balanced.asked[0]?.options.maxTokens, 4096);
});

Deno.test("createModelOracle() sends a tier's parameters with texts, not with judgements", async () => {
  const balanced = providerOf([{ content: "x" }, { content: '{"choice": 1}' }]);
  const oracle = createModelOracle({
    tiers: { balanced },
    params: { balanced: { max_tokens: 77, seed: 5, stop: ["."], reasoning_effort: "high" } },
    ports,
  });
  await oracle.produce(PRODUCE);
  await oracle.judge(JUDGE);
  const [first, second] = balanced.asked.map(({ options }) => options);
  assertEquals([first?.maxTokens, first?.seed, first?.stop, first?.extra], [
    77,
    5,
    ["."],
    { reasoning_effort: "high" },
  ]);
  assertEquals([second?.seed, second?.extra, second?.temperature], [undefined, undefined, 0]);
});

Deno.test("createModelOracle() lets one model judge every gate", async () => {
  const balanced = providerOf([]);
  const judge = providerOf([{ content: '{"choice": 3}' }], { model: "judge-1" });
  const oracle = createModelOracle({ tiers: { balanced }, judge, ports });
  assertEquals(oracle.judgeModel("fast"), "judge-1");
  assertEquals(await oracle.judge(JUDGE), {
    kind: "choice",
    index: 2,
    tokens: { input: 5, output: 2 },
  });
});

Deno.test("createModelOracle() names its tiers sorted, and no judge for one it lacks", () => {
  const oracle = createModelOracle({
    tiers: { reasoning: providerOf([]), fast: providerOf([]) },
    ports,
  });
  assertEquals(oracle.tiers, ["fast", "reasoning"]);
  assertEquals(oracle.judgeModel("balanced"), undefined);
});

Deno.test("createModelOracle() asks a judge for a JSON object where the provider knows how", async () => {
  const able = providerOf([{ content: '{"choice": 1}' }], { supportsResponseFormat: true });
  const unable = providerOf([{ content: "1" }], { name: "anthropic" });
  await createModelOracle({ tiers: { balanced: able }, ports }).judge(JUDGE);
  const verdict = await createModelOracle({ tiers: { balanced: unable }, ports }).judge(JUDGE);
  assertEquals(able.asked[0]?.options.responseFormat, { type: "json_object" });
  assertEquals(unable.asked[0]?.options.responseFormat, undefined);
  assertEquals(unable.asked[0]?.options.maxTokens, 64);
  assertEquals(verdict.kind === "choice" && verdict.method, "bare");
});

Deno.test("createModelOracle() switches thinking on where there is a switch, and asks for no scratchpad then", async () => {
  const balanced = providerOf([{ content: "x", reasoning: " because " }], {
    supportsReasoning: true,
  });
  const produced = await createModelOracle({ tiers: { balanced }, ports })
    .produce({ ...PRODUCE, reason: true });
  assertEquals(produced.reasoning, "because");
  assert(balanced.asked[0]?.options.reasoning);
  assertEquals(balanced.asked[0]?.messages[0]?.content, "S");
});

Deno.test("createModelOracle() asks for a scratchpad where there is no switch, and takes it off the answer", async () => {
  const balanced = providerOf([
    { content: "<scratchpad>first\nthis</scratchpad>\n\nthe answer" },
    { content: "no scratchpad at all" },
    { content: "<scratchpad>cut off in the middle", finishReason: "length" },
  ]);
  const oracle = createModelOracle({ tiers: { balanced }, ports });
  const ask = () => oracle.produce({ ...PRODUCE, reason: true });
  const [split, plain, cut] = [await ask(), await ask(), await ask()];
  assert(balanced.asked[0]?.messages[0]?.content?.includes("<scratchpad>"));
  assertEquals([split?.text, split?.reasoning], ["the answer", "first\nthis"]);
  assertEquals([plain?.text, plain?.reasoning], ["no scratchpad at all", undefined]);
  assertEquals([cut?.text, cut?.reasoning, cut?.truncated], ["", "cut off in the middle", true]);
});

const stops: [raw: string, finish: FinishReason, truncated: boolean][] = [
  ["length", "length", true],
  ["MAX_TOKENS", "unknown", true],
  ["model_context_window_exceeded", "unknown", true],
  ["stop", "stop", false],
  ["end_turn", "stop", false],
];
for (const [raw, finishReason, truncated] of stops) {
  Deno.test(`createModelOracle() takes the stop reason ${raw} ${truncated ? "" : "not "}for truncation`, async () => {
    const balanced = providerOf([{ content: "x", finishReason, rawFinishReason: raw }]);
    const produced = await createModelOracle({ tiers: { balanced }, ports }).produce(PRODUCE);
    assertEquals([produced.truncated, produced.finishReason], [truncated, raw]);
  });
}

const refusals: [what: string, answer: Partial<LlmResponse> | Error][] = [
  ["a refusal stop", { finishReason: "refusal", refusal: "I will not" }],
  ["a refusal text without an answer", { refusal: "I will not" }],
  [
    "a content filter",
    new LlmError("content_filter", "I will not", {
      usage: { inputTokens: 5, outputTokens: 2, llmCalls: 1, uncertainTokens: 0 },
    }),
  ],
];
for (const [what, answer] of refusals) {
  Deno.test(`createModelOracle() throws RefusalError for ${what}`, async () => {
    const balanced = providerOf([answer]);
    const oracle = createModelOracle({ tiers: { balanced }, ports });
    const error = await assertRejects(async () => await oracle.produce(PRODUCE), RefusalError);
    assertEquals(error.message, "I will not");
  });
}

Deno.test("createModelOracle() counts failed attempts and answers without counts by estimate", async () => {
  const ledger = createLedger();
  const balanced = providerOf([
    new LlmError("server", "status 500", { retryable: true }),
    { content: "x", usage: { inputTokens: 0, outputTokens: 0, known: false } },
  ]);
  const oracle = createModelOracle({
    tiers: { balanced },
    ledger,
    retry: { maxAttempts: 2, baseDelayMs: 0 },
    ports: {
      clock: {
        ...ports.clock,
        now: () => 0,
        monotonic: () => 0,
        sleep: () => Promise.resolve(),
        deadline: (ms) => ports.clock.deadline(ms),
        local: (at) => ports.clock.local(at),
      },
      random: ports.random,
    },
  });
  const { tokens } = await oracle.produce(PRODUCE);
  assert(tokens.input > 0 && tokens.output > 0, JSON.stringify(tokens));
  assertEquals(ledger.spent.llmCalls, 2);
  assertEquals(ledger.spent.inputTokens, tokens.input);
});

Deno.test("createModelOracle() gives the reply of a judge that names no choice", async () => {
  const balanced = providerOf([{ content: "The first one, 1." }]);
  const verdict = await createModelOracle({ tiers: { balanced }, ports }).judge(JUDGE);
  assertEquals(verdict, {
    kind: "unparseable",
    raw: "The first one, 1.",
    tokens: { input: 5, output: 2 },
  });
});

Deno.test("runMachine() over a model names the judge in the trace and aborts its calls", async () => {
  const machine = oneState("[{ when: good, then: ok, to: END }, { when: otherwise, fail: true }]");
  const balanced = providerOf([{ content: "x" }, { content: '{"choice": 1}' }]);
  const controller = new AbortController();
  const run = await runMachine(machine, {
    oracle: createModelOracle({ tiers: { balanced }, ports }),
    ports,
    signal: controller.signal,
  });
  assertEquals([run.status, run.trace[0]?.judge_model], ["done", "mid"]);
  assertEquals(run.usage, { input_tokens: 10, output_tokens: 4 });
  const { signal } = balanced.asked[0]?.options ?? {};
  assert(signal !== undefined);
});
