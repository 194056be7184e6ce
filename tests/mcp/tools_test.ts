/** Listing and calling tools, in the shape of every revision. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import type { ContentBlock, Tool, ToolOutcome } from "../../src/mcp/mod.ts";
import { caseTools } from "../fixtures/mcp/tools.ts";
import { at, call, converse, has, META, modern, outline, request, Session } from "./session.ts";

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const MODERN = "2026-07-28";

/** Sends one request in a revision's way and gives its answer. */
async function ask(
  revision: string,
  method: string,
  ...[params = {}, tools]: [params?: JsonObject, tools?: readonly Tool[]]
): Promise<JsonValue> {
  const options = tools === undefined ? {} : { tools: () => tools };
  const [answer] = revision === MODERN
    ? await converse([modern(1, method, params)], options)
    : await converse([request(1, method, params)], { ...options, revision });
  return answer ?? null;
}

function tool(outcome: ToolOutcome, more: Partial<Tool> = {}): Tool {
  const [echo] = caseTools({ clock: { sleep: () => Promise.resolve() } });
  assert(echo !== undefined);
  const { outputSchema: _, ...rest } = echo;
  return {
    ...rest,
    name: "given",
    inputSchema: { type: "object", properties: {} },
    call: () => Promise.resolve(outcome),
    ...more,
  };
}

function given(content: readonly ContentBlock[], structuredContent?: JsonObject): Tool {
  return tool({
    kind: "result",
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
  });
}

Deno.test("two lists are equal to the byte", async () => {
  const session = new Session();
  await session.initialize("2025-11-25");
  await session.exchange(request(1, "tools/list"));
  await session.exchange(request(1, "tools/list"), request(1, "tools/list"));
  const [first, second] = session.lines.slice(-2);
  assert(first !== undefined && first === second);
  assertStringIncludes(first, '"name":"echo"');
  await session.close();
});

for (const cursor of ["abc", "", 5, null]) {
  for (const revision of ["2025-06-18", MODERN]) {
    Deno.test(`cursor ${JSON.stringify(cursor)} was never given out: -32602 in ${revision}`, async () => {
      assertEquals(outline([await ask(revision, "tools/list", { cursor })]), [[1, -32602]]);
    });
  }
}

Deno.test("unknown members of params are ignored", async () => {
  assertEquals(outline([await ask("2025-06-18", "tools/list", { more: 1 })]), [[1, "result"]]);
});

const shapes: [revision: string, members: string[]][] = [
  ["2024-11-05", ["name", "description", "inputSchema"]],
  ["2025-03-26", ["name", "description", "inputSchema", "annotations"]],
  ["2025-06-18", ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]],
  ["2025-11-25", ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]],
  [MODERN, ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]],
];
for (const [revision, members] of shapes) {
  Deno.test(`a tool in ${revision} has ${members.join(", ")}, and the list one page`, async () => {
    const answer = await ask(revision, "tools/list");
    const echo = at(answer, "result", "tools", 0);
    assert(isJsonObject(echo));
    assertEquals(Object.keys(echo), members);
    assertFalse(has(answer, "result", "nextCursor"));
  });
}

const results: [revision: string, members: string[]][] = [
  ["2024-11-05", ["content"]],
  ["2025-03-26", ["content"]],
  ["2025-06-18", ["content", "structuredContent"]],
  ["2025-11-25", ["content", "structuredContent"]],
  [MODERN, ["resultType", "content", "structuredContent", "_meta"]],
];
for (const [revision, members] of results) {
  Deno.test(`a result in ${revision} has ${members.join(", ")}, and its JSON as text`, async () => {
    const answer = await ask(revision, "tools/call", { name: "echo", arguments: { text: "a" } });
    const result = at(answer, "result");
    assert(isJsonObject(result));
    assertEquals(Object.keys(result), members);
    assertEquals(result["content"], [{ type: "text", text: '{"text":"a"}' }]);
  });
}

for (const revision of REVISIONS) {
  for (const name of ["nope", "__proto__", "constructor", "toString", ""]) {
    Deno.test(`tool ${JSON.stringify(name)} is unknown: -32602 in ${revision}`, async () => {
      const answer = await ask(revision, "tools/call", { name });
      assertEquals(at(answer, "error"), { code: -32602, message: `Unknown tool: ${name}` });
    });
  }
}

const malformed: [what: string, params: JsonObject][] = [
  ["no name", {}],
  ["name 7", { name: 7 }],
  ["arguments as an array", { name: "echo", arguments: [] }],
  ["arguments null", { name: "echo", arguments: null }],
  ["arguments as a text", { name: "echo", arguments: '{"text":"a"}' }],
];
for (const [what, params] of malformed) {
  for (const revision of ["2024-11-05", "2025-11-25", MODERN]) {
    Deno.test(`tools/call with ${what} is malformed: -32602 in ${revision}`, async () => {
      assertEquals(outline([await ask(revision, "tools/call", params)]), [[1, -32602]]);
    });
  }
}

Deno.test("a tool without required arguments may be called without any", async () => {
  const answer = await ask("2025-06-18", "tools/call", { name: "fail" });
  assertEquals(outline([answer]), [[1, "result"]]);
});

const misfits: [args: JsonObject, problems: string[]][] = [
  [{}, ["'text' is required and must be a string"]],
  [{ text: 1 }, ["'text' must be a string"]],
  [{ text: null }, ["'text' must be a string"]],
  [{ text: "a", zzz: 1 }, ["unknown argument 'zzz' (known: 'text')"]],
  [{ zzz: 1, yyy: 2 }, [
    "unknown argument 'zzz' (known: 'text')",
    "unknown argument 'yyy'",
    "'text' is required and must be a string",
  ]],
];
for (const [args, problems] of misfits) {
  for (const revision of REVISIONS) {
    Deno.test(`echo ${JSON.stringify(args)} fails in ${revision} and names every problem`, async () => {
      const answer = await ask(revision, "tools/call", { name: "echo", arguments: args });
      assert(at(answer, "result", "isError"));
      assertEquals(at(answer, "result", "content", 0), { type: "text", text: problems.join("\n") });
      const report = at(answer, "result", "content", 1, "text");
      assertEquals(JSON.parse(String(report)), {
        status: "error",
        error: "invalid-request",
        errors: problems,
        warnings: [],
      });
      assertFalse(has(answer, "result", "structuredContent"));
    });
  }
}

for (const revision of REVISIONS) {
  Deno.test(`a failed tool in ${revision} gives a text and no structured content`, async () => {
    const answer = await ask(revision, "tools/call", { name: "fail" });
    assert(at(answer, "result", "isError"));
    assertEquals(at(answer, "result", "content"), [{ type: "text", text: "it failed" }]);
    assertFalse(has(answer, "result", "structuredContent"));
    assertEquals(has(answer, "result", "resultType"), revision === MODERN);
  });
}

Deno.test("a tool that throws gives -32603 without its cause, which the log has", async () => {
  const session = new Session();
  await session.initialize("2025-11-25");
  const [answer] = await session.exchange(call(1, "crash"));
  assertEquals(at(answer, "error"), { code: -32603, message: "Internal error" });
  assertStringIncludes(session.log.at(-1)?.[1] ?? "", "a secret cause");
  assertEquals(outline(await session.exchange(request(2, "ping"))), [[2, "result"]]);
  await session.close();
});

for (const revision of ["2025-11-25", MODERN]) {
  Deno.test(`a wish for a task is ignored in ${revision}`, async () => {
    const params = { name: "echo", arguments: { text: "a" }, task: { ttl: 1_000 } };
    const answer = await ask(revision, "tools/call", params);
    assertEquals(at(answer, "result", "structuredContent"), { text: "a" });
  });
}

Deno.test("the shorter of two calls is answered first, each under its id", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  await session.exchange(call("long", "slow", { ms: 300 }), call("short", "slow", { ms: 100 }));
  assertEquals(outline(await session.advance(1_000)), [["short", "result"], ["long", "result"]]);
  await session.close();
});

Deno.test("a ping is answered while a call runs", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  assertEquals(outline(await session.exchange(call(1, "slow", { ms: 100 }), request(2, "ping"))), [
    [2, "result"],
  ]);
  await session.close();
});

Deno.test("a result above 4 MiB is left out and says so, and the next call is served", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  const [answer] = await session.exchange(call(1, "large", { characters: 5_000_000 }));
  assert(at(answer, "result", "isError"));
  assertStringIncludes(String(at(answer, "result", "content", 0, "text")), "4194304 bytes");
  const [next] = await session.exchange(call(2, "large", { characters: 1_000_000 }));
  assertEquals(String(at(next, "result", "content", 0, "text")).length, 1_000_000);
  await session.close();
});

Deno.test("64 calls run, 1,024 wait, one more is told that the server is busy", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  const calls = Array.from({ length: 1_089 }, (_, id) => call(id, "slow", { ms: 100 }));
  const [busy, ...more] = await session.exchange(...calls);
  assertEquals(more, []);
  assertEquals(at(busy, "id"), 1_088);
  assert(at(busy, "result", "isError"));
  assertStringIncludes(String(at(busy, "result", "content", 1, "text")), '"error":"busy"');
  assertEquals((await session.advance(100)).length, 64);
  assertEquals((await session.advance(1_700)).length, 1_024);
  await session.close();
});

Deno.test("null optional arguments are dropped, null required ones are not", async () => {
  const seen: JsonObject[] = [];
  const schema = {
    type: "object",
    properties: {
      a: { type: "string" },
      n: { type: "integer" },
      any: { type: ["string", "null"] },
    },
    required: ["a"],
    additionalProperties: false,
  };
  const recording = tool({ kind: "result", content: [] }, {
    inputSchema: schema,
    call: (args) => {
      seen.push(args);
      return Promise.resolve({ kind: "result", content: [] });
    },
  });
  await ask("2025-06-18", "tools/call", {
    name: "given",
    arguments: { a: "x", n: null, any: null },
  }, [recording]);
  const failed = await ask("2025-06-18", "tools/call", { name: "given", arguments: { a: null } }, [
    recording,
  ]);
  assertEquals(seen.map((args) => ({ ...args })), [{ a: "x", any: null }]);
  assert(at(failed, "result", "isError"));
});

Deno.test("arguments reach a tool without a prototype, __proto__ as a member like any other", async () => {
  let prototypes: unknown[] = [];
  let keys: string[] = [];
  const recording = tool({ kind: "result", content: [] }, {
    call: (args) => {
      const inner = args["inner"];
      prototypes = [Object.getPrototypeOf(args), Object.getPrototypeOf(inner)];
      keys = Object.keys(args);
      return Promise.resolve({ kind: "result", content: [] });
    },
  });
  const line =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"given","arguments":' +
    '{"__proto__":{"admin":true},"inner":{"a":1}}}}';
  await converse([line], { revision: "2025-06-18", tools: () => [recording] });
  assertEquals(prototypes, [null, null]);
  assertEquals(keys, ["__proto__", "inner"]);
});

Deno.test("a result that does not fit the tool's own schema is marked as failed, and logged", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const wrong = tool({ kind: "result", content: [], structuredContent: { n: "x" } }, {
    outputSchema: schema,
  });
  const session = new Session({ tools: () => [wrong] });
  await session.initialize("2025-06-18");
  const [answer] = await session.exchange(call(1, "given"));
  assert(at(answer, "result", "isError"));
  assertFalse(has(answer, "result", "structuredContent"));
  assertEquals(session.log.map(([level]) => level), ["error"]);
  await session.close();
});

Deno.test("a missing structured content under an output schema is marked as failed", async () => {
  const lacking = tool({ kind: "result", content: [] }, {
    outputSchema: { type: "object", properties: {} },
  });
  const answer = await ask("2025-06-18", "tools/call", { name: "given" }, [lacking]);
  assert(at(answer, "result", "isError"));
});

Deno.test("a tool's own JSON text is not repeated", async () => {
  const both = given([{ type: "text", text: "for people" }, { type: "text", text: '{"a":1}' }], {
    a: 1,
  });
  const answer = await ask("2025-06-18", "tools/call", { name: "given" }, [both]);
  assertEquals(at(answer, "result", "content"), [
    { type: "text", text: "for people" },
    { type: "text", text: '{"a":1}' },
  ]);
});

Deno.test("_meta of a tool's result goes out, beside the server's name in the modern era", async () => {
  const withMeta = tool({ kind: "result", content: [], meta: { "dev.kit/code": "x" } });
  const legacy = await ask("2025-06-18", "tools/call", { name: "given" }, [withMeta]);
  assertEquals(at(legacy, "result", "_meta"), { "dev.kit/code": "x" });
  const answer = await ask(MODERN, "tools/call", { name: "given" }, [withMeta]);
  assertEquals(Object.keys(Object(at(answer, "result", "_meta"))), [
    "dev.kit/code",
    "io.modelcontextprotocol/serverInfo",
  ]);
});

const AUDIO: ContentBlock = { type: "audio", data: "AA==", mimeType: "audio/wav" };
const LINK: ContentBlock = { type: "resource_link", uri: "file:///a", name: "a" };
const IMAGE: ContentBlock = { type: "image", data: "AA==", mimeType: "image/png", _meta: { a: 1 } };

const blocks: [what: string, block: ContentBlock, revision: string, expected: JsonObject][] = [
  ["audio", AUDIO, "2024-11-05", { type: "text", text: "[audio, audio/wav]" }],
  ["audio", AUDIO, "2025-03-26", { ...AUDIO }],
  ["a link", LINK, "2025-03-26", { type: "text", text: "file:///a" }],
  ["a link", LINK, "2025-06-18", { ...LINK }],
  ["_meta of an image", IMAGE, "2025-03-26", {
    type: "image",
    data: "AA==",
    mimeType: "image/png",
  }],
  ["_meta of an image", IMAGE, MODERN, { ...IMAGE }],
];
for (const [what, block, revision, expected] of blocks) {
  Deno.test(`${what} in ${revision} goes out as ${JSON.stringify(expected)}`, async () => {
    const answer = await ask(revision, "tools/call", { name: "given" }, [given([block])]);
    assertEquals(at(answer, "result", "content"), [expected]);
  });
}

const traces: [what: string, meta: JsonObject, expected: unknown][] = [
  ["a valid parent", {
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    tracestate: "x=1",
  }, {
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    tracestate: "x=1",
  }],
  ["a parent of zeros", { traceparent: `00-${"0".repeat(32)}-${"b".repeat(16)}-01` }, undefined],
  ["a short parent", { traceparent: "00-abc-def-01" }, undefined],
  ["a state without parent", { tracestate: "x=1" }, undefined],
];
for (const [what, _meta, expected] of traces) {
  Deno.test(`a tool is told of ${what} as ${JSON.stringify(expected) ?? "nothing"}`, async () => {
    let seen: unknown = "not called";
    const recording = tool({ kind: "result", content: [] }, {
      call: (_args, { traceContext }) => {
        seen = traceContext;
        return Promise.resolve({ kind: "result", content: [] });
      },
    });
    await ask("2025-06-18", "tools/call", { name: "given", _meta }, [recording]);
    assertEquals(seen, expected);
    await ask(MODERN, "tools/call", { name: "given", _meta: { ...META, ..._meta } }, [recording]);
    assertEquals(seen, expected);
  });
}

Deno.test("a tool is told the id of its request", async () => {
  const seen: unknown[] = [];
  const recording = tool({ kind: "result", content: [] }, {
    call: (_args, { requestId }) => {
      seen.push(requestId);
      return Promise.resolve({ kind: "result", content: [] });
    },
  });
  const session = new Session({ tools: () => [recording] });
  await session.initialize("2025-11-25");
  await session.exchange(call(0, "given"), call("", "given"), call("0", "given"));
  assertEquals(seen, [0, "", "0"]);
  await session.close();
});
