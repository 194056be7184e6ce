import { assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import { type CompleteOptions, ConfigError, type Message } from "../../src/llm/mod.ts";
import { openAiBody, type OpenAiDialect } from "../../src/providers/openai_request.ts";

const DIALECT: OpenAiDialect = {
  model: "m",
  defaultTemperature: undefined,
  defaultMaxTokens: undefined,
  tokenLimitField: "max_tokens",
  reasoningParameters: { reasoning_effort: "low" },
  dropped: new Set(),
  replayReasoning: false,
  shortToolCallIds: false,
};
const USER = [{ role: "user", content: "hi" }] as const;

function body(options: CompleteOptions = {}, dialect: Partial<OpenAiDialect> = {}): unknown {
  return openAiBody(USER, options, { ...DIALECT, ...dialect });
}

const bodies: [
  what: string,
  options: CompleteOptions,
  dialect: Partial<OpenAiDialect>,
  more: object,
][] = [
  ["nothing that is not given", {}, {}, {}],
  ["a temperature of 0", { temperature: 0 }, { defaultTemperature: 0.7 }, { temperature: 0 }],
  ["the default temperature", {}, { defaultTemperature: 0.7 }, { temperature: 0.7 }],
  ["the limit in the field that is wanted", { maxTokens: 5 }, {
    tokenLimitField: "max_completion_tokens",
  }, { max_completion_tokens: 5 }],
  ["no tools and no choice where the list is empty", { tools: [], toolChoice: "auto" }, {}, {}],
  ["seed and stop", { seed: 0, stop: ["x"] }, {}, { seed: 0, stop: ["x"] }],
  ["no empty list of stops", { stop: [] }, {}, {}],
  ["the vendor's switch for thinking", { reasoning: true }, {}, { reasoning_effort: "low" }],
  ["vendor fields", { extra: { top_k: 5 } }, {}, { top_k: 5 }],
  [
    "no temperature beside the vendor's thinking",
    { temperature: 0.2, extra: { thinking: { type: "enabled" } } },
    {},
    { thinking: { type: "enabled" } },
  ],
  [
    "a temperature where the vendor's thinking is off",
    { temperature: 0.2, extra: { thinking: { type: "disabled" } } },
    {},
    { temperature: 0.2, thinking: { type: "disabled" } },
  ],
  ["nothing that was dropped", { seed: 1 }, { dropped: new Set(["seed"]) }, {}],
];
for (const [what, options, dialect, more] of bodies) {
  Deno.test(`W13 openAiBody() sends ${what}`, () => {
    assertEquals<unknown>(body(options, dialect), { model: "m", messages: USER, ...more });
  });
}

for (const field of ["model", "messages", "stream", "max_tokens", "tools", "n"]) {
  Deno.test(`openAiBody() refuses the extra field ${field}`, () => {
    assertThrows(() => body({ extra: { [field]: 1 } }), ConfigError, `extra field "${field}"`);
  });
}

const numbers: [what: string, options: CompleteOptions, path: string][] = [
  ["a temperature", { temperature: NaN }, "temperature is"],
  ["a number deep within", { extra: { a: [{ b: Infinity }] } }, "a.0.b"],
];
for (const [what, options, path] of numbers) {
  Deno.test(`W29 openAiBody() refuses ${what} that is not finite`, () => {
    const error = assertThrows(() => body(options), ConfigError);
    assertEquals(error.code, "argument");
    assertMatch(error.message, new RegExp(path.split(" ")[0] ?? ""));
  });
}

const CALL = { kind: "ok", id: "call_abc-1234567", name: "t", arguments: { a: 1 } } as const;
const TURNS: readonly Message[] = [
  ...USER,
  { role: "assistant", content: "", toolCalls: [CALL] },
  { role: "tool", toolCallId: CALL.id, content: "1" },
];

// deno-lint-ignore no-explicit-any -- tests look at bodies freely
function turns(messages: readonly Message[], dialect: Partial<OpenAiDialect> = {}): any {
  return openAiBody(messages, {}, { ...DIALECT, ...dialect })["messages"];
}

Deno.test("openAiBody() writes a turn of calls with null content and arguments as text", () => {
  assertEquals(turns(TURNS).slice(1), [
    {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "call_abc-1234567",
        type: "function",
        function: { name: "t", arguments: '{"a":1}' },
      }],
    },
    { role: "tool", tool_call_id: "call_abc-1234567", content: "1" },
  ]);
});

Deno.test("openAiBody() writes ids of nine letters or digits where wanted, calls and results paired", () => {
  const [, call, result] = turns(TURNS, { shortToolCallIds: true });
  assertMatch(call.tool_calls[0].id, /^[A-Za-z0-9]{9}$/);
  assertEquals(result.tool_call_id, call.tool_calls[0].id);
  const kept = turns([{ role: "tool", toolCallId: "abcDEF123", content: "1" }], {
    shortToolCallIds: true,
  });
  assertEquals(kept[0].tool_call_id, "abcDEF123");
});

Deno.test("openAiBody() sends thinking back only where it is asked for", () => {
  const thought: readonly Message[] = [{
    role: "assistant",
    content: "x",
    vendorData: { reasoning_content: "because" },
  }];
  assertFalse("reasoning_content" in turns(thought)[0]);
  assertEquals(turns(thought, { replayReasoning: true })[0].reasoning_content, "because");
});

Deno.test("openAiBody() writes unusable arguments within JSON, and names that can be sent", () => {
  const call = {
    kind: "invalid",
    id: "1",
    name: "read file!",
    rawArguments: "{oops",
    problem: "x",
  } as const;
  const [turn] = turns([{
    role: "assistant",
    content: null,
    toolCalls: [call, { ...call, name: "" }],
  }]);
  assertEquals(turn.tool_calls[0].function, {
    name: "read_file_",
    arguments: '{"unusable_arguments":"{oops"}',
  });
  assertEquals(turn.tool_calls[1].function.name, "unnamed");
});

Deno.test("openAiBody() replaces half a surrogate, which no server can read", () => {
  assertEquals(turns([{ role: "user", content: "a\ud83d" }])[0].content, "a\ufffd");
});
