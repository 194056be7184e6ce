import { assert, assertEquals, assertRejects } from "@std/assert";
import { createLedger } from "../../src/llm/create_ledger.ts";
import { AbortedError, LlmError } from "../../src/llm/errors.ts";
import type { LlmResponse } from "../../src/llm/message.ts";
import type { CompleteOptions, LlmProvider, StreamEvent } from "../../src/llm/provider.ts";
import { streamModel } from "../../src/llm/stream.ts";
import type { TraceEvent } from "../../src/llm/trace.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";

const messages = [{ role: "user", content: "hi" }] as const;

const response: LlmResponse = {
  content: "Hello",
  toolCalls: [],
  finishReason: "stop",
  usage: { inputTokens: 3, outputTokens: 2, known: true },
  warnings: [],
};

type Part = StreamEvent | Error;

function text(added: string): StreamEvent {
  return { type: "text", text: added };
}

/** Plays one list of parts for each request. */
function streaming(...plays: readonly (readonly Part[])[]) {
  const requests: (CompleteOptions | undefined)[] = [];
  let ended = 0;
  const provider: LlmProvider = {
    complete: () => Promise.reject(new Error("not streamed")),
    async *stream(_messages, options) {
      requests.push(options);
      try {
        for (const part of plays[requests.length - 1] ?? []) {
          await Promise.resolve();
          if (part instanceof Error) throw part;
          yield part;
        }
      } finally {
        ended += 1;
      }
    },
  };
  return { provider, requests, ended: () => ended };
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(event.type === "done" ? "done" : event.text);
  return seen;
}

function setUp() {
  const ports = manualPorts();
  const ledger = createLedger({}, { clock: ports.clock });
  const events: TraceEvent[] = [];
  const trace = { write: (event: TraceEvent): void => void events.push(event) };
  return { ports, ledger, trace, events };
}

const broken = new LlmError("server", "x", { retryable: true });

Deno.test("streamModel() gives texts as they come and one end, and charges the answer", async () => {
  const { ports, ledger, trace, events } = setUp();
  const { provider } = streaming([text("Hel"), text("lo"), { type: "done", response }]);
  assertEquals(await collect(streamModel(provider, messages, { ledger, ports, trace })), [
    "Hel",
    "lo",
    "done",
  ]);
  assertEquals([ledger.spent.inputTokens, ledger.spent.outputTokens], [3, 2]);
  assertEquals(events.at(-1)?.kind, "llm-call-end");
});

Deno.test("streamModel() tries again before the first part", async () => {
  const { ports, ledger } = setUp();
  const { provider, requests } = streaming([broken], [text("ok"), { type: "done", response }]);
  const seen = await ports.clock.run(collect(streamModel(provider, messages, { ledger, ports })));
  assertEquals([seen, requests.length, ledger.spent.llmCalls], [["ok", "done"], 2, 2]);
});

Deno.test("streamModel() does not try again after the first part", async () => {
  const { ports, ledger } = setUp();
  const cut = new LlmError("network", "x", { retryable: true });
  const { provider, requests } = streaming([text("Hel"), cut], [text("never")]);
  const error = await assertRejects(
    () => collect(streamModel(provider, messages, { ledger, ports })),
    LlmError,
  );
  assertEquals([error.code, error.usage.llmCalls, requests.length], ["network", 1, 1]);
  assert(ledger.spent.uncertainTokens > 0);
});

Deno.test("W16 streamModel() takes a stream without an end for unreadable", async () => {
  const { ports, ledger } = setUp();
  const { provider } = streaming([text("Hel")]);
  const error = await assertRejects(
    () => collect(streamModel(provider, messages, { ledger, ports })),
    LlmError,
  );
  assertEquals(error.code, "bad_response");
});

Deno.test("W17 leaving streamModel() early ends the request and charges the estimate", async () => {
  const { ports, ledger, trace, events } = setUp();
  const { provider, requests, ended } = streaming([
    text("a"),
    text("b"),
    { type: "done", response },
  ]);
  const options = { ledger, ports, trace, maxTokens: 40 };
  for await (const event of streamModel(provider, messages, options)) {
    assertEquals(event.type, "text");
    break;
  }
  await ports.clock.advance(0);
  assert(requests[0]?.signal?.aborted);
  assertEquals([ended(), ledger.outstanding.llmCalls, ledger.spent.outputTokens], [1, 0, 40]);
  const end = events.at(-1);
  assert(end?.kind === "llm-call-end");
  assertEquals(end.status, "abandoned");
});

Deno.test("streamModel() stops when the signal fires between parts", async () => {
  const { ports, ledger } = setUp();
  const controller = new AbortController();
  const stuck: LlmProvider = {
    complete: () => Promise.reject(new Error("not streamed")),
    async *stream() {
      yield text("a");
      await Promise.withResolvers<never>().promise;
    },
  };
  const seen: StreamEvent[] = [];
  await assertRejects(async () => {
    const options = { ledger, ports, signal: controller.signal };
    for await (const event of streamModel(stuck, messages, options)) {
      seen.push(event);
      controller.abort("enough");
    }
  }, AbortedError);
  assertEquals([seen.length, ledger.outstanding.llmCalls, ledger.spent.llmCalls], [1, 0, 1]);
});

Deno.test("streamModel() gives a whole answer in one part where the provider cannot stream", async () => {
  const { ports, ledger } = setUp();
  const model: LlmProvider = {
    complete: () => Promise.resolve({ ...response, reasoning: "because" }),
  };
  assertEquals(await collect(streamModel(model, messages, { ledger, ports })), [
    "because",
    "Hello",
    "done",
  ]);
});

Deno.test("streamModel() of a mock that streams gives the text it was told to", async () => {
  const { ports, ledger } = setUp();
  const seen = await collect(streamModel(new MockProvider(["Hi"]), messages, { ledger, ports }));
  assertEquals([seen.slice(0, -1).join(""), seen.at(-1)], ["Hi", "done"]);
});
