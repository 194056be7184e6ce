/** What is large or many: no answer is longer than clients read, and nothing that was given up takes a place. */
import { assert, assertEquals, assertLess } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import {
  at,
  call,
  cancelled,
  converse,
  META,
  modern,
  modernMeta,
  outline,
  request,
  Session,
} from "./session.ts";

/** What clients read in one line, with room to spare. */
const LINE_BYTES = 4_194_304;
const BATCHES = "2025-03-26";
/** The character that takes the most room in JSON. */
const COSTLY = "\u0001";

function longest(session: Session): number {
  return Math.max(...session.lines.map((line) => new TextEncoder().encode(line).length));
}

const echoed: [what: string, message: (id: string) => JsonObject][] = [
  ["an answer", (id) => request(id, "ping")],
  ["a refusal", (id) => request(id, "foo")],
  ["a stream", (id) => modern(id, "subscriptions/listen", { notifications: {} })],
];
for (const [what, message] of echoed) {
  Deno.test(`${what} under the longest id fits into one line`, async () => {
    const session = new Session();
    const id = COSTLY.repeat(262_144);
    session.send(message(id));
    const [answer] = await session.close();
    assert(JSON.stringify(answer).includes(JSON.stringify(id)));
    assertLess(longest(session), LINE_BYTES);
  });
}

Deno.test("an id that could not come back in one line is refused without it", async () => {
  assertEquals(outline(await converse([request("x".repeat(1_572_865), "ping")])), [["-", -32600]]);
});

Deno.test("a revision that could not come back is malformed: -32602", async () => {
  const session = new Session();
  const requested = { "io.modelcontextprotocol/protocolVersion": COSTLY.repeat(1_025) };
  session.send(request(1, "tools/list", { _meta: modernMeta({}, requested) }));
  assertEquals(outline(await session.flush()), [[1, -32602]]);
  assertLess(longest(session), 1_000);
  await session.close();
});

Deno.test("a state of another format is refused, however long", async () => {
  const params = { name: "ask", requestState: ".".repeat(100_000), _meta: META };
  assertEquals(outline(await converse([request(1, "tools/call", params)])), [[1, -32602]]);
});

Deno.test("calls that were cancelled while they waited make room", async () => {
  const session = new Session();
  await session.initialize("2025-11-25");
  const all = Array.from({ length: 64 + 1_024 }, (_, id) => id);
  session.send(...all.map((id) => call(id, "slow", { ms: 1_000 })));
  session.send(...all.slice(64).map((id) => cancelled(id)));
  await session.exchange(call("late", "echo", { text: "a" }));
  const answers = await session.advance(1_000);
  const late = answers.find((answer) => at(answer, "id") === "late");
  assertEquals(at(late, "result", "structuredContent"), { text: "a" });
  assertEquals(answers.length, 65);
  await session.close();
});

Deno.test("answers to a batch leave in several arrays where one would be too long", async () => {
  const session = new Session();
  await session.initialize(BATCHES);
  const ids = [1, 2, 3, 4, 5];
  session.send(ids.map((id) => call(id, "large", { characters: 1_500_000 })));
  const arrays = await session.close();
  assert(arrays.every((answers) => Array.isArray(answers)));
  assertEquals(arrays.flat().map((answer) => at(answer, "id")), ids);
  assert(arrays.length > 1);
  assertLess(longest(session), LINE_BYTES + 1);
});

Deno.test("a batch of 1,024 messages is served, one of more is refused as a whole", async () => {
  const pings = (count: number): JsonValue =>
    Array.from({ length: count }, (_, id) => request(id, "ping"));
  const [answers, refusal] = await converse([pings(1_024), pings(1_025)], { revision: BATCHES });
  assertEquals(Array.isArray(answers) && answers.length, 1_024);
  assertEquals(outline(refusal === undefined ? [] : [refusal]), [["-", -32600]]);
});
