import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  callModel,
  type CompleteOptions,
  ConfigError,
  createLedger,
  createPriceTable,
  LlmError,
} from "../../src/llm/mod.ts";
import { createRouterProvider, type RouterProviderOptions } from "../../src/providers/mod.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";
import { testProvider } from "../contracts/provider.ts";

testProvider("createRouterProvider()", (behaviour) => {
  if (behaviour === "hang") return undefined;
  const member = new MockProvider(["Hello there"]);
  const provider = createRouterProvider([{ provider: member }], { ports: manualPorts() });
  return { provider, requests: () => member.callCount };
});

const prices = createPriceTable({
  dear: { inputRate: 1, outputRate: 1 },
  cheap: { inputRate: 0.001, outputRate: 0.001 },
});

function setUp(options: RouterProviderOptions = {}) {
  const ports = manualPorts();
  const models = {
    unknown: new MockProvider(["unknown"], { model: "unknown" }),
    dear: new MockProvider(["dear"], { model: "dear" }),
    cheap: new MockProvider(["cheap"], { model: "cheap", supportsTools: false }),
  };
  const routes = [
    { provider: models.unknown },
    {
      provider: models.dear,
      accepts: (messages: readonly { readonly content: string | null }[]) =>
        !messages[0]?.content?.includes("cheaply"),
    },
    { provider: models.cheap },
  ];
  const provider = createRouterProvider(routes, { ports, ...options });
  const ask = async (content: string, request: CompleteOptions = {}): Promise<string> => {
    const { ledger: _none, ...rest } = request;
    const called = callModel(provider, [{ role: "user", content }], {
      ...rest,
      ledger: createLedger(),
      ports,
    });
    return (await ports.clock.run(called)).content;
  };
  return { models, ask };
}

Deno.test("the first route that takes a request is asked", async () => {
  assertEquals(await setUp().ask("hi"), "unknown");
});

Deno.test("the cheapest is asked where that is preferred, an unknown price last", async () => {
  assertEquals(await setUp({ prefer: "cheapest", prices }).ask("hi"), "cheap");
});

Deno.test("a request with tools goes to a model that takes tools", async () => {
  const tools = [{ name: "t", description: "d", parameters: {} }];
  assertEquals(await setUp({ prefer: "cheapest", prices }).ask("hi", { tools }), "dear");
});

Deno.test("the next best is asked where the best fails in passing", async () => {
  const ports = manualPorts();
  const failing = new MockProvider([new LlmError("server", "x", { retryable: true })], {
    model: "cheap",
  });
  const other = new MockProvider(["dear"], { model: "dear" });
  const chosen: number[] = [];
  const provider = createRouterProvider([{ provider: other }, { provider: failing }], {
    ports,
    prefer: "cheapest",
    prices,
    onSelect: (index) => void chosen.push(index),
  });
  const called = callModel(provider, [{ role: "user", content: "hi" }], {
    ledger: createLedger(),
    ports,
  });
  assertEquals((await ports.clock.run(called)).content, "dear");
  assertEquals(chosen, [1, 0]);
});

Deno.test("a route whose question throws does not take the request", async () => {
  const ports = manualPorts();
  const accepts = (): never => {
    throw new Error("no");
  };
  const provider = createRouterProvider([{ provider: new MockProvider(["x"]), accepts }], {
    ports,
  });
  await assertRejects(
    () => provider.complete([{ role: "user", content: "hi" }]),
    ConfigError,
    "no provider takes it",
  );
});

Deno.test("createRouterProvider() refuses no routes, and the cheapest without prices", () => {
  assertThrows(() => createRouterProvider([]), ConfigError);
  const routes = [{ provider: new MockProvider([]) }];
  assertThrows(() => createRouterProvider(routes, { prefer: "cheapest" }), ConfigError);
});
