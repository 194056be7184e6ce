import { assert, assertEquals, assertFalse } from "@std/assert";
import { classify, ErrorCode, type Incoming, isRequestId } from "../../src/jsonrpc/mod.ts";
import type { JsonValue } from "../../src/json/mod.ts";

/** Kind, id and code of a message; `-` where there is none. */
function outline(incoming: Incoming): [kind: string, id: unknown, code: unknown] {
  const id = "id" in incoming ? incoming.id : undefined;
  const code = incoming.kind === "invalid" ? incoming.error.code : undefined;
  return [incoming.kind, id ?? "-", code ?? "-"];
}

const cases: [what: string, value: JsonValue, kind: string, id: unknown, code: unknown][] = [
  ["a number", 42, "invalid", "-", -32600],
  ["null", null, "invalid", "-", -32600],
  ["a string", "x", "invalid", "-", -32600],
  ["an array", [1], "batch", "-", "-"],
  ["no version", { id: 1, method: "ping" }, "invalid", 1, -32600],
  ["version 1.0", { jsonrpc: "1.0", id: 1, method: "ping" }, "invalid", 1, -32600],
  ["version as a number", { jsonrpc: 2, id: "a", method: "ping" }, "invalid", "a", -32600],
  ["an id alone", { jsonrpc: "2.0", id: 1 }, "invalid", 1, -32600],
  ["nothing but the version", { jsonrpc: "2.0" }, "invalid", "-", -32600],
  ["a number as method", { jsonrpc: "2.0", id: 1, method: 7 }, "invalid", 1, -32600],
  ["null as method", { jsonrpc: "2.0", id: 1, method: null }, "invalid", 1, -32600],
  ["id null", { jsonrpc: "2.0", id: null, method: "ping" }, "invalid", "-", -32600],
  ["id 1.5", { jsonrpc: "2.0", id: 1.5, method: "ping" }, "invalid", "-", -32600],
  ["id true", { jsonrpc: "2.0", id: true, method: "ping" }, "invalid", "-", -32600],
  ["id {}", { jsonrpc: "2.0", id: {}, method: "ping" }, "invalid", "-", -32600],
  ["id beyond 2^53", { jsonrpc: "2.0", id: 2 ** 53, method: "ping" }, "invalid", "-", -32600],
  ["id 0", { jsonrpc: "2.0", id: 0, method: "ping" }, "request", 0, "-"],
  ["id -3", { jsonrpc: "2.0", id: -3, method: "ping" }, "request", -3, "-"],
  ["the empty id", { jsonrpc: "2.0", id: "", method: "ping" }, "request", "", "-"],
  ["the empty method", { jsonrpc: "2.0", id: 1, method: "" }, "request", 1, "-"],
  [
    "params by position",
    { jsonrpc: "2.0", id: 1, method: "ping", params: [1] },
    "invalid",
    1,
    -32602,
  ],
  ["params null", { jsonrpc: "2.0", id: 1, method: "ping", params: null }, "invalid", 1, -32602],
  ["params as text", { jsonrpc: "2.0", id: 1, method: "ping", params: "a" }, "invalid", 1, -32602],
  ["an unknown member", { jsonrpc: "2.0", id: 1, method: "ping", more: 1 }, "request", 1, "-"],
  ["no id", { jsonrpc: "2.0", method: "ping" }, "notification", "-", "-"],
  ["no id and bad params", { jsonrpc: "2.0", method: "ping", params: 3 }, "notification", "-", "-"],
  ["a result", { jsonrpc: "2.0", id: 9, result: {} }, "response", 9, "-"],
  ["an error", { jsonrpc: "2.0", id: 9, error: { code: 1 } }, "response", 9, "-"],
  ["a result without version", { id: 9, result: {} }, "response", 9, "-"],
  ["a result without id", { jsonrpc: "2.0", result: {} }, "response", "-", "-"],
];
for (const [what, value, kind, id, code] of cases) {
  Deno.test(`classify() takes ${what} for ${kind}`, () => {
    assertEquals(outline(classify(value)), [kind, id, code]);
  });
}

Deno.test("classify() finds no outcome in a response with a result and an error", () => {
  const incoming = classify({ jsonrpc: "2.0", id: 1, result: {}, error: {} });
  assertEquals(incoming, { kind: "response", id: 1, outcome: undefined });
});

Deno.test("classify() sees only own members", () => {
  assertEquals(
    outline(classify(JSON.parse('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}'))),
    [
      "invalid",
      "-",
      -32600,
    ],
  );
});

Deno.test("isRequestId() refuses texts that could not be echoed within one line", () => {
  assert(isRequestId("x".repeat(1_572_864)));
  assertFalse(isRequestId("x".repeat(1_572_865)));
  for (const costly of ["\u0000", "é", "\u2028", '"', "\\"]) {
    assert(isRequestId(costly.repeat(262_144)));
    assertFalse(isRequestId(costly.repeat(262_145)));
  }
});

Deno.test("the error codes are those of JSON-RPC and MCP", () => {
  assertEquals({ ...ErrorCode }, {
    parse: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internal: -32603,
    missingCapability: -32021,
    unsupportedVersion: -32022,
  });
});
