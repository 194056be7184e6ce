/** Ids, malformed messages, notifications and batches. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import {
  at,
  call,
  cancelled,
  converse,
  INFO,
  initialize,
  modern,
  outline,
  request,
  Session,
} from "./session.ts";

const PING_2 = request(2, "ping");

const refused: [what: string, line: string, id: JsonValue, code: number][] = [
  ["a number", "42", "-", -32600],
  ["null", "null", "-", -32600],
  ["a text", '"x"', "-", -32600],
  ["a message without version", '{"id":1,"method":"ping"}', 1, -32600],
  ["version 1.0", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 1, -32600],
  ["an id and nothing else", '{"jsonrpc":"2.0","id":1}', 1, -32600],
  ["a version and nothing else", '{"jsonrpc":"2.0"}', "-", -32600],
  ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":7}', 1, -32600],
  ["id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', "-", -32600],
  ["id 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "-", -32600],
  ["id true", '{"jsonrpc":"2.0","id":true,"method":"ping"}', "-", -32600],
  ["id {}", '{"jsonrpc":"2.0","id":{},"method":"ping"}', "-", -32600],
  ["id 2^53+1", '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', "-", -32600],
  ["params by position", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 1, -32602],
  ["params null", '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', 1, -32602],
  ["a batch without a session", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "-", -32600],
];
for (const [what, line, id, code] of refused) {
  Deno.test(`${what} is refused with ${code}`, async () => {
    assertEquals(outline(await converse([line, PING_2])), [[id, code], [2, "result"]]);
  });
}

for (const id of [0, "", "1", -3, "é😀", 9007199254740991]) {
  Deno.test(`id ${JSON.stringify(id)} comes back as it is`, async () => {
    assertEquals(await converse([request(id, "ping")]), [{ jsonrpc: "2.0", id, result: {} }]);
  });
}

const silent: [what: string, line: JsonValue][] = [
  ["an unknown notification", { jsonrpc: "2.0", method: "foo/bar" }],
  ["an unknown notification of the protocol", {
    jsonrpc: "2.0",
    method: "notifications/whatever",
    params: {},
  }],
  ["a notification with broken params", { jsonrpc: "2.0", method: "foo/bar", params: 3 }],
  ["a ping without id", { jsonrpc: "2.0", method: "ping" }],
  ["a result that nobody asked for", { jsonrpc: "2.0", id: 99, result: {} }],
  ["an error that nobody asked for", { jsonrpc: "2.0", id: 99, error: { code: 1, message: "x" } }],
  ["a result with an error", { jsonrpc: "2.0", id: 99, result: {}, error: {} }],
  ["a result without version", { id: 99, result: {} }],
  ["a result under id null", { jsonrpc: "2.0", id: null, result: {} }],
];
for (const [what, line] of silent) {
  Deno.test(`${what} gets no answer`, async () => {
    assertEquals(outline(await converse([line, PING_2])), [[2, "result"]]);
  });
}

Deno.test("initialize without an id opens no session", async () => {
  const { id: _, ...line } = initialize("2025-11-25")[0] ?? {};
  assertEquals(outline(await converse([line, request(1, "tools/list")])), [[1, -32602]]);
});

Deno.test("tools/call without an id does not run the tool", async () => {
  let calls = 0;
  const session = new Session({
    tools: () => [{
      name: "count",
      title: "Count",
      description: "Counts its calls",
      inputSchema: { type: "object", properties: {} },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      call: () => {
        calls += 1;
        return Promise.resolve({ kind: "result", content: [] });
      },
    }],
  });
  await session.initialize("2025-11-25");
  const params = { name: "count" };
  assertEquals(await session.exchange({ jsonrpc: "2.0", method: "tools/call", params }), []);
  assertEquals(calls, 0);
  assertEquals(outline(await session.exchange(call(1, "count"))), [[1, "result"]]);
  assertEquals(calls, 1);
  await session.close();
});

Deno.test("an id in flight is refused without that id, and its first call gets the one answer", async () => {
  const session = new Session();
  await session.initialize("2025-11-25");
  const [refusal, ...more] = await session.exchange(
    call(5, "slow", { ms: 300 }),
    request(5, "ping"),
  );
  assertEquals(more, []);
  assertEquals(outline(refusal === undefined ? [] : [refusal]), [["-", -32600]]);
  assertEquals(at(refusal, "error", "data"), { duplicateId: 5 });
  assertEquals(outline(await session.advance(1_000)), [[5, "result"]]);
  await session.close();
});

Deno.test("an id may be used again after its answer", async () => {
  const answers = await converse([request(5, "ping"), request(5, "ping")]);
  assertEquals(outline(answers), [[5, "result"], [5, "result"]]);
});

Deno.test("unknown members beside jsonrpc, id and method are ignored", async () => {
  assertEquals(await converse([{ ...PING_2, extra: true }]), [{
    jsonrpc: "2.0",
    id: 2,
    result: {},
  }]);
});

const unknown = [
  "foo/bar",
  "prompts/list",
  "resources/list",
  "resources/read",
  "logging/setLevel",
  "completion/complete",
  "tasks/list",
  "tasks/get",
  "roots/list",
  "toString",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "",
];
for (const method of unknown) {
  Deno.test(`${JSON.stringify(method)} is no method of a session: -32601`, async () => {
    const answers = await converse([request(3, method)], { revision: "2025-11-25" });
    assertEquals(outline(answers), [[3, -32601]]);
  });
}

Deno.test("a fault of ours is -32603 without its cause, and the server goes on", async () => {
  const info = {
    ...INFO,
    get instructions(): string {
      throw new Error("a secret cause");
    },
  };
  const session = new Session({ info });
  const [init] = initialize("2025-11-25");
  const answers = await session.exchange(init ?? "", PING_2);
  assertEquals(answers, [
    { jsonrpc: "2.0", id: "init", error: { code: -32603, message: "Internal error" } },
    { jsonrpc: "2.0", id: 2, result: {} },
  ]);
  assertStringIncludes(session.log.join(), "a secret cause");
  await session.close();
});

const BATCHES = "2025-03-26";

Deno.test("a batch is answered with one array", async () => {
  const [answers] = await converse([[request(1, "ping"), PING_2]], { revision: BATCHES });
  assertEquals(Array.isArray(answers) && outline(answers), [[1, "result"], [2, "result"]]);
});

Deno.test("a batch of one is answered with an array of one", async () => {
  assertEquals(await converse([[PING_2]], { revision: BATCHES }), [[{
    jsonrpc: "2.0",
    id: 2,
    result: {},
  }]]);
});

Deno.test("an empty batch is refused with an object", async () => {
  assertEquals(outline(await converse(["[]"], { revision: BATCHES })), [["-", -32600]]);
});

Deno.test("a batch of notifications and responses gets no answer", async () => {
  const lines = [[cancelled(9), { jsonrpc: "2.0", id: 7, result: {} }]];
  assertEquals(await converse(lines, { revision: BATCHES }), []);
});

const elements: [what: string, element: JsonValue, id: JsonValue, code: number][] = [
  ["a number", 1, "-", -32600],
  ["an array", [PING_2], "-", -32600],
  ["initialize", initialize("2025-11-25")[0] ?? null, "init", -32600],
  ["a modern request", modern(3, "tools/list"), 3, -32600],
  ["server/discover", request(3, "server/discover"), 3, -32600],
  ["an unknown method", request(3, "foo"), 3, -32601],
  ["an id that the batch has already", request(2, "ping"), "-", -32600],
];
for (const [what, element, id, code] of elements) {
  Deno.test(`${what} in a batch is refused with ${code} beside the other answers`, async () => {
    const [answers] = await converse([[PING_2, element]], { revision: BATCHES });
    assertEquals(Array.isArray(answers) && outline(answers), [[2, "result"], [id, code]]);
  });
}

Deno.test("a batch is answered when its last call has ended, with progress before", async () => {
  const session = new Session();
  await session.initialize(BATCHES);
  const slow = request(1, "tools/call", {
    name: "slow",
    arguments: { ms: 100 },
    _meta: { progressToken: "t" },
  });
  assertEquals(await session.exchange([slow, PING_2]), []);
  const [progress, answers, ...more] = await session.advance(100);
  assertEquals(at(progress, "method"), "notifications/progress");
  assertEquals(Array.isArray(answers) && outline(answers), [[2, "result"], [1, "result"]]);
  assertEquals(more, []);
  await session.close();
});

Deno.test("a cancelled call is left out of the answer to its batch", async () => {
  const session = new Session();
  await session.initialize(BATCHES);
  assertEquals(await session.exchange([call(1, "slow", { ms: 60_000 }), PING_2]), []);
  const [answers] = await session.exchange(cancelled(1));
  assertEquals(Array.isArray(answers) && outline(answers), [[2, "result"]]);
  await session.close();
});

for (const revision of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
  Deno.test(`a batch in a ${revision} session is refused as a whole`, async () => {
    assertEquals(outline(await converse([[PING_2]], { revision })), [["-", -32600]]);
  });
}

Deno.test("a batch of modern requests is refused as a whole", async () => {
  assertEquals(outline(await converse([[modern(1, "tools/list")]])), [["-", -32600]]);
});
