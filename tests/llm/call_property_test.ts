/** Parallel calls with retries, failures, cuts and cancels on one budget: never over a cap, everything reported. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { callModel } from "../../src/llm/call.ts";
import { createLedger } from "../../src/llm/create_ledger.ts";
import { KitError, type KitErrorCode, LlmError } from "../../src/llm/errors.ts";
import type { Budget } from "../../src/llm/ledger.ts";
import type { CompleteOptions, LlmProvider } from "../../src/llm/provider.ts";
import type { TraceEvent } from "../../src/llm/trace.ts";
import { sumUsage, totalTokens } from "../../src/llm/usage.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const CODES: readonly KitErrorCode[] = [
  "rate_limit",
  "server",
  "timeout",
  "network",
  "bad_response",
  "auth",
  "content_filter",
];

interface Behaviour {
  readonly delayMs: number;
  readonly share: number;
  readonly known: boolean;
  readonly fails: KitErrorCode | undefined;
  readonly deaf: boolean;
}

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  delayMs: fc.nat(3000),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  known: fc.boolean(),
  fails: fc.option(fc.constantFrom(...CODES), { nil: undefined }),
  deaf: fc.boolean(),
});

const budget: fc.Arbitrary<Budget> = fc.record({
  maxCalls: fc.nat(8),
  maxInputTokens: fc.nat(150),
  maxOutputTokens: fc.nat(300),
  maxTokens: fc.nat(400),
  deadline: fc.integer({ min: 1, max: 5000 }),
}, { requiredKeys: [] });

const caller = fc.record({
  startMs: fc.nat(2000),
  cancelMs: fc.option(fc.nat(6000), { nil: undefined }),
  maxTokens: fc.integer({ min: 1, max: 120 }),
});

type Ports = ReturnType<typeof manualPorts>;

/** A model that behaves as told, request by request, and never goes beyond the limit that it is given. */
function model(ports: Ports, behaviours: readonly Behaviour[]) {
  let requests = 0;
  const answer = async (options: CompleteOptions, how: Behaviour) => {
    const { signal } = options;
    await ports.clock.sleep(how.delayMs, how.deaf || signal === undefined ? {} : { signal });
    if (how.fails !== undefined) {
      const retryable = !["auth", "content_filter"].includes(how.fails);
      throw new LlmError(how.fails, "x", { retryable });
    }
    const outputTokens = Math.floor((options.maxTokens ?? 0) * how.share);
    const usage = { inputTokens: Math.floor(10 * how.share), outputTokens, known: how.known };
    return { content: "ok", toolCalls: [], finishReason: "stop" as const, usage, warnings: [] };
  };
  const provider: LlmProvider = {
    complete: (_messages, options = {}) => {
      requests += 1;
      const how = behaviours[(requests - 1) % behaviours.length];
      return how === undefined ? Promise.reject(new Error("none")) : answer(options, how);
    },
  };
  return { provider, requests: () => requests };
}

type Caller = typeof caller extends fc.Arbitrary<infer One> ? One : never;

async function play(
  caps: Budget,
  behaviours: readonly Behaviour[],
  callers: readonly Caller[],
): Promise<void> {
  const ports = manualPorts();
  const ledger = createLedger(caps, { clock: ports.clock });
  const { provider, requests } = model(ports, behaviours);
  const events: TraceEvent[] = [];
  const trace = { write: (event: TraceEvent): void => void events.push(event) };
  const works = callers.map(async ({ startMs, cancelMs, maxTokens }) => {
    await ports.clock.sleep(startMs);
    const controller = new AbortController();
    const canceling = cancelMs === undefined
      ? Promise.resolve()
      : ports.clock.sleep(cancelMs).then(() => controller.abort("cancelled"));
    const { signal } = controller;
    const options = { ledger, ports, trace, signal, maxTokens, retry: { baseDelayMs: 100 } };
    try {
      await callModel(provider, [{ role: "user", content: "hi" }], options);
    } catch (error) {
      assert(error instanceof KitError, Deno.inspect(error));
    }
    await canceling;
  });
  await ports.clock.run(Promise.all(works));
  checkCaps(caps, ledger.spent);
  assertEquals([ledger.outstanding.llmCalls, ledger.spent.llmCalls], [0, requests()]);
  const ends = events.filter((event) => event.kind === "llm-call-end");
  assertEquals(ends.length, events.filter((event) => event.kind === "llm-call-start").length);
  assertEquals(sumUsage(ends.map((event) => event.usage)), ledger.spent);
}

function checkCaps(caps: Budget, spent: ReturnType<typeof sumUsage>): void {
  assert(spent.llmCalls <= (caps.maxCalls ?? Infinity));
  assert(spent.inputTokens <= (caps.maxInputTokens ?? Infinity));
  assert(spent.outputTokens <= (caps.maxOutputTokens ?? Infinity));
  assert(totalTokens(spent) <= (caps.maxTokens ?? Infinity));
}

Deno.test("W2 parallel calls never pass a cap and report all they spend, whatever happens", async () => {
  const behaviours = fc.array(behaviour, { minLength: 1, maxLength: 8 });
  const callers = fc.array(caller, { minLength: 1, maxLength: 6 });
  await fc.assert(fc.asyncProperty(budget, behaviours, callers, play), { numRuns: 60 });
});
