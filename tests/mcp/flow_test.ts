/** Progress, cancellation, streams of notifications, the end of input. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import type { Tool } from "../../src/mcp/mod.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { caseTools } from "../fixtures/mcp/tools.ts";
import { at, call, cancelled, has, META, modern, outline, request, Session } from "./session.ts";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

function slow(id: string | number, ms: number, progressToken?: JsonValue): JsonObject {
  const _meta = progressToken === undefined ? {} : { _meta: { progressToken } };
  return request(id, "tools/call", { name: "slow", arguments: { ms }, ..._meta });
}

async function open(revision = "2025-06-18", capabilities: JsonObject = {}): Promise<Session> {
  const session = new Session();
  await session.initialize(revision, capabilities);
  return session;
}

Deno.test("a tool is told whether its client wants progress", async () => {
  const wishes: boolean[] = [];
  const session = new Session({
    tools: (clock) =>
      caseTools({ clock }).map((tool) => ({
        ...tool,
        call: (args, context) => {
          wishes.push(context.wantsProgress);
          return tool.call(args, context);
        },
      })),
  });
  await session.initialize("2025-06-18");
  await session.exchange(slow(1, 0), slow(2, 0, 0), slow(3, 0, ""));
  await session.close();
  assertEquals(wishes, [false, true, true]);
});

for (const token of [0, "", "t", 7, -1]) {
  Deno.test(`progress for token ${JSON.stringify(token)} names it, rises, and ends before the answer`, async () => {
    const session = await open();
    await session.exchange(slow(1, 500, token));
    const messages = await session.advance(500);
    assertEquals(outline(messages).at(-1), [1, "result"]);
    const reports = messages.slice(0, -1);
    assertEquals(
      reports.map((report) => at(report, "params", "progressToken")),
      Array(5).fill(token),
    );
    assertEquals(reports.map((report) => at(report, "params", "progress")), [
      100,
      200,
      300,
      400,
      500,
    ]);
    assertEquals(await session.advance(60_000), []);
    await session.close();
  });
}

Deno.test("a report that was held back goes out before the answer", async () => {
  const [slowTool] = caseTools({ clock: new ManualClock() }).filter(({ name }) => name === "slow");
  assert(slowTool !== undefined);
  const burst: Tool = {
    ...slowTool,
    call: (_args, { progress }) => {
      for (const at of [1, 2, 3]) progress({ progress: at });
      return Promise.resolve({ kind: "result", content: [] });
    },
  };
  const session = new Session({ tools: () => [burst] });
  await session.initialize("2025-06-18");
  const messages = await session.exchange(slow(1, 0, "t"));
  assertEquals(messages.map((message) => has(message, "id") || at(message, "params", "progress")), [
    1,
    3,
    true,
  ]);
  await session.close();
});

Deno.test("without a token there is no progress", async () => {
  const session = await open();
  await session.exchange(slow(1, 500));
  assertEquals(outline(await session.advance(500)), [[1, "result"]]);
  await session.close();
});

for (const token of [1.5, null, true, {}]) {
  Deno.test(`token ${JSON.stringify(token)} is malformed: -32602`, async () => {
    const session = await open();
    assertEquals(outline(await session.exchange(slow(1, 500, token))), [[1, -32602]]);
    await session.close();
  });
}

Deno.test("_meta that is no object is malformed: -32602", async () => {
  const session = await open();
  const answers = await session.exchange(request(1, "tools/call", { name: "fail", _meta: "x" }));
  assertEquals(outline(answers), [[1, -32602]]);
  await session.close();
});

const worded: [revision: string, hasMessage: boolean][] = [
  ["2024-11-05", false],
  ["2025-03-26", true],
  ["2025-11-25", true],
];
for (const [revision, hasMessage] of worded) {
  Deno.test(`progress in ${revision} has ${hasMessage ? "a" : "no"} message`, async () => {
    const session = await open(revision);
    await session.exchange(slow(1, 200, 1));
    const [report] = await session.advance(100);
    assertEquals(has(report, "params", "message"), hasMessage);
    await session.close();
  });
}

Deno.test("a cancelled call is never heard of again, and the server goes on", async () => {
  const session = await open();
  await session.exchange(slow(8, 60_000, 1));
  assertEquals(await session.exchange(cancelled(8)), []);
  assertEquals(outline(await session.exchange(request(9, "ping"))), [[9, "result"]]);
  assertEquals(await session.advance(120_000), []);
  assertEquals(await session.close(), []);
});

Deno.test("a cancelled call fires the signal of its tool", async () => {
  const reasons: unknown[] = [];
  const session = new Session({
    tools: () => [{
      name: "wait",
      title: "Wait",
      description: "Waits for ever",
      inputSchema: { type: "object", properties: {} },
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      call: (_args, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason.name));
        return new Promise(() => {});
      },
    }],
  });
  await session.initialize("2025-06-18");
  await session.exchange(call(0, "wait"), call(1, "wait"));
  await session.exchange(cancelled(0));
  assertEquals(reasons, ["AbortError"]);
  await session.close();
  assertEquals(reasons, ["AbortError", "AbortError"]);
});

const ignored: [what: string, requestId: JsonValue | undefined][] = [
  ["the same id as a text", "8"],
  ["an unknown id", 77],
  ["no id", undefined],
  ["id null", null],
  ["an object", {}],
];
for (const [what, requestId] of ignored) {
  Deno.test(`to cancel ${what} cancels nothing`, async () => {
    const session = await open();
    const params = requestId === undefined ? {} : { requestId };
    await session.exchange(slow(8, 100), {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params,
    });
    assertEquals(outline(await session.advance(100)), [[8, "result"]]);
    await session.close();
  });
}

Deno.test("to cancel twice, or after the answer, does nothing", async () => {
  const session = await open();
  await session.exchange(slow(8, 60_000), cancelled(8), cancelled(8));
  assertEquals(outline(await session.exchange(call(9, "echo", { text: "a" }))), [[9, "result"]]);
  assertEquals(await session.exchange(cancelled(9), cancelled(9)), []);
  await session.close();
});

Deno.test("cancelled and its call in one chunk give silence, and the id is free again", async () => {
  const session = await open();
  for (let times = 0; times < 20; times += 1) {
    assertEquals(await session.exchange(call(3, "slow", { ms: 1_000 }), cancelled(3)), []);
  }
  assertEquals(outline(await session.exchange(call(3, "echo", { text: "a" }))), [[3, "result"]]);
  await session.close();
});

Deno.test("of a modern and a legacy call only the one that is named ends", async () => {
  const session = await open();
  const params = { name: "slow", arguments: { ms: 100 } };
  await session.exchange(modern("m", "tools/call", params), request("l", "tools/call", params));
  await session.exchange(cancelled("m"));
  assertEquals(outline(await session.advance(100)), [["l", "result"]]);
  await session.exchange(modern("m", "tools/call", params), request("l", "tools/call", params));
  await session.exchange(cancelled("l"));
  assertEquals(outline(await session.advance(100)), [["m", "result"]]);
  await session.close();
});

Deno.test("a call that waits for its turn can be cancelled", async () => {
  const session = await open();
  await session.exchange(...Array.from({ length: 65 }, (_, id) => call(id, "slow", { ms: 100 })));
  await session.exchange(cancelled(64));
  assertEquals((await session.advance(10_000)).length, 64);
  await session.close();
});

Deno.test("a cancelled call frees its place at once", async () => {
  const session = await open();
  await session.exchange(...Array.from({ length: 64 }, (_, id) => call(id, "slow", { ms: 1_000 })));
  assertEquals(await session.exchange(call("late", "echo", { text: "a" })), []);
  assertEquals(outline(await session.exchange(cancelled(0))), [["late", "result"]]);
  assertEquals((await session.advance(1_000)).length, 63);
  await session.close();
});

function listen(id: string | number, notifications: JsonValue = {}): JsonObject {
  return modern(id, "subscriptions/listen", { notifications });
}

Deno.test("a stream is acknowledged with what it will carry, nothing, and stays open", async () => {
  const session = new Session();
  assertEquals(await session.exchange(listen(4, { toolsListChanged: true })), [{
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: { [SUBSCRIPTION]: 4 }, notifications: {} },
  }]);
  assertEquals(await session.advance(60_000), []);
  await session.close();
});

const listens: [what: string, params: JsonObject][] = [
  ["no notifications", { _meta: META }],
  ["notifications as an array", { _meta: META, notifications: [] }],
  ["no _meta", { notifications: {} }],
];
for (const [what, params] of listens) {
  Deno.test(`subscriptions/listen with ${what} is malformed: -32602`, async () => {
    const session = new Session();
    assertEquals(outline(await session.exchange(request(4, "subscriptions/listen", params))), [[
      4,
      -32602,
    ]]);
    await session.close();
  });
}

Deno.test("a cancelled stream ends without a word, and its id is free again", async () => {
  const session = await open();
  await session.exchange(listen("s"));
  assertEquals(outline(await session.exchange(cancelled("s"), request("s", "ping"))), [[
    "s",
    "result",
  ]]);
  assertEquals(await session.close(), []);
});

Deno.test("a stream that is open at the end of input is answered, then cancelled", async () => {
  const session = new Session();
  await session.exchange(listen(4));
  const [answer, notice, ...more] = await session.close();
  assertEquals(at(answer, "id"), 4);
  assertEquals(at(answer, "result", "resultType"), "complete");
  assertEquals(at(answer, "result", "_meta", SUBSCRIPTION), 4);
  assertEquals(notice, cancelled(4));
  assertEquals(more, []);
});

Deno.test("the id of an open stream is in flight", async () => {
  const session = new Session();
  await session.exchange(listen(4));
  const [refusal] = await session.exchange(modern(4, "tools/list"));
  assertFalse(has(refusal, "id"));
  assertEquals(at(refusal, "error", "code"), -32600);
  assertEquals(at(refusal, "error", "data", "duplicateId"), 4);
  await session.close();
});

Deno.test("64 streams may be open, no more", async () => {
  const session = new Session();
  const answers = await session.exchange(...Array.from({ length: 65 }, (_, id) => listen(id)));
  assertEquals(outline(answers).at(-1), [64, -32603]);
  assertEquals(outline(await session.exchange(cancelled(0), listen(65))), [[
    "-",
    "notifications/subscriptions/acknowledged",
  ]]);
  await session.close();
});

Deno.test("a short call that is under way at the end of input is answered", async () => {
  const session = await open();
  await session.exchange(slow(1, 200));
  assertEquals(outline(await session.close()), [[1, "result"]]);
});

Deno.test("a long call that is under way at the end of input is given up after 1.5 s", async () => {
  const session = await open();
  await session.exchange(slow(1, 60_000));
  const before = session.clock.monotonic();
  assertEquals(await session.close(), []);
  assertEquals(session.clock.monotonic() - before, 1_500);
  assertEquals(await session.ended, "input-ended");
});

Deno.test("an idle server ends with its input without any timer", async () => {
  const session = await open();
  await session.exchange(call(1, "echo", { text: "a" }));
  const before = session.clock.monotonic();
  await session.close();
  assertEquals(session.clock.monotonic(), before);
  assertEquals(session.clock.pending, 0);
});

Deno.test("no timer is left behind by calls with progress", async () => {
  const session = await open();
  await session.exchange(slow(1, 500, 1), slow(2, 60_000, 2));
  await session.advance(600);
  await session.exchange(cancelled(2));
  assertEquals(session.clock.pending, 0);
  assert(session.lines.length > 2);
  await session.close();
});

Deno.test("an input that cannot be read has ended, with a note", async () => {
  const session = new Session({ read: () => Promise.reject(new Error("bad descriptor")) });
  assertEquals(await session.ended, "input-ended");
  assertEquals(session.log, [["error", "Cannot read the input: bad descriptor"]]);
});

Deno.test("at the end of input a client that reads nothing is waited for five seconds", async () => {
  const session = new Session({ write: () => new Promise(() => {}) });
  session.send(request(1, "ping"));
  await session.flush();
  const before = session.clock.monotonic();
  await session.close();
  assertEquals(session.clock.monotonic() - before, 5_000);
});

Deno.test("at the end of input a client that reads slowly gets everything", async () => {
  const clock = new ManualClock();
  let received = "";
  const session = new Session({
    clock,
    write: async (bytes) => {
      await clock.sleep(4_000);
      received += new TextDecoder().decode(bytes.slice(0, 10));
      return Math.min(10, bytes.length);
    },
  });
  session.send(request(1, "ping"));
  await session.close();
  assertEquals(received, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
});
