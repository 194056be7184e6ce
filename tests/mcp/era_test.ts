/** The handshake, the modern era, and both at once. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import {
  at,
  call,
  cancelled,
  converse,
  has,
  initialize,
  META,
  modern,
  modernMeta,
  outline,
  request,
  Session,
} from "./session.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const CLIENT = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const SERVER = "io.modelcontextprotocol/serverInfo";

async function handshake(revision: string): Promise<JsonValue> {
  const [answer] = await converse(initialize(revision));
  return at(answer, "result");
}

const versions: [asked: string, agreed: string][] = [
  ["2024-11-05", "2024-11-05"],
  ["2025-03-26", "2025-03-26"],
  ["2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25"],
  ["2026-07-28", "2025-11-25"],
  ["2024-10-07", "2025-11-25"],
  ["1.0", "2025-11-25"],
  ["", "2025-11-25"],
];
for (const [asked, agreed] of versions) {
  Deno.test(`initialize with ${JSON.stringify(asked)} agrees on ${agreed}`, async () => {
    const result = await handshake(asked);
    assertEquals(at(result, "protocolVersion"), agreed);
    assertEquals(at(result, "capabilities"), { tools: {} });
    assertEquals(at(result, "serverInfo", "name"), "kit");
    assertEquals(at(result, "serverInfo", "version"), "1.0.0");
  });
}

const identities: [revision: string, members: string[]][] = [
  ["2024-11-05", ["name", "version"]],
  ["2025-03-26", ["name", "version"]],
  ["2025-06-18", ["name", "title", "version"]],
  ["2025-11-25", ["name", "title", "version", "description"]],
];
for (const [revision, members] of identities) {
  Deno.test(`the server's name in ${revision} has ${members.join(", ")}`, async () => {
    const server = at(await handshake(revision), "serverInfo");
    assert(isJsonObject(server));
    assertEquals(Object.keys(server), members);
  });
}

const good = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "t", version: "1" },
};
const malformed: [what: string, params: JsonObject][] = [
  ["no protocolVersion", { capabilities: {}, clientInfo: good.clientInfo }],
  ["protocolVersion null", { ...good, protocolVersion: null }],
  ["protocolVersion 7", { ...good, protocolVersion: 7 }],
  ["no clientInfo", { protocolVersion: "2025-11-25", capabilities: {} }],
  ["a client without version", { ...good, clientInfo: { name: "t" } }],
  ["no capabilities", { protocolVersion: "2025-11-25", clientInfo: good.clientInfo }],
  ["capabilities as an array", { ...good, capabilities: [] }],
];
for (const [what, params] of malformed) {
  Deno.test(`initialize with ${what} is refused and opens no session`, async () => {
    const answers = await converse([request(1, "initialize", params), request(2, "tools/list")]);
    assertEquals(outline(answers), [[1, -32602], [2, -32602]]);
  });
}

Deno.test("initialize and tools/list in one write are both answered", async () => {
  const session = new Session();
  const answers = await session.exchange(...initialize("2025-11-25"), request(1, "tools/list"));
  assertEquals(outline(answers), [["init", "result"], [1, "result"]]);
  await session.close();
});

Deno.test("tools/list is served before the client has confirmed the session", async () => {
  const [init = ""] = initialize("2025-11-25");
  assertEquals(outline(await converse([init, request(1, "tools/list")])), [["init", "result"], [
    1,
    "result",
  ]]);
});

Deno.test("the confirmation of a session may come before it and twice", async () => {
  const [init = "", confirm = ""] = initialize("2025-11-25");
  const answers = await converse([confirm, init, confirm, confirm, request(1, "tools/list")]);
  assertEquals(outline(answers), [["init", "result"], [1, "result"]]);
});

const bare: [method: string, code: JsonValue][] = [
  ["tools/list", -32602],
  ["tools/call", -32602],
  ["foo/bar", -32601],
  ["prompts/list", -32601],
  ["ping", "result"],
];
for (const [method, code] of bare) {
  Deno.test(`${method} as the first line, without _meta, gives ${code}`, async () => {
    assertEquals(outline(await converse([request(1, method)])), [[1, code]]);
  });
}

Deno.test("a second initialize begins a new session with its own shapes", async () => {
  const session = new Session();
  await session.initialize("2025-11-25");
  const [answer, list] = await session.exchange(
    ...initialize("2024-11-05"),
    request(2, "tools/list"),
  );
  assertEquals(at(answer, "result", "protocolVersion"), "2024-11-05");
  assertFalse(has(at(list, "result", "tools", 0), "title"));
  await session.close();
});

Deno.test("a call that runs through a second initialize keeps the shape it started with", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  const slow = request(1, "tools/call", {
    name: "slow",
    arguments: { ms: 100 },
    _meta: { progressToken: 1 },
  });
  await session.exchange(slow);
  await session.initialize("2024-11-05");
  const [progress] = await session.advance(100);
  assertEquals(at(progress, "params", "message"), "sleeping");
  await session.close();
});

const claims: [what: string, meta: JsonObject, code: JsonValue][] = [
  ["a whole modern claim", META, -32601],
  ["a claim of a later revision", { ...META, [VERSION]: "2027-01-01" }, -32022],
  ["a claim of a legacy revision", { ...META, [VERSION]: "2025-11-25" }, "result"],
  ["a legacy version and no capabilities", { [VERSION]: "2025-11-25" }, "result"],
  ["a modern version and no capabilities", { [VERSION]: "2026-07-28" }, "result"],
  [
    "other keys of the protocol",
    { "io.modelcontextprotocol/related-task": { taskId: "t" } },
    "result",
  ],
];
for (const [what, _meta, code] of claims) {
  Deno.test(`initialize with ${what} gives ${code}`, async () => {
    assertEquals(outline(await converse([request(1, "initialize", { ...good, _meta })])), [[
      1,
      code,
    ]]);
  });
}

Deno.test("to cancel initialize does nothing", async () => {
  const [init = ""] = initialize("2025-11-25");
  const answers = await converse([init, cancelled("init"), request(1, "ping")]);
  assertEquals(outline(answers), [["init", "result"], [1, "result"]]);
});

Deno.test("server/discover says what is served and who serves it", async () => {
  assertEquals(await converse([modern("d", "server/discover")]), [{
    jsonrpc: "2.0",
    id: "d",
    result: {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 3_600_000,
      cacheScope: "public",
      _meta: { [SERVER]: { name: "kit", title: "Kit", version: "1.0.0" } },
    },
  }]);
});

Deno.test("server/discover gives the same result every time", async () => {
  const [first, second] = await converse([
    modern(1, "server/discover"),
    modern(2, "server/discover"),
  ]);
  assertEquals(at(first, "result"), at(second, "result"));
});

const incomplete: [what: string, line: JsonObject, data: JsonObject][] = [
  ["no params", request(1, "server/discover"), { missing: ["_meta"] }],
  ["empty params", request(1, "server/discover", {}), { missing: ["_meta"] }],
  ["_meta as a text", request(1, "server/discover", { _meta: "x" }), { invalid: ["_meta"] }],
  ["empty _meta", request(1, "server/discover", { _meta: {} }), {
    missing: [VERSION, CAPABILITIES],
  }],
  ["no version", request(1, "tools/list", { _meta: { [CAPABILITIES]: {} } }), {
    missing: [VERSION],
  }],
  ["no capabilities", request(1, "tools/list", { _meta: { [VERSION]: "2026-07-28" } }), {
    missing: [CAPABILITIES],
  }],
  ["version 7", request(1, "tools/list", { _meta: { ...META, [VERSION]: 7 } }), {
    invalid: [VERSION],
  }],
  [
    "capabilities as an array",
    request(1, "tools/list", { _meta: { ...META, [CAPABILITIES]: [] } }),
    {
      invalid: [CAPABILITIES],
    },
  ],
  [
    "a client without version",
    request(1, "server/discover", { _meta: { ...META, [CLIENT]: { name: "x" } } }),
    {
      invalid: [CLIENT],
    },
  ],
  [
    "an unknown log level",
    request(1, "server/discover", { _meta: { ...META, [LOG_LEVEL]: "loud" } }),
    {
      invalid: [LOG_LEVEL],
    },
  ],
  [
    "a progress token of 1.5",
    request(1, "server/discover", { _meta: { ...META, progressToken: 1.5 } }),
    {
      invalid: ["progressToken"],
    },
  ],
];
for (const [what, line, data] of incomplete) {
  Deno.test(`a modern request with ${what} is refused with -32602, which names the key`, async () => {
    const [answer] = await converse([line]);
    assertEquals(at(answer, "error", "code"), -32602);
    assertEquals(at(answer, "error", "data"), data);
  });
}

for (const requested of ["2027-01-01", "2025-11-25", "v999.0.0"]) {
  Deno.test(`a modern request that speaks ${requested} learns what is served`, async () => {
    const _meta = { ...META, [VERSION]: requested };
    const [answer] = await converse([request(1, "tools/list", { _meta })]);
    assertEquals(at(answer, "error", "code"), -32022);
    assertEquals(at(answer, "error", "data"), { supported: ["2026-07-28"], requested });
  });
}

const removed = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "unknown/method",
  "tasks/list",
  "tasks/get",
];
for (const method of removed) {
  Deno.test(`${method} is no method of the modern era: -32601`, async () => {
    assertEquals(outline(await converse([modern(1, method)])), [[1, -32601]]);
  });
}

Deno.test("a modern request without clientInfo, with a log level, is served without a log message", async () => {
  const _meta = { ...META, [LOG_LEVEL]: "debug" };
  const answers = await converse([
    request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta }),
  ]);
  assertEquals(outline(answers), [[1, "result"]]);
});

Deno.test("a modern tools/list as the very first line is served in the modern shape", async () => {
  const [answer] = await converse([modern(1, "tools/list")]);
  assertEquals(at(answer, "result", "resultType"), "complete");
  assertEquals(at(answer, "result", "ttlMs"), 3_600_000);
  assertEquals(at(answer, "result", "cacheScope"), "public");
  assertEquals(at(answer, "result", "_meta", SERVER, "name"), "kit");
});

const LEGACY_LIST = request("l", "tools/list");

Deno.test("modern and legacy requests on one pipe each get their own shape", async () => {
  const lines = [
    modern(1, "tools/list"),
    ...initialize("2025-06-18"),
    modern(2, "tools/list"),
    LEGACY_LIST,
    modern(3, "server/discover"),
  ];
  const [first, init, second, legacy, discover] = await converse(lines);
  assertEquals(outline([init ?? null]), [["init", "result"]]);
  for (const answer of [first, second, discover]) assert(has(answer, "result", "resultType"));
  assertEquals(Object.keys(Object(at(legacy, "result"))), ["tools"]);
});

Deno.test("a modern request borrows no capability from the session", async () => {
  const answers = await converse([
    request(1, "tools/call", { name: "ask", _meta: META }),
  ], { revision: "2025-11-25", capabilities: { elicitation: {} } });
  assertEquals(outline(answers), [[1, -32021]]);
});

Deno.test("a modern request changes nothing about the session", async () => {
  const [, legacy] = await converse([
    request(1, "tools/list", { _meta: modernMeta({ elicitation: {} }) }),
    call(2, "ask"),
  ], { revision: "2025-11-25" });
  assert(at(legacy, "result", "isError"));
});

Deno.test("progress tokens and tasks in _meta make a request no modern one", async () => {
  const _meta = { progressToken: 1, "io.modelcontextprotocol/related-task": { taskId: "t" } };
  const [answer] = await converse([request(1, "tools/list", { _meta })], {
    revision: "2025-11-25",
  });
  assertEquals(Object.keys(Object(at(answer, "result"))), ["tools"]);
});
