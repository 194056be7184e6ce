// deno-lint-ignore-file camelcase -- names of endpoints and of secrets
import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { KitError, LlmError, type Message } from "../../src/llm/mod.ts";
import {
  createAnthropicProvider,
  createFailoverProvider,
  createOpenAiProvider,
} from "../../src/providers/mod.ts";
import {
  manualPorts,
  MockProvider,
  mockToolCall,
  type Recording,
  recordProvider,
  replayProvider,
} from "../../src/testing/mod.ts";

function ask(content: string): readonly Message[] {
  return [{ role: "user", content }];
}

async function record(): Promise<Recording> {
  const recorder = recordProvider(
    new MockProvider([
      "first",
      "second",
      new LlmError("rate_limit", "slow down, sk-0123456789abcdef", { retryable: true }),
    ]),
  );
  await recorder.complete(ask("Q"), { temperature: 0.9, maxTokens: 5 });
  await recorder.complete(ask("Q"), { temperature: 0.9, maxTokens: 9 });
  await assertRejects(() => recorder.complete(ask("key sk-0123456789abcdef")), LlmError);
  return JSON.parse(JSON.stringify(recorder.recording()));
}

Deno.test("replayProvider() gives equal requests their answers in the order recorded, each once", async () => {
  const replayed = replayProvider(await record());
  const texts = [
    (await replayed.complete(ask("Q"), { temperature: 0.9, timeoutMs: 1 })).content,
    (await replayed.complete(ask("Q"), { temperature: 0.9, idempotencyKey: "k" })).content,
  ];
  assertEquals(texts, ["first", "second"]);
  const error = await assertRejects(
    () => replayed.complete(ask("Q"), { temperature: 0.9 }),
    KitError,
  );
  assertEquals(error.code, "config");
});

Deno.test("replayProvider() fails again as it was recorded", async () => {
  const replayed = replayProvider(await record());
  const error = await assertRejects(
    () => replayed.complete(ask("key sk-0123456789abcdef")),
    LlmError,
  );
  assertEquals([error.code, error.retryable], ["rate_limit", Boolean(1)]);
});

Deno.test("replayProvider() tells requests apart by what changes the answer", async () => {
  const replayed = replayProvider(await record());
  for (
    const [content, options] of [["Q", { temperature: 0.1 }], ["other", {
      temperature: 0.9,
    }]] as const
  ) {
    await assertRejects(() => replayed.complete(ask(content), options), KitError);
  }
});

Deno.test("recordProvider() keeps no secret, in requests, answers and errors", async () => {
  const text = JSON.stringify(await record());
  assert(!text.includes("sk-0123456789abcdef") && text.includes("slow down"));
});

Deno.test("recordProvider() claims no more than the provider behind it", () => {
  const plain = recordProvider({ complete: () => Promise.reject(new Error("unused")) });
  assertEquals([plain.supportsTools, plain.model], [undefined, undefined]);
  const mock = recordProvider(new MockProvider([], { model: "m", supportsTools: false }));
  assertEquals([mock.supportsTools, mock.model], [false, "m"]);
});

Deno.test("replayProvider() refuses what is no recording", () => {
  for (const given of [{ version: 2 }, { version: 1 }, null, "x"]) {
    assertThrows(() => replayProvider(given as unknown as Recording), KitError);
  }
});

Deno.test("replayProvider() gives long answers whole", async () => {
  const long = `${"long answer ".repeat(20_000)}the end`;
  const recorder = recordProvider(new MockProvider([long]));
  await recorder.complete(ask(`${"long question ".repeat(20_000)}?`));
  const replayed = replayProvider(JSON.parse(JSON.stringify(recorder.recording())));
  const { content } = await replayed.complete(ask(`${"long question ".repeat(20_000)}?`));
  assertEquals(content, long);
});

Deno.test("recordProvider() streams what the provider streams, and keeps the whole answer", async () => {
  const recorder = recordProvider(new MockProvider(["one two three"]));
  const texts: string[] = [];
  for await (const event of recorder.stream?.(ask("Q")) ?? []) {
    if (event.type === "text") texts.push(event.text);
  }
  assertEquals(texts, ["one ", "two ", "three"]);
  assertEquals(
    (await replayProvider(recorder.recording()).complete(ask("Q"))).content,
    "one two three",
  );
});

Deno.test("recordProvider() keeps the failure of a stream, secrets masked, and nothing of one left early", async () => {
  const failing = new LlmError("server", "down, sk-0123456789abcdef", { retryable: true });
  const recorder = recordProvider(new MockProvider(["one two three", failing]));
  for await (const _event of recorder.stream?.(ask("Q")) ?? []) break;
  assertEquals(recorder.recording().exchanges, []);
  await assertRejects(async () => {
    for await (const _event of recorder.stream?.(ask("Q")) ?? []) continue;
  }, LlmError);
  const [kept] = recorder.recording().exchanges;
  assert(kept !== undefined && "error" in kept.outcome);
  assertEquals([kept.outcome.error.code, kept.outcome.error.message], [
    "server",
    "down, [REDACTED]",
  ]);
});

Deno.test("recordProvider() masks what a member's name says is secret, and replays it", async () => {
  const recorder = recordProvider(
    new MockProvider([{ toolCalls: [mockToolCall("login", { password: "hunter2hunter2" })] }]),
  );
  const options = { extra: { api_key: "topsecretvalue1" } };
  await recorder.complete(ask("Q"), options);
  const file = JSON.stringify(recorder.recording());
  assertFalse(file.includes("topsecretvalue1") || file.includes("hunter2hunter2"));
  const replayed = replayProvider(JSON.parse(file));
  assertEquals((await replayed.complete(ask("Q"), options)).toolCalls.length, 1);
});

const KEY = "correct-horse-battery-9";

Deno.test("recordProvider() masks the secrets that it is told, beside Kit's own rules", async () => {
  const secrets = [KEY];
  const long = " ".repeat(70_000) + KEY;
  const recorder = recordProvider(new MockProvider([`It is ${KEY}, sk-0123456789abcdef`, long]), {
    secrets,
  });
  await recorder.complete(ask(`My key is ${KEY}`));
  await recorder.complete(ask("Long"));
  const file = JSON.stringify(recorder.recording());
  assertFalse(file.includes(KEY) || file.includes("sk-0123456789abcdef"));
  const replayed = replayProvider(JSON.parse(file), { secrets });
  const { content } = await replayed.complete(ask(`My key is ${KEY}`));
  assertEquals(content, "It is [REDACTED], [REDACTED]");
  assertEquals((await replayed.complete(ask("Long"))).content.length, 70_010);
});

for (const create of [createOpenAiProvider, createAnthropicProvider]) {
  Deno.test(`recordProvider() masks the key of ${create.name}() where it is echoed`, async () => {
    const ports = { ...manualPorts(), fetch: () => Promise.resolve(Response.json(ECHO)) };
    const provider = create({ baseUrl: "http://localhost", model: "m", apiKey: KEY, ports });
    for (const asked of [provider, createFailoverProvider([provider], { ports })]) {
      const recorder = recordProvider(asked);
      const { content } = await recorder.complete(ask(`Is ${KEY} my key?`));
      assertEquals(content, KEY);
      assertFalse(JSON.stringify(recorder.recording()).includes(KEY));
    }
  });
}

/** An answer of either kind of endpoint. */
const ECHO = {
  choices: [{ message: { content: KEY }, finish_reason: "stop" }],
  content: [{ type: "text", text: KEY }],
  stop_reason: "end_turn",
};
