/** Whatever comes in, only messages come out, and the server goes on. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import { initialize, META, outline, request, Session } from "./session.ts";

const RUNS = { numRuns: 150 };
const KEYS: readonly string[] = ["jsonrpc", "result", "id", "method", "params", "error"];

/** Fails at anything that is no message of ours. */
function assertMessage(message: JsonValue): void {
  assert(isJsonObject(message), `no object: ${JSON.stringify(message)}`);
  assertEquals(message["jsonrpc"], "2.0");
  for (const key of Object.keys(message)) assert(KEYS.includes(key), `member ${key}`);
  const { id, error, method } = message;
  assert(id === undefined || typeof id === "string" || Number.isSafeInteger(id));
  const isAnswer = Object.hasOwn(message, "result") !== Object.hasOwn(message, "error");
  assert(isAnswer || typeof method === "string", JSON.stringify(message));
  if (isJsonObject(error)) assert(Number.isSafeInteger(error["code"]));
}

async function survives(session: Session): Promise<void> {
  const answers = await session.flush();
  for (const answer of answers.flat()) assertMessage(answer);
  const alive = await session.exchange(request("alive", "ping"));
  assertEquals(
    outline(alive.filter((answer) => isJsonObject(answer) && answer["id"] === "alive")),
    [[
      "alive",
      "result",
    ]],
  );
}

Deno.test("a server survives any bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }),
      async (chunks) => {
        const session = new Session();
        for (const chunk of chunks) session.sendBytes(chunk);
        session.send("");
        await survives(session);
        await session.close();
      },
    ),
    RUNS,
  );
});

Deno.test("a server survives any JSON", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json({ maxDepth: 3 }), { maxLength: 5 }), async (lines) => {
      const session = new Session();
      session.send(...initialize("2025-03-26"), ...lines);
      await survives(session);
      await session.close();
    }),
    RUNS,
  );
});

const METHODS = [
  "initialize",
  "ping",
  "server/discover",
  "subscriptions/listen",
  "tools/list",
  "tools/call",
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "foo",
];
const ids = fc.oneof(
  fc.constantFrom<JsonValue>(0, "", 1, "1", null, 1.5, "__proto__"),
  fc.constant(undefined),
);
const noise = fc.jsonValue({ maxDepth: 2 }).map((value): JsonValue =>
  JSON.parse(JSON.stringify(value))
);
const members = fc.constantFrom(
  "_meta",
  "name",
  "arguments",
  "cursor",
  "notifications",
  "requestId",
  "inputResponses",
  "requestState",
  "protocolVersion",
  "capabilities",
  "clientInfo",
  "__proto__",
);
const values = fc.oneof(
  noise,
  fc.constantFrom<JsonValue>(META, "echo", "ask", "fail", "2025-06-18", { text: "a" }, {}, {
    name: "a",
    version: "1",
  }),
);
const messages = fc.record({
  jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant<JsonValue>("2.0") }, {
    weight: 1,
    arbitrary: noise,
  }),
  id: ids,
  method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom<JsonValue>(...METHODS) }, {
    weight: 1,
    arbitrary: noise,
  }),
  params: fc.oneof({ weight: 9, arbitrary: fc.dictionary(members, values, { maxKeys: 6 }) }, {
    weight: 1,
    arbitrary: noise,
  }),
});

function line(message: object): string {
  return JSON.stringify(message);
}

Deno.test("a server survives messages whose every part may be wrong", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(messages, { maxLength: 8 }), async (batch) => {
      const session = new Session();
      session.send(...initialize("2025-06-18", { elicitation: {} }), ...batch.map(line));
      await survives(session);
      await session.close();
    }),
    RUNS,
  );
});

Deno.test("a server survives batches whose every part may be wrong", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(messages, { maxLength: 6 }), async (batch) => {
      const session = new Session();
      session.send(...initialize("2025-03-26"), `[${batch.map(line).join(",")}]`);
      await survives(session);
      await session.close();
    }),
    RUNS,
  );
});

Deno.test("every request with an id of its own gets exactly one answer", async () => {
  const methods = fc.constantFrom(
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "foo",
    "initialize",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(methods, fc.dictionary(members, values, { maxKeys: 4 }))),
      async (calls) => {
        const session = new Session();
        await session.initialize("2025-06-18");
        const sent = calls.map(([method, params], id): JsonObject => ({
          jsonrpc: "2.0",
          id,
          method,
          params: JSON.parse(JSON.stringify(params)),
        }));
        session.send(...sent);
        const answers = await session.close();
        const answered = answers.flatMap((answer) =>
          isJsonObject(answer) && typeof answer["id"] === "number" ? [answer["id"]] : []
        );
        assertEquals(answered.toSorted((a, b) => a - b), calls.map((_, id) => id));
      },
    ),
    RUNS,
  );
});
