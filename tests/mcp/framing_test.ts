/** Lines as clients send them, whole conversations in one process. */
import { assert, assertEquals } from "@std/assert";
import { at, call, outline, request, Session } from "./session.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const PONG = '{"jsonrpc":"2.0","id":1,"result":{}}';

const pings: [what: string, chunks: (string | number[])[]][] = [
  ["ended by CR and LF", [`${PING}\r\n`]],
  ["behind a byte order mark", [`\ufeff${PING}\n`]],
  ["behind an empty line and one of blanks", ["\n", "   \n", `${PING}\n`]],
  ["without a line feed at the end of input", [PING]],
  ["byte by byte", [...new TextEncoder().encode(`${PING}\n`)].map((byte) => [byte])],
  ["between blanks", [`  \t${PING}  \r\n`]],
];
for (const [what, chunks] of pings) {
  Deno.test(`a ping ${what} is answered with one line`, async () => {
    const session = new Session();
    for (const chunk of chunks) {
      session.sendBytes(
        typeof chunk === "string" ? new TextEncoder().encode(chunk) : new Uint8Array(chunk),
      );
    }
    await session.close();
    assertEquals(session.lines, [PONG]);
  });
}

const unreadable: [what: string, bytes: string | number[], answers: number][] = [
  ["text that is not JSON", "not json\n", 1],
  ["bytes that are not UTF-8", [0xff, 0xfe, 0x7b, 0x7d, 0x0a], 1],
  ["a Latin-1 character within a text", [0x22, 0xe9, 0x22, 0x0a], 1],
  ["a message over two lines", '{"jsonrpc":"2.0",\n"id":5,"method":"ping"}\n', 2],
  ["a NUL within a message", '{"jsonrpc":"2.0","id":5,\u0000"method":"ping"}\n', 1],
  [
    "20,000 nested arrays",
    `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":{"a":${"[".repeat(20_000)}${
      "]".repeat(20_000)
    }}}}\n`,
    1,
  ],
  ["a header of another protocol", "Content-Length: 46\n", 1],
];
for (const [what, bytes, answers] of unreadable) {
  Deno.test(`${what}: -32700 without an id, and the next ping is answered`, async () => {
    const session = new Session();
    session.sendBytes(
      typeof bytes === "string" ? new TextEncoder().encode(bytes) : new Uint8Array(bytes),
    );
    session.send(PING);
    const refused: [string, number][] = Array.from({ length: answers }, () => ["-", -32700]);
    assertEquals(outline(await session.close()), [...refused, [1, "result"]]);
  });
}

Deno.test("a line above the limit is refused once, and the next ping is answered", async () => {
  const session = new Session({ maxLineBytes: 10_485_760 });
  const chunk = new Uint8Array(65_536).fill(0x78);
  for (let times = 0; times < 176; times += 1) session.sendBytes(chunk);
  session.send("", PING);
  assertEquals(outline(await session.close()), [["-", -32700], [1, "result"]]);
});

Deno.test("an unterminated line that is not JSON is dropped at the end of input, with a note", async () => {
  const session = new Session();
  session.sendBytes(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"meth'));
  assertEquals(await session.close(), []);
  assertEquals(await session.ended, "input-ended");
  assertEquals(session.log.map(([level]) => level), ["warning"]);
});

Deno.test("end of input without any input ends the server without a line", async () => {
  const session = new Session();
  assertEquals(await session.close(), []);
  assertEquals(await session.ended, "input-ended");
});

Deno.test("text of several bytes a character survives a cut at every byte", async () => {
  const session = new Session();
  await session.initialize("2025-06-18");
  const bytes = new TextEncoder().encode(`${JSON.stringify(call(1, "echo", { text: "é😀" }))}\n`);
  for (const byte of bytes) session.sendBytes(new Uint8Array([byte]));
  const [answer] = await session.flush();
  assertEquals(at(answer, "result", "structuredContent", "text"), "é😀");
  await session.close();
});

const texts: [what: string, text: string][] = [
  ["a line feed", "a\nb"],
  ["U+2028, U+2029 and U+0085", "a\u2028\u2029\u0085b"],
  ["quotes and backslashes", 'a"\\b'],
  ["a lone surrogate", "a\ud800b"],
];
for (const [what, text] of texts) {
  Deno.test(`an answer with ${what} is one line for every reader`, async () => {
    const session = new Session();
    await session.initialize("2025-06-18");
    const [answer] = await session.exchange(call(1, "echo", { text }));
    assertEquals(at(answer, "result", "structuredContent", "text"), text);
    assert(!/[\r\n\u0085\u2028\u2029]/.test(session.lines.at(-1) ?? ""));
    await session.close();
  });
}

Deno.test("answers that are ready together leave in one write", async () => {
  const session = new Session();
  await session.exchange(...Array.from({ length: 500 }, (_, id) => request(id, "ping")));
  assertEquals(session.lines.length, 500);
  assertEquals(session.writes.length, 1);
  await session.close();
});

Deno.test("a client that reads nothing any more ends the server", async () => {
  const session = new Session({ write: () => Promise.reject(new Error("broken pipe")) });
  session.send(PING);
  assertEquals(await session.ended, "output-broken");
});
