import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  callModel,
  ConfigError,
  createLedger,
  LlmError,
  type LlmProvider,
  type StreamEvent,
  streamModel,
} from "../../src/llm/mod.ts";
import { createFailoverProvider } from "../../src/providers/mod.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";
import { testProvider } from "../contracts/provider.ts";

const MESSAGES = [{ role: "user", content: "hi" }] as const;

testProvider("createFailoverProvider()", (behaviour) => {
  const hanging: LlmProvider = { complete: () => Promise.withResolvers<never>().promise };
  const member = behaviour === "hang" ? hanging : new MockProvider(["Hello there", "x"]);
  const provider = createFailoverProvider([member], { ports: manualPorts() });
  return {
    provider,
    ...(member instanceof MockProvider ? { requests: () => member.callCount } : {}),
  };
});

function setUp(members: readonly LlmProvider[], budget = {}) {
  const ports = manualPorts();
  const ledger = createLedger(budget, { clock: ports.clock });
  const provider = createFailoverProvider(members, { ports });
  const call = () => ports.clock.run(callModel(provider, MESSAGES, { ledger, ports }));
  return { ports, ledger, provider, call };
}

const passing = [
  "rate_limit",
  "quota",
  "overloaded",
  "server",
  "timeout",
  "network",
  "bad_response",
] as const;
for (const code of passing) {
  Deno.test(`after ${code} the next member is asked, each request charged`, async () => {
    const first = new MockProvider([new LlmError(code, "x", { retryable: true })]);
    const { ledger, call } = setUp([first, new MockProvider(["second"])]);
    assertEquals([(await call()).content, ledger.spent.llmCalls], ["second", 2]);
  });
}

const final = ["auth", "bad_request", "not_found", "content_filter"] as const;
for (const code of final) {
  Deno.test(`after ${code} nobody else is asked`, async () => {
    const second = new MockProvider(["never"]);
    const { call } = setUp([new MockProvider([new LlmError(code, "x")]), second]);
    assertEquals((await assertRejects(call, LlmError)).code, code);
    assertEquals(second.callCount, 0);
  });
}

Deno.test("where every member fails the error tells of all", async () => {
  const fail = (code: "server" | "rate_limit") =>
    new MockProvider([new LlmError(code, "x", { retryable: true })]);
  const { ledger, call } = setUp([fail("server"), fail("rate_limit"), fail("server")]);
  const error = await assertRejects(call, LlmError);
  assertEquals([error.code, error.others.length, error.usage.llmCalls], ["rate_limit", 2, 3]);
  assertEquals(ledger.spent.llmCalls, 3);
});

Deno.test("the caller's budget holds for all members together", async () => {
  const failing = new MockProvider([new LlmError("server", "x", { retryable: true })]);
  const second = new MockProvider(["never"]);
  const { call } = setUp([failing, second], { maxCalls: 1 });
  await assertRejects(call, Error, "the budget allows 1 calls");
  assertEquals(second.callCount, 0);
});

Deno.test("it can do what every member can do", () => {
  const can = new MockProvider([], { supportsTools: true, supportsResponseFormat: true });
  const cannot = new MockProvider([], { supportsTools: false, supportsResponseFormat: true });
  const provider = createFailoverProvider([can, cannot]);
  assertEquals([provider.supportsTools, provider.supportsResponseFormat], [false, true]);
});

Deno.test("a stream fails over before its first part only", async () => {
  const broken = new LlmError("network", "x", { retryable: true });
  const parts = (list: readonly (StreamEvent | Error)[]): LlmProvider => ({
    complete: () => Promise.reject(broken),
    async *stream() {
      for (const part of list) {
        await Promise.resolve();
        if (part instanceof Error) throw part;
        yield part;
      }
    },
  });
  const ports = manualPorts();
  const read = async (provider: LlmProvider): Promise<string> => {
    let text = "";
    const ledger = createLedger();
    for await (const part of streamModel(provider, MESSAGES, { ledger, ports })) {
      if (part.type === "text") text += part.text;
    }
    return text;
  };
  const second = new MockProvider(["second"]);
  assertEquals(await read(createFailoverProvider([parts([broken]), second], { ports })), "second");
  const begun = parts([{ type: "text", text: "first" }, broken]);
  await assertRejects(() => read(createFailoverProvider([begun, second], { ports })), LlmError);
  assert(second.callCount === 1);
});

Deno.test("createFailoverProvider() refuses an empty list", () => {
  assertThrows(() => createFailoverProvider([]), ConfigError);
});

Deno.test("a listener that throws keeps no member from being asked", async () => {
  const ports = manualPorts();
  const provider = createFailoverProvider([new MockProvider(["Hello"])], {
    ports,
    onSelect: () => {
      throw new Error("listener");
    },
  });
  assertEquals((await provider.complete(MESSAGES)).content, "Hello");
});

Deno.test("W2b the error of a failover that is asked by itself tells what all members spent", async () => {
  const down = () => new MockProvider([new LlmError("network", "x", { retryable: true })]);
  const provider = createFailoverProvider([down(), down(), down()], { ports: manualPorts() });
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals([error.usage.llmCalls, error.others.length], [3, 2]);
});

Deno.test("W2b so does an error that no other member would be spared", async () => {
  const provider = createFailoverProvider([
    new MockProvider([new LlmError("network", "x", { retryable: true })]),
    new MockProvider([new LlmError("auth", "x")]),
    new MockProvider(["never asked"]),
  ], { ports: manualPorts() });
  const error = await assertRejects(() => provider.complete(MESSAGES), LlmError);
  assertEquals([error.code, error.usage.llmCalls], ["auth", 2]);
});
