/** The weaknesses of the original's server, one by one: serial dispatch, lines that kill, laxity. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import {
  at,
  call,
  has,
  initialize,
  modern,
  outline,
  request,
  Session,
  type SessionOptions,
} from "./session.ts";

const PING = request(2, "ping");

async function opened(options: SessionOptions & { readonly revision?: string } = {}) {
  const { revision = "2025-11-25", ...rest } = options;
  const session = new Session(rest);
  await session.initialize(revision);
  return session;
}

Deno.test("W53 sixteen calls of a second take a second", async () => {
  const session = await opened();
  const ids = Array.from({ length: 16 }, (_, id) => id);
  session.send(...ids.map((id) => call(id, "slow", { ms: 1000 })));
  await session.flush();
  const answers = await session.advance(1000);
  assertEquals(outline(answers).map(([id]) => id).sort(), [...ids].sort());
  await session.close();
});

Deno.test("W57 a line a hundred times the limit is refused once, at its end, and the next line is read", async () => {
  const LIMIT = 100_000;
  const session = await opened({ maxLineBytes: LIMIT });
  const chunk = new Uint8Array(65_536).fill(0x78);
  for (let sent = 0; sent < 100 * LIMIT; sent += chunk.length) session.sendBytes(chunk);
  assertEquals(await session.flush(), []);
  assertEquals(outline(await session.exchange("", PING)), [["-", -32700], [2, "result"]]);
  await session.close();
});

const lax: [what: string, line: string, id: JsonValue, code: number][] = [
  ["NaN for an id", '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', "-", -32700],
  ["an object for an id", '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', "-", -32600],
  ["null for an id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', "-", -32600],
  [
    "an id that loses digits",
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    "-",
    -32600,
  ],
  ["params by position", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 1, -32602],
  ["initialize without params", '{"jsonrpc":"2.0","id":1,"method":"initialize"}', 1, -32602],
];
for (const [what, line, id, code] of lax) {
  Deno.test(`W59 ${what} is refused with ${code}, in valid JSON`, async () => {
    const session = new Session();
    assertEquals(outline(await session.exchange(line, PING)), [[id, code], [2, "result"]]);
    for (const written of session.lines) assert(JSON.parse(written));
    await session.close();
  });
}

Deno.test("W59 a response of the client gets no answer", async () => {
  const session = await opened();
  const answers = await session.exchange({ jsonrpc: "2.0", id: 9, result: {} }, PING);
  assertEquals(outline(answers), [[2, "result"]]);
  await session.close();
});

Deno.test("W59 initialize again is a handshake of its own, with its own revision", async () => {
  const session = await opened();
  const [again] = initialize("2025-03-26");
  const [answer, batch] = await session.exchange(again ?? "", [PING]);
  assertEquals(at(answer, "result", "protocolVersion"), "2025-03-26");
  assert(Array.isArray(batch), "batches belong to the new revision");
  await session.close();
});

Deno.test("W59 a carriage return alone ends no message", async () => {
  const session = await opened();
  const answers = await session.exchange('{"jsonrpc":"2.0",\r"id":7,\r"method":"ping"}');
  assertEquals(outline(answers), [[7, "result"]]);
  await session.close();
});

for (const id of [9_007_199_254_740_991, -9_007_199_254_740_991, "9007199254740993"]) {
  Deno.test(`W59 id ${JSON.stringify(id)} comes back to the digit`, async () => {
    const session = await opened();
    assertEquals(outline(await session.exchange(request(id, "ping"))), [[id, "result"]]);
    await session.close();
  });
}

Deno.test("W60 a batch is answered in 2025-03-26, which wants it, and refused in every other revision", async () => {
  const answered: [revision: string, batch: boolean][] = [];
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const session = await opened({ revision });
    const [answer] = await session.exchange([PING]);
    answered.push([revision, Array.isArray(answer)]);
    await session.close();
  }
  assertEquals(answered, [
    ["2024-11-05", false],
    ["2025-03-26", true],
    ["2025-06-18", false],
    ["2025-11-25", false],
  ]);
});

Deno.test("W60 server/discover is served without a session, and names the newest revision", async () => {
  const session = new Session();
  const [answer] = await session.exchange(modern(1, "server/discover"));
  assertFalse(has(answer, "error"));
  assert(JSON.stringify(at(answer, "result")).includes("2026-07-28"));
  await session.close();
});
