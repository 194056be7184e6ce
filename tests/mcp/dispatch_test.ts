/** Decisions as values: the same message and view give the same effects, and nothing happens. */
import { assertEquals } from "@std/assert";
import { classify } from "../../src/jsonrpc/mod.ts";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { type ConnectionView, dispatch, type Effect, type Session } from "../../src/mcp/mod.ts";
import { call, cancelled, INFO, initialize, META, modern, request } from "./session.ts";

const NOBODY: ConnectionView = { session: undefined, openStreams: 0, isInFlight: () => false };

function session(revision: Session["revision"], more: Partial<Session> = {}): ConnectionView {
  return { ...NOBODY, session: { revision, capabilities: {}, isConfirmed: true, ...more } };
}

function decide(message: JsonValue, view: ConnectionView = NOBODY): readonly Effect[] {
  return dispatch(classify(message), view, INFO);
}

function kinds(message: JsonValue, view?: ConnectionView): string[] {
  return decide(message, view).map(({ kind }) => kind);
}

const decisions: [what: string, message: JsonValue, view: ConnectionView, effects: string[]][] = [
  ["initialize opens a session before it answers", initialize("2025-06-18")[0] ?? null, NOBODY, [
    "open-session",
    "reply",
  ]],
  [
    "a confirmation counts in a session",
    initialize("2025-06-18")[1] ?? null,
    session("2025-06-18"),
    [
      "confirm-session",
    ],
  ],
  ["a confirmation without a session is ignored", initialize("2025-06-18")[1] ?? null, NOBODY, []],
  ["a list is an effect", request(1, "tools/list"), session("2025-06-18"), ["list-tools"]],
  ["a call is an effect, whatever its tool", call(1, "nope"), session("2025-06-18"), ["call-tool"]],
  ["a stream is an effect", modern(1, "subscriptions/listen", { notifications: {} }), NOBODY, [
    "open-stream",
  ]],
  ["a cancellation names what it cancels", cancelled(0), NOBODY, ["cancel"]],
  ["a cancellation without an id is ignored", cancelled(null), NOBODY, []],
  ["a response goes to whoever asked", { jsonrpc: "2.0", id: "kit-1", result: {} }, NOBODY, [
    "settle",
  ]],
  [
    "progress of the client is ignored",
    { jsonrpc: "2.0", method: "notifications/progress" },
    NOBODY,
    [],
  ],
  [
    "changed roots are ignored",
    {
      jsonrpc: "2.0",
      method: "notifications/roots/list_changed",
    },
    NOBODY,
    [],
  ],
  ["a batch is one effect", [request(1, "ping")], session("2025-03-26"), ["batch"]],
];
for (const [what, message, view, effects] of decisions) {
  Deno.test(`dispatch(): ${what}`, () => {
    assertEquals(kinds(message, view), effects);
  });
}

Deno.test("dispatch() gives equal effects for equal inputs", () => {
  const message = modern(1, "tools/call", { name: "a", arguments: { b: [1] } });
  assertEquals(decide(message), decide(message));
});

Deno.test("dispatch() refuses an id in flight before anything else", () => {
  const view: ConnectionView = { ...NOBODY, isInFlight: (id) => id === 1 };
  assertEquals(decide(request(1, "foo/bar"), view), [{
    kind: "refuse",
    id: undefined,
    error: {
      code: -32600,
      message: "A request with this id is still in flight",
      data: { duplicateId: 1 },
    },
  }]);
  assertEquals(kinds(request("1", "ping"), view), ["reply"]);
});

Deno.test("dispatch() refuses a stream above the limit", () => {
  const view = { ...NOBODY, openStreams: 64 };
  assertEquals(kinds(modern(1, "subscriptions/listen", { notifications: {} }), view), ["refuse"]);
});

function callOf(message: JsonValue, view: ConnectionView = NOBODY): JsonObject | undefined {
  const [effect] = decide(message, view);
  if (effect?.kind !== "call-tool") return undefined;
  const { revision, mayAsk, capabilities, progressToken } = effect.call;
  return { revision, mayAsk, capabilities, progressToken: progressToken ?? null };
}

const asking: [what: string, view: ConnectionView, mayAsk: boolean][] = [
  ["2025-11-25", session("2025-11-25"), true],
  ["2025-06-18", session("2025-06-18"), true],
  ["2025-03-26", session("2025-03-26"), false],
  ["2025-11-25, not confirmed", session("2025-11-25", { isConfirmed: false }), false],
];
for (const [what, view, mayAsk] of asking) {
  Deno.test(`dispatch(): a call in ${what} ${mayAsk ? "may" : "may not"} ask`, () => {
    assertEquals(callOf(call(1, "a"), view)?.["mayAsk"], mayAsk);
  });
}

Deno.test("dispatch() takes the capabilities of a modern call from the call itself", () => {
  const capabilities = { elicitation: {} };
  const _meta = {
    ...META,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    progressToken: 0,
  };
  const view = session("2025-06-18", { capabilities: { sampling: {} } });
  assertEquals(callOf(request(1, "tools/call", { name: "a", _meta }), view), {
    revision: "2026-07-28",
    mayAsk: true,
    capabilities,
    progressToken: 0,
  });
});

Deno.test("dispatch() quotes of a method's name only the beginning", () => {
  const [effect] = decide(request(1, "x".repeat(1_000)));
  const message = effect?.kind === "refuse" ? effect.error.message : "";
  assertEquals(message, `Method not found: ${"x".repeat(100)}…`);
});
