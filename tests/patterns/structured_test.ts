import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { KitError, type TraceSink } from "../../src/llm/mod.ts";
import { structured } from "../../src/patterns/structured.ts";
import type { StructuredOptions } from "../../src/patterns/structured_options.ts";
import { manualPorts, MockProvider, type MockReply } from "../../src/testing/mod.ts";

const YES = true;

async function ask(script: readonly MockReply[], options: StructuredOptions = {}) {
  const ports = manualPorts();
  const model = new MockProvider(script, { clock: ports.clock, supportsResponseFormat: true });
  const result = await ports.clock.run(structured(model, "Give me A", { ports, ...options }));
  return { model, result };
}

async function failure(script: readonly MockReply[], options: StructuredOptions = {}) {
  return await assertRejects(() => ask(script, options), KitError);
}

const accepted: [what: string, reply: string, value: JsonValue][] = [
  ["clean JSON", '{"a":1}', { a: 1 }],
  ["fenced JSON", '```json\n{"a":1}\n```', { a: 1 }],
  ["JSON in prose", 'Here you are: {"a":1} and bye', { a: 1 }],
  ["escaped quotes", '{"a":"say \\"hi\\" {"}', { a: 'say "hi" {' }],
  ["W36 JSON after a draft in thinking", '<think>{"a":0}</think>{"a":1}', { a: 1 }],
  ["W36 an object after a citation", 'As [1] says: {"a":1}', { a: 1 }],
  ["W36 an object after a stray brace", 'Use { to open. {"a":1}', { a: 1 }],
  ["a trailing comma", '{"a":1,}', { a: 1 }],
  ["an array", "[1,2]", [1, 2]],
];
for (const [what, reply, value] of accepted) {
  Deno.test(`structured() takes ${what} at once`, async () => {
    const { result } = await ask([reply]);
    assertEquals(result.value, value);
    assertEquals([result.metadata.parseAttempts, result.metadata.repairAttempts], [1, 0]);
    assertEquals(result.metadata.mended, reply.includes(",}"));
  });
}

const SCHEMA: JsonObject = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
  additionalProperties: false,
};

const rejected: [what: string, reply: string, options: StructuredOptions][] = [
  ["an object that never ends", '{"a":1', {}],
  ["a bare integer", "7", {}],
  ["nothing", "", {}],
  ["a trailing comma where nothing is mended", '{"a":1,}', { mend: false }],
  ["two different objects", '{"a":1} or {"a":2}', {}],
  ["W36 a number that is none", '{"a":NaN}', { mend: false }],
  ["a value that does not fit the schema", '{"a":"1"}', { schema: SCHEMA }],
  ["a value that the validator rejects", '{"a":1}', { validator: () => false }],
];
for (const [what, reply, options] of rejected) {
  Deno.test(`structured() asks again after ${what}`, async () => {
    const { result, model } = await ask([reply, '{"a":5}'], {
      ...options,
      ...(options.validator === undefined
        ? {}
        : { validator: (value) => JSON.stringify(value) === '{"a":5}' }),
    });
    assertEquals(result.value, { a: 5 });
    assertEquals([result.metadata.parseAttempts, result.metadata.repairAttempts], [2, 1]);
    assertEquals(model.calls[1]?.messages.length, 1);
    assertStringIncludes(String(model.calls[1]?.messages[0]?.content), "It cannot be used: ");
  });
}

Deno.test("structured() without a usable answer fails with every reason and the last text", async () => {
  const error = await failure(["nope", "still nope", "no"], { maxRepairs: 2 });
  assertEquals([error.code, error.usage.llmCalls, error.partial], ["structured", 3, "no"]);
  const errors = error.details["errors"];
  assert(
    Array.isArray(errors) && errors.length === 3 && errors.every((text) => text.includes("JSON")),
  );
});

Deno.test("structured() with no repairs asks once", async () => {
  assertEquals((await failure(["nope"], { maxRepairs: 0 })).usage.llmCalls, 1);
});

Deno.test("structured() shows the schema to the model and to an endpoint that takes it", async () => {
  const { model } = await ask(['{"a":1}'], { schema: SCHEMA });
  assertStringIncludes(String(model.lastCall?.messages[0]?.content), JSON.stringify(SCHEMA));
  assertEquals(model.lastCall?.options.responseFormat, {
    type: "json_schema",
    json_schema: { name: "answer", schema: SCHEMA },
  });
  assertEquals(model.lastCall?.options.temperature, 0);
});

Deno.test("structured() lets the schema choose among several values", async () => {
  const { result } = await ask(['{"b":1} then {"a":2}'], { schema: SCHEMA });
  assertEquals(result.value, { a: 2 });
});

Deno.test("structured() gives a scalar where a schema is given", async () => {
  const { result } = await ask(["7"], { schema: { type: "integer" } });
  assertEquals(result.value, 7);
});

Deno.test("structured() tells the model why a validator rejected", async () => {
  const { model, result } = await ask(['{"a":1}', '{"a":2}'], {
    validator: (value) => JSON.stringify(value) === '{"a":2}' ? null : "a must be 2",
  });
  assertEquals(result.value, { a: 2 });
  assertStringIncludes(
    String(model.lastCall?.messages[0]?.content),
    "It cannot be used: a must be 2",
  );
  assert(result.metadata.validated);
});

Deno.test("W37b structured() waits for a validator that is asynchronous", async () => {
  const { result } = await ask(['{"a":1}'], { validator: () => Promise.resolve(YES) });
  assertEquals(result.value, { a: 1 });
});

Deno.test("W37b structured() tells the spending when a validator throws", async () => {
  const error = await failure(['{"a":1}'], {
    validator: () => {
      throw new Error("broken");
    },
  });
  assertEquals([error.code, error.usage.llmCalls], ["pattern", 1]);
});

Deno.test("W37b structured() quotes at most 8000 characters of the previous answer, and the latest alone", async () => {
  const long = "x".repeat(50_000);
  const { model } = await ask([long, "second", '{"a":1}']);
  const [, second, third] = model.calls.map((call) => String(call.messages[0]?.content));
  assert((second?.length ?? 0) < 9000 && second?.includes("xxxx"));
  assert(third?.includes("second") && !third.includes("xxxx"));
});

Deno.test("structured() asks again with twice the room when an answer was cut off", async () => {
  const { model, result } = await ask([{ content: '{"a":', finishReason: "length" }, '{"a":1}'], {
    maxTokens: 100,
  });
  assertEquals(result.value, { a: 1 });
  assertEquals(model.calls.map((call) => call.options.maxTokens), [100, 200]);
  assertEquals(model.calls[0]?.messages, model.calls[1]?.messages);
});

Deno.test("structured() does not ask again after a refusal", async () => {
  const error = await failure([{ content: "no", finishReason: "refusal" }]);
  assertEquals([error.code, error.usage.llmCalls], ["structured", 1]);
});

Deno.test("structured() never sends an empty message", async () => {
  const { model } = await ask(["", '{"a":1}']);
  assert(model.calls.every(({ messages }) => messages.every(({ content }) => content?.trim())));
});

Deno.test("structured() gives the thinking behind the answer", async () => {
  const { result } = await ask([{ content: '{"a":1}', reasoning: "r3" }]);
  assertEquals(result.metadata.reasoning, "r3");
});

Deno.test("W37 structured() survives an answer nested without end", async () => {
  const error = await failure(["[".repeat(100_000)], { maxRepairs: 0 });
  assertEquals(error.code, "structured");
});

Deno.test("structured() refuses a schema that cannot be used before anything is spent", async () => {
  const error = await failure([], { schema: { type: "thing" } });
  assertEquals([error.code, error.usage.llmCalls], ["argument", 0]);
});

Deno.test("structured() does not multiply retries by repairs", async () => {
  const { LlmError } = await import("../../src/llm/mod.ts");
  const error = await failure(
    Array.from({ length: 3 }, () => new LlmError("server", "HTTP 503", { retryable: true })),
    { maxRepairs: 2 },
  );
  assertEquals([error.code, error.usage.llmCalls], ["server", 3]);
});

Deno.test("structured() tells the trace that JSON is read, whatever the endpoint takes", async () => {
  const seen: (string | undefined)[] = [];
  const trace: TraceSink = {
    write: (event) => event.kind === "llm-call-start" && void seen.push(event.outputType),
  };
  const ports = manualPorts();
  const model = new MockProvider(['{"a":1}']);
  await ports.clock.run(structured(model, "Give me A", { ports, trace }));
  assertEquals(seen, ["json"]);
  assert(!Object.keys(model.lastCall?.options ?? {}).includes("outputType"));
});
