/**
 * What patterns cost above the calls that they make, with a provider that costs nothing.
 *
 * @module
 */
import type { LlmProvider, LlmResponse } from "../../src/llm/mod.ts";
import {
  calculatorTool,
  consensus,
  Kit,
  mapReduce,
  reactLoop,
  refineLoop,
  structured,
  tallyVotes,
} from "../../src/patterns/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const ITEMS = 10_000;
const SESSIONS = 1000;
const TURNS = 3;

const ports = manualPorts();
const answer: LlmResponse = Object.freeze({
  content: '{"a":1}',
  toolCalls: [],
  finishReason: "stop",
  usage: { inputTokens: 1, outputTokens: 1, known: true },
  warnings: [],
});
const provider: LlmProvider = { supportsTools: true, complete: () => Promise.resolve(answer) };
const messages = [{ role: "user", content: "Q?" }] as const;

Deno.bench("the provider's call alone", { group: "one call", baseline: true }, async () => {
  await provider.complete(messages);
});
Deno.bench("consensus of one", { group: "one call" }, async () => {
  await consensus(provider, "Q?", { numSamples: 1, ports });
});
Deno.bench("reactLoop with a tool, one round", { group: "one call" }, async () => {
  await reactLoop(provider, "Q?", { tools: [calculatorTool], ports });
});
Deno.bench("structured", { group: "one call" }, async () => {
  await structured(provider, "Q?", { ports });
});
Deno.bench("refineLoop, first draft accepted", { group: "one call" }, async () => {
  await refineLoop(provider, "Q?", { evaluator: () => 1, ports });
});

Deno.bench("nine calls at once", { group: "nine calls", baseline: true }, async () => {
  await Promise.all(Array.from({ length: 9 }, () => provider.complete(messages)));
});
Deno.bench("consensus of nine", { group: "nine calls" }, async () => {
  await consensus(provider, "Q?", { numSamples: 9, ports });
});

const items = Array.from({ length: ITEMS }, (_, index) => `item ${index}`);
Deno.bench(`${ITEMS} calls, ten at once`, { group: "fan-out", baseline: true }, async () => {
  let next = 0;
  await Promise.all(Array.from({ length: 10 }, async () => {
    while (next < ITEMS) {
      next += 1;
      await provider.complete(messages);
    }
  }));
});
Deno.bench(`mapReduce over ${ITEMS} items`, { group: "fan-out" }, async (bench) => {
  const before = Deno.memoryUsage().heapUsed;
  bench.start();
  await mapReduce(provider, items, {
    mapPrompt: "{item}",
    reducePrompt: "{mapped_outputs}",
    ports,
  });
  bench.end();
  const grown = Deno.memoryUsage().heapUsed - before;
  if (grown > 256 * 1024 * 1024) throw new Error(`mapReduce left ${grown} bytes`);
});

Deno.bench(`${SESSIONS} sessions of ${TURNS} turns`, { group: "sessions" }, async () => {
  const sessions = Array.from({ length: SESSIONS }, () => new Kit(provider, { ports }));
  await Promise.all(sessions.map(async (kit) => {
    for (let turn = 0; turn < TURNS; turn += 1) await kit.turn("hello");
  }));
});

const texts = Array.from({ length: 1000 }, (_, index) => `**Answer ${index % 7}.**`);
for (const normalize of ["exact", "whitespace", "text", "number", "json"] as const) {
  Deno.bench(`tallyVotes of 1000 by ${normalize}`, {
    group: "votes",
    baseline: normalize === "exact",
  }, () => {
    tallyVotes(texts, { normalize });
  });
}
