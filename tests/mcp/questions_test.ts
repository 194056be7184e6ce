/** Tools that ask a person: in the middle of a legacy call, and over several modern ones. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import type { Question, Tool, ToolContext, ToolOutcome } from "../../src/mcp/mod.ts";
import type { ManualClock } from "../../src/testing/mod.ts";
import { fixtureTools } from "../fixtures/mcp/tools.ts";
import {
  at,
  call,
  cancelled,
  has,
  modernMeta,
  outline,
  request,
  Session,
  type SessionOptions,
} from "./session.ts";

const FORM = { elicitation: {} };

async function legacy(
  revision = "2025-06-18",
  capabilities: JsonObject = FORM,
  options: SessionOptions = {},
): Promise<Session> {
  const session = new Session(options);
  await session.initialize(revision, capabilities);
  return session;
}

function answer(id: JsonValue, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

function textOf(message: JsonValue | undefined): JsonValue {
  return at(message, "result", "content", 0, "text");
}

Deno.test("a legacy call asks with a request of ours, without mode in 2025-06-18", async () => {
  const session = await legacy();
  assertEquals(await session.exchange(call(2, "ask")), [{
    jsonrpc: "2.0",
    id: "kit-1",
    method: "elicitation/create",
    params: {
      message: "Continue?",
      requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
    },
  }]);
  await session.close();
});

Deno.test("a legacy call asks with mode form in 2025-11-25", async () => {
  const session = await legacy("2025-11-25");
  const [question] = await session.exchange(call(2, "ask"));
  assertEquals(at(question, "params", "mode"), "form");
  await session.close();
});

const outcomes: [what: string, result: JsonObject, text: string][] = [
  ["accepts", { action: "accept", content: { ok: true } }, "ok: true"],
  ["declines", { action: "decline" }, "decline"],
  ["closes the form", { action: "cancel" }, "cancel"],
  ["declines with content", { action: "decline", content: { ok: true } }, "decline"],
];
for (const [what, result, text] of outcomes) {
  Deno.test(`a person who ${what} gives a result, not an error`, async () => {
    const session = await legacy();
    await session.exchange(call(2, "ask"));
    const [final] = await session.exchange(answer("kit-1", result));
    assertEquals(at(final, "id"), 2);
    assertEquals(textOf(final), text);
    assertFalse(has(final, "result", "isError"));
    await session.close();
  });
}

const askedAgain: [what: string, result: JsonObject][] = [
  ["content of another type", { action: "accept", content: { ok: "yes" } }],
  ["content that is no object", { action: "accept", content: 7 }],
  ["an unknown action", { action: "maybe" }],
  ["nothing", {}],
];
for (const [what, result] of askedAgain) {
  Deno.test(`${what} is asked again under a new id`, async () => {
    const session = await legacy();
    await session.exchange(call(2, "ask"));
    const [again] = await session.exchange(answer("kit-1", result));
    assertEquals(at(again, "id"), "kit-2");
    assertEquals(at(again, "method"), "elicitation/create");
    await session.close();
  });
}

Deno.test("a client that refuses to ask makes the tool end without asking", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  const error = { code: -32601, message: "no" };
  const [final] = await session.exchange({ jsonrpc: "2.0", id: "kit-1", error });
  assert(at(final, "result", "isError"));
  assertEquals(textOf(final), "could not ask");
  await session.close();
});

Deno.test("after eight rounds nobody is asked again", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  for (let round = 1; round < 8; round += 1) {
    assertEquals(outline(await session.exchange(answer(`kit-${round}`, {}))), [[
      `kit-${round + 1}`,
      "elicitation/create",
    ]]);
  }
  assertEquals(outline(await session.exchange(answer("kit-8", {}))), [[2, "result"]]);
  await session.close();
});

Deno.test("a question that nobody answers for ten minutes is taken back", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  const [notice, final] = await session.advance(600_000);
  assertEquals(notice, cancelled("kit-1"));
  assert(at(final, "result", "isError"));
  assertEquals(await session.exchange(answer("kit-1", { action: "accept", content: {} })), []);
  await session.close();
});

const silent: [what: string, revision: string, capabilities: JsonObject][] = [
  ["url elicitation alone", "2025-11-25", { elicitation: { url: {} } }],
  ["a revision without elicitation", "2025-03-26", FORM],
  ["no capability", "2025-11-25", {}],
  ["a capability that is no object", "2025-11-25", { elicitation: true }],
];
for (const [what, revision, capabilities] of silent) {
  Deno.test(`with ${what} no request is sent and the call fails with a way out`, async () => {
    const session = await legacy(revision, capabilities);
    const [final, ...more] = await session.exchange(call(2, "ask"));
    assertEquals(more, []);
    assert(at(final, "result", "isError"));
    assertStringIncludes(String(textOf(final)), "as an argument");
    await session.close();
  });
}

Deno.test("before the client has confirmed the session it is not asked", async () => {
  const session = new Session();
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: FORM,
    clientInfo: { name: "t", version: "1" },
  };
  const answers = await session.exchange(request(1, "initialize", params), call(2, "ask"));
  assertEquals(outline(answers), [[1, "result"], [2, "result"]]);
  await session.close();
});

Deno.test("to cancel a call takes back its question, and a late answer is ignored", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  assertEquals(await session.exchange(cancelled(2)), [cancelled("kit-1")]);
  const late = answer("kit-1", { action: "accept", content: { ok: true } });
  assertEquals(await session.exchange(late), []);
  assertEquals(session.log.at(-1)?.[0], "warning");
  await session.close();
});

Deno.test("a call that waits for a person holds up no other", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  const answers = await session.exchange(
    request(3, "ping"),
    call(4, "echo", { text: "a" }),
    call(5, "ask"),
  );
  assertEquals(outline(answers), [[3, "result"], ["kit-2", "elicitation/create"], [4, "result"]]);
  const [final] = await session.exchange(answer("kit-2", { action: "decline" }));
  assertEquals(at(final, "id"), 5);
  await session.close();
});

Deno.test("at the end of input a question cannot be answered, so the call ends without it", async () => {
  const session = await legacy();
  await session.exchange(call(2, "ask"));
  const [final] = await session.close();
  assertEquals(textOf(final), "could not ask");
});

const FIELDS: [what: string, field: JsonObject, plain: JsonObject][] = [
  ["a default of a text", { type: "string", default: "a" }, { type: "string" }],
  ["a default of a boolean", { type: "boolean", default: true }, {
    type: "boolean",
    default: true,
  }],
  ["titled choices", {
    type: "string",
    oneOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }],
  }, {
    type: "string",
    enum: ["a", "b"],
    enumNames: ["A", "B"],
  }],
];
for (const [what, field, plain] of FIELDS) {
  Deno.test(`${what} goes out as ${JSON.stringify(plain)} in 2025-06-18, unchanged later`, async () => {
    const tools = () => [asking({ q: { message: "?", requestedSchema: form({ field }) } })];
    const old = await legacy("2025-06-18", FORM, { tools });
    const [first] = await old.exchange(call(2, "asking"));
    assertEquals(at(first, "params", "requestedSchema", "properties", "field"), plain);
    await old.close();
    const recent = await legacy("2025-11-25", FORM, { tools });
    const [second] = await recent.exchange(call(2, "asking"));
    assertEquals(at(second, "params", "requestedSchema", "properties", "field"), field);
    await recent.close();
  });
}

function form(properties: JsonObject): JsonObject {
  return { type: "object", properties };
}

/** A tool that asks once and then tells what it knows. */
function asking(questions: Record<string, Question>, seen: ToolContext[] = []): Tool {
  return {
    name: "asking",
    title: "Asking",
    description: "Asks",
    inputSchema: { type: "object", properties: { a: { type: "integer" } } },
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    call: (_args, context): Promise<ToolOutcome> => {
      seen.push(context);
      const isDone = seen.length > 1;
      return Promise.resolve(
        isDone ? { kind: "result", content: [] } : { kind: "ask", questions, state: { step: 1 } },
      );
    },
  };
}

function ask(id: number, params: JsonObject = {}, capabilities: JsonObject = FORM): JsonObject {
  return request(id, "tools/call", { name: "ask", _meta: modernMeta(capabilities), ...params });
}

const ACCEPTED: JsonObject = { go: { action: "accept", content: { ok: true } } };
const MISTYPED: JsonObject = { go: { action: "accept", content: { ok: "yes" } } };

async function firstRound(session: Session): Promise<string> {
  const [round] = await session.exchange(ask(1));
  return String(at(round, "result", "requestState"));
}

Deno.test("a modern call is answered with its question, and no request goes out", async () => {
  const session = new Session();
  const [round, ...more] = await session.exchange(ask(1));
  assertEquals(more, []);
  assertEquals(Object.keys(Object(at(round, "result"))), [
    "resultType",
    "inputRequests",
    "requestState",
    "_meta",
  ]);
  assertEquals(at(round, "result", "resultType"), "input_required");
  assertEquals(at(round, "result", "inputRequests"), {
    go: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Continue?",
        requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
      },
    },
  });
  assertMatch(String(at(round, "result", "requestState")), /^v1\.[\w-]+\.[\w-]{43}$/);
  await session.close();
});

for (const where of ["the same process", "another process"]) {
  Deno.test(`the call repeated with an answer and its state is complete, in ${where}`, async () => {
    const session = new Session();
    const requestState = await firstRound(session);
    const next = where === "the same process" ? session : new Session({ clock: session.clock });
    const [final] = await next.exchange(ask(2, { inputResponses: ACCEPTED, requestState }));
    assertEquals(at(final, "result", "resultType"), "complete");
    assertEquals(textOf(final), "ok: true");
    await Promise.all([session.close(), next.close()]);
  });
}

const forged: [what: string, change: (state: string) => JsonObject][] = [
  ["a character more", (state) => ({ requestState: `${state}x` })],
  ["a changed payload", (state) => ({ requestState: state.replace("v1.e", "v1.f") })],
  ["another format", (state) => ({ requestState: state.replace("v1.", "v2.") })],
  ["nothing", () => ({ requestState: "" })],
  ["other arguments", (state) => ({ requestState: state, arguments: { a: 1 } })],
  ["another tool", (state) => ({ requestState: state, name: "fail" })],
];
for (const [what, change] of forged) {
  Deno.test(`a state with ${what} is refused: -32602, the cause only in the log`, async () => {
    const session = new Session();
    const state = await firstRound(session);
    const [refusal] = await session.exchange(
      ask(2, { inputResponses: ACCEPTED, ...change(state) }),
    );
    assertEquals(at(refusal, "error"), {
      code: -32602,
      message: "Invalid or expired requestState",
      data: { reason: "invalid_request_state" },
    });
    assertStringIncludes(session.log.at(-1)?.[1] ?? "", "requestState refused");
    await session.close();
  });
}

Deno.test("a state is good for ten minutes", async () => {
  const session = new Session();
  const requestState = await firstRound(session);
  await session.advance(599_999);
  const params = { inputResponses: ACCEPTED, requestState };
  assertEquals(outline(await session.exchange(ask(2, params))), [[2, "result"]]);
  await session.advance(1);
  assertEquals(outline(await session.exchange(ask(3, params))), [[3, -32602]]);
  await session.close();
});

const malformed: [what: string, params: JsonObject][] = [
  ["a state that is a number", { requestState: 5 }],
  ["a state that is null", { requestState: null }],
  ["answers that are null", { inputResponses: null }],
  ["answers in an array", { inputResponses: [] }],
];
for (const [what, params] of malformed) {
  Deno.test(`${what} is malformed: -32602`, async () => {
    const session = new Session();
    assertEquals(outline(await session.exchange(ask(2, params))), [[2, -32602]]);
    await session.close();
  });
}

const retries: [what: string, inputResponses: JsonObject, resultType: string][] = [
  ["another key", { wrong: { action: "accept", content: {} } }, "input_required"],
  ["no answer", {}, "input_required"],
  ["a number for an answer", { go: 12345 }, "input_required"],
  ["content of another type", MISTYPED, "input_required"],
  ["the key and others", { ...ACCEPTED, more: 1 }, "complete"],
  ["a refusal", { go: { action: "decline" } }, "complete"],
];
for (const [what, inputResponses, resultType] of retries) {
  Deno.test(`a repeated call with ${what} is ${resultType}`, async () => {
    const session = new Session();
    const requestState = await firstRound(session);
    const [next] = await session.exchange(ask(2, { inputResponses, requestState }));
    assertEquals(at(next, "result", "resultType"), resultType);
    await session.close();
  });
}

Deno.test("answers without a state are taken for the first questions", async () => {
  const session = new Session();
  const [final] = await session.exchange(ask(1, { inputResponses: ACCEPTED }));
  assertEquals(textOf(final), "ok: true");
  await session.close();
});

/** Asks a person about what it has just made, as a suspended run does. */
function makingThenAsking(): Tool {
  let made = 0;
  return {
    ...asking({}),
    name: "ask",
    call: (_args, { answers, state }): Promise<ToolOutcome> => {
      const answer = answers.get("go");
      if (answer !== undefined) {
        const text = `${answer.action} to ${JSON.stringify(state)}`;
        return Promise.resolve({ kind: "result", content: [{ type: "text", text }] });
      }
      made += 1;
      const go = { message: `Use ${made}?`, requestedSchema: form({ ok: { type: "boolean" } }) };
      return Promise.resolve({ kind: "ask", questions: { go }, state: { made } });
    },
  };
}

Deno.test("answers without a state never settle a question that has one: it is asked first", async () => {
  const session = new Session({ tools: () => [makingThenAsking()] });
  const [question] = await session.exchange(ask(1, { inputResponses: ACCEPTED }));
  assertEquals(at(question, "result", "inputRequests", "go", "params", "message"), "Use 1?");
  const requestState = String(at(question, "result", "requestState"));
  const [final] = await session.exchange(ask(2, { inputResponses: ACCEPTED, requestState }));
  assertEquals(textOf(final), 'accept to {"made":1}');
  await session.close();
});

const incapable: [what: string, capabilities: JsonObject][] = [
  ["nothing", {}],
  ["url elicitation alone", { elicitation: { url: {} } }],
  ["sampling alone", { sampling: {} }],
];
for (const [what, capabilities] of incapable) {
  Deno.test(`a modern client with ${what} learns which capability is missing`, async () => {
    const session = new Session();
    const [refusal] = await session.exchange(ask(1, {}, capabilities));
    assertEquals(at(refusal, "error", "code"), -32021);
    assertEquals(at(refusal, "error", "data"), {
      requiredCapabilities: { elicitation: { form: {} } },
    });
    await session.close();
  });
}

Deno.test("tools/list never asks, whatever it brings", async () => {
  const session = new Session();
  const params = { _meta: modernMeta(FORM), inputResponses: ACCEPTED, requestState: "x" };
  const [list] = await session.exchange(request(1, "tools/list", params));
  assertEquals(at(list, "result", "resultType"), "complete");
  await session.close();
});

const SUITE = { tools: (clock: ManualClock) => fixtureTools({ clock }) };

function suite(name: string, params: JsonObject, capabilities: JsonObject): JsonObject {
  const full = `test_input_required_result_${name}`;
  return request(1, "tools/call", { name: full, _meta: modernMeta(capabilities), ...params });
}

Deno.test("each round of a modern call has a state of its own, and answers of earlier rounds travel in it", async () => {
  const session = new Session(SUITE);
  const [first] = await session.exchange(suite("multi_round", {}, FORM));
  const state1 = String(at(first, "result", "requestState"));
  const step1 = { step1: { action: "accept", content: { name: "Ada" } } };
  const [second] = await session.exchange(
    suite("multi_round", { inputResponses: step1, requestState: state1 }, FORM),
  );
  const state2 = String(at(second, "result", "requestState"));
  assertEquals(Object.keys(Object(at(second, "result", "inputRequests"))), ["step2"]);
  assert(state1 !== state2);
  const step2 = { step2: { action: "accept", content: { color: "red" } } };
  const [final] = await session.exchange(
    suite("multi_round", { inputResponses: step2, requestState: state2 }, FORM),
  );
  assertEquals(textOf(final), "both rounds done");
  await session.close();
});

Deno.test("only what the client declared is asked", async () => {
  const session = new Session(SUITE);
  const [round] = await session.exchange(suite("capabilities", {}, { sampling: {} }));
  assertEquals(Object.keys(Object(at(round, "result", "inputRequests"))), ["capital_question"]);
  await session.close();
});

Deno.test("of several questions only those without an answer are asked again", async () => {
  const session = new Session(SUITE);
  const all = { elicitation: {}, sampling: {}, roots: {} };
  const [first] = await session.exchange(suite("multiple_inputs", {}, all));
  const requestState = String(at(first, "result", "requestState"));
  const inputResponses = { "user_name": { action: "accept", content: { name: "Ada" } } };
  const [second] = await session.exchange(
    suite("multiple_inputs", { inputResponses, requestState }, all),
  );
  assertEquals(Object.keys(Object(at(second, "result", "inputRequests"))), [
    "greeting",
    "client_roots",
  ]);
  await session.close();
});

Deno.test("an answer counts once: the same key asked anew waits for a new answer", async () => {
  let entered = 0;
  const seen: ToolContext[] = [];
  const twice: Tool = {
    ...asking({}),
    name: "ask",
    call: (_args, context): Promise<ToolOutcome> => {
      entered += 1;
      seen.push(context);
      if (entered > 2) return Promise.resolve({ kind: "result", content: [] });
      const go = {
        message: `round ${entered}`,
        requestedSchema: form({ ok: { type: "boolean" } }),
      };
      return Promise.resolve({ kind: "ask", questions: { go }, state: { entered } });
    },
  };
  const session = new Session({ tools: () => [twice] });
  const [first] = await session.exchange(ask(1, {}));
  const begun = {
    inputResponses: ACCEPTED,
    requestState: String(at(first, "result", "requestState")),
  };
  const [second] = await session.exchange(ask(2, begun));
  assertEquals(at(second, "result", "inputRequests", "go", "params", "message"), "round 2");
  assertEquals(seen.map(({ answers }) => [...answers.keys()]), [[], ["go"]]);
  const requestState = String(at(second, "result", "requestState"));
  await session.exchange(ask(3, { inputResponses: { go: { action: "decline" } }, requestState }));
  assertEquals(seen[2]?.answers.get("go"), { action: "decline" });
  assertEquals(seen[2]?.state, { entered: 2 });
  await session.close();
});

Deno.test("a tool whose question failed is entered once more, with cancel under its keys", async () => {
  const seen: ToolContext[] = [];
  const q = { message: "?", requestedSchema: form({}) };
  const session = await legacy("2025-06-18", FORM, { tools: () => [asking({ q }, seen)] });
  await session.exchange(call(2, "asking"));
  await session.exchange({ jsonrpc: "2.0", id: "kit-1", error: { code: 1, message: "no" } });
  assertEquals(seen.map(({ canAsk }) => canAsk), [true, false]);
  assertEquals(seen[1]?.answers.get("q"), { action: "cancel" });
  assertEquals(seen[1]?.state, { step: 1 });
  await session.close();
});

for (const capabilities of [{}, { elicitation: { url: {} } }, { sampling: {} }]) {
  const declared = JSON.stringify(capabilities);
  Deno.test(`a repeated call that declares ${declared} is not asked again what it cannot show`, async () => {
    const session = new Session();
    const requestState = await firstRound(session);
    const [final] = await session.exchange(ask(2, { requestState }, capabilities));
    assertEquals(textOf(final), "could not ask");
    await session.close();
  });
}

Deno.test("a repeated call is asked again only what it declares itself", async () => {
  const session = new Session(SUITE);
  const all = { elicitation: {}, sampling: {}, roots: {} };
  const [first] = await session.exchange(suite("multiple_inputs", {}, all));
  const requestState = String(at(first, "result", "requestState"));
  const [second] = await session.exchange(
    suite("multiple_inputs", { requestState }, { sampling: {} }),
  );
  assertEquals(Object.keys(Object(at(second, "result", "inputRequests"))), ["greeting"]);
  await session.close();
});

Deno.test("after eight modern rounds the tool ends without asking", async () => {
  const session = new Session();
  let requestState = await firstRound(session);
  for (let round = 2; round <= 8; round += 1) {
    const [next] = await session.exchange(ask(round, { requestState }));
    requestState = String(at(next, "result", "requestState"));
  }
  const [final] = await session.exchange(ask(9, { requestState }));
  assertEquals(textOf(final), "could not ask");
  await session.close();
});
