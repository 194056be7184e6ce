/** What only a process can show: the standard streams, signals, the end. */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { call, FIXTURE, PROGRAM, ServerProcess } from "./server_process.ts";

const isPosix = Deno.build.os !== "windows";
const PING: JsonObject = { jsonrpc: "2.0", id: 1, method: "ping" };

function ids(messages: readonly JsonObject[]): unknown[] {
  return messages.map(({ id }) => id);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("a server without input writes nothing for a second and ends with its input", async () => {
  await using server = new ServerProcess(PROGRAM);
  await pause(1_000);
  await server.closeInput();
  assertEquals(await server.rest(), []);
  assertEquals((await server.ended()).code, 0);
});

Deno.test("the program answers the handshake, lists its tools, calls one, and ends with code 0", async () => {
  await using server = new ServerProcess(PROGRAM, { args: ["mcp", "--provider", "scripted"] });
  await server.initialize();
  await server.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const list = await server.receive();
  assertStringIncludes(JSON.stringify(list), '"name":"consensus"');
  await server.send(call(2, "consensus", { prompt: "Ready?" }));
  const answer = await server.receive();
  assertEquals(answer["id"], 2);
  assertStringIncludes(JSON.stringify(answer), "agreement_ratio");
  await server.closeInput();
  assertEquals(await server.rest(), []);
  assertEquals((await server.ended()).code, 0);
});

const oneShots: [what: string, input: string, expected: unknown[]][] = [
  ["a line without an end is answered", JSON.stringify(PING), [1]],
  ["half a message is dropped", '{"jsonrpc":"2.0","id":1,"meth', []],
  ["nothing is answered with nothing", "", []],
  ["a short call is answered", `${JSON.stringify(call(5, "slow", { ms: 200 }, {}))}\n`, [5]],
];
for (const [what, input, expected] of oneShots) {
  Deno.test(`at the end of input ${what}, with code 0`, async () => {
    await using server = new ServerProcess(FIXTURE);
    if (expected.includes(5)) await server.initialize();
    await server.sendText(input);
    await server.closeInput();
    assertEquals(ids(await server.rest()), expected);
    assertEquals((await server.ended()).code, 0);
  });
}

Deno.test("at the end of input a call of a minute is given up, with code 0", async () => {
  await using server = new ServerProcess(FIXTURE);
  await server.initialize();
  await server.send(call(1, "slow", { ms: 60_000 }));
  await server.closeInput();
  const { code } = await server.ended();
  assertEquals(code, 0);
  assertEquals(await server.rest(), []);
});

const signals: [signal: "SIGTERM" | "SIGINT" | "SIGHUP", code: number][] = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
];
for (const [signal, code] of signals) {
  for (const state of ["idle", "at work"]) {
    Deno.test({
      name: `${signal} ends a server that is ${state} with ${code}, in whole lines`,
      ignore: !isPosix,
    }, async () => {
      await using server = new ServerProcess(FIXTURE);
      await server.initialize();
      if (state === "at work") {
        await server.send(call(1, "slow", { ms: 60_000 }, { _meta: { progressToken: 1 } }));
        await server.receive();
      } else {
        // Signals are listened to once the first answer has left.
        await server.send(call(1, "echo", { text: "a" }));
        await server.receive();
      }
      server.child.kill(signal);
      const ended = await server.ended();
      assertEquals(ended.code, code);
      for (const message of await server.rest()) {
        assertEquals(message["method"], "notifications/progress");
      }
    });
  }
}

Deno.test({
  name: "SIGTERM ends a server with 143 that has a call under way and has written nothing yet",
  ignore: !isPosix,
}, async () => {
  await using server = new ServerProcess(FIXTURE);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  await server.send(call(1, "slow", { ms: 60_000 }, { _meta }));
  await pause(1_500);
  server.child.kill("SIGTERM");
  const { code, signal } = await server.ended();
  assertEquals({ code, signal }, { code: 143, signal: null });
});

Deno.test({ name: "a signal during the drain wins", ignore: !isPosix }, async () => {
  await using server = new ServerProcess(FIXTURE);
  await server.initialize();
  await server.send(call(1, "slow", { ms: 60_000 }), call(2, "echo", { text: "a" }));
  await server.receive();
  await server.closeInput();
  await pause(200);
  server.child.kill("SIGTERM");
  const { code } = await server.ended();
  assertEquals(code, 143);
});

Deno.test("a client that closes its end while progress comes ends the server with code 0", async () => {
  await using server = new ServerProcess(FIXTURE);
  await server.initialize();
  await server.send(call(1, "slow", { ms: 60_000 }, { _meta: { progressToken: 1 } }));
  await server.receive();
  await server.closeOutput();
  const { code } = await server.ended();
  assertEquals(code, 0);
  assertLess((await server.log()).length, 1_000);
});

Deno.test("a state is good in the next process", async () => {
  const directory = await Deno.makeTempDir();
  const env = { KIT_STATE_DIR: directory, KIT_STATE_KEY: "" };
  try {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const first = await oneAnswer(call(1, "ask", {}, { _meta }), env);
    const { requestState } = Object(first["result"]);
    assertEquals(typeof requestState, "string");
    const inputResponses = { go: { action: "accept", content: { ok: true } } };
    const second = await oneAnswer(
      call(2, "ask", {}, { _meta, inputResponses, requestState }),
      env,
    );
    assertStringIncludes(JSON.stringify(second), "ok: true");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function oneAnswer(message: JsonObject, env: Record<string, string>): Promise<JsonObject> {
  await using server = new ServerProcess(FIXTURE, { env });
  await server.send(message);
  await server.closeInput();
  const [answer] = await server.rest();
  assert(answer !== undefined);
  return answer;
}

Deno.test("whatever a tool prints, stdout has only messages, and stderr has what was printed", async () => {
  await using server = new ServerProcess(FIXTURE, { env: { KIT_LOG_LEVEL: "debug" } });
  await server.initialize();
  await server.send(call(1, "print", { text: "to the console" }));
  assertEquals((await server.receive())["id"], 1);
  await server.closeInput();
  assertEquals(await server.rest(), []);
  assertStringIncludes(await server.log(), "to the console");
});

Deno.test("a client that never reads stderr stalls nothing", async () => {
  await using server = new ServerProcess(FIXTURE, {
    drainLog: false,
    env: { KIT_LOG_LEVEL: "debug" },
  });
  await server.initialize();
  const line = "x".repeat(4_000);
  for (let id = 0; id < 100; id += 1) await server.send(call(id, "print", { text: line }));
  for (let id = 0; id < 100; id += 1) await server.receive();
  await server.closeInput();
  assertEquals((await server.ended()).code, 0);
});

Deno.test("what nobody caught goes to stderr, and the server lives on", async () => {
  await using server = new ServerProcess(FIXTURE);
  await server.initialize();
  await server.send(call(1, "stray"));
  assertEquals((await server.receive())["id"], 1);
  await server.send(PING);
  await server.receive();
  await server.closeInput();
  await server.rest();
  assertStringIncludes(await server.log(), "a stray rejection");
});

Deno.test("a client that stops reading for a while gets every answer whole", async () => {
  await using server = new ServerProcess(FIXTURE);
  await server.initialize();
  await server.send(
    ...Array.from({ length: 20 }, (_, id) => call(id, "large", { characters: 300_000 })),
  );
  await pause(500);
  const seen: unknown[] = [];
  for (let count = 0; count < 20; count += 1) seen.push((await server.receive())["id"]);
  assertEquals(new Set(seen).size, 20);
  await server.closeInput();
  assertEquals(await server.rest(), []);
});

const wrong: [args: string[], part: string][] = [
  [["mcp", "--nope"], '"--nope" is no flag'],
  [["mcp", "--max-message-bytes", "x"], "--max-message-bytes must be a whole number"],
  [["mcp", "--tools", "nope"], "nope"],
];
for (const [args, part] of wrong) {
  Deno.test(`the program refuses ${args.join(" ")} with code 2 and says why on stderr`, async () => {
    await using server = new ServerProcess(PROGRAM, { args });
    assertEquals(await server.rest(), []);
    assertEquals((await server.ended()).code, 2);
    assertStringIncludes(await server.log(), part);
  });
}

Deno.test("the program reads lines no longer than --max-message-bytes", async () => {
  await using server = new ServerProcess(PROGRAM, { args: ["--max-message-bytes", "100"] });
  await server.send("x".repeat(101), PING);
  const [refusal, pong] = [await server.receive(), await server.receive()];
  assertEquals(Object(refusal["error"]).code, -32700);
  assertEquals(pong["id"], 1);
});

Deno.test({
  name: "a server whose parent has vanished ends, though its input stays open",
  ignore: Deno.build.os !== "linux",
}, async () => {
  const directory = await Deno.makeTempDir();
  const fifo = `${directory}/in`;
  const line = JSON.stringify(PING);
  // The shell holds the pipe open and hands it to the server, so that its death closes nothing. Only the server keeps the
  // shell's stdout, as its stderr: that pipe ends when the server does, whoever reaps it and whenever.
  const script = `mkfifo ${fifo}; exec 3<>${fifo}; ` +
    `"$0" run -A ${FIXTURE} <&3 2>&1 >${directory}/out & exec >/dev/null; echo '${line}' >&3; exec sleep 60`;
  const shell = new Deno.Command("sh", {
    args: ["-c", script, Deno.execPath()],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  try {
    let isOver = false;
    const log = new Response(shell.stdout).text().finally(() => isOver = true);
    await until(
      async () => (await Deno.readTextFile(`${directory}/out`).catch(() => "")) !== "",
      20_000,
    );
    shell.kill("SIGKILL");
    await shell.status;
    assert(!isOver);
    await until(() => Promise.resolve(isOver), 20_000);
    assertEquals(await log, "");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function until(condition: () => Promise<boolean>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    assertLess(performance.now(), end);
    await pause(50);
  }
}
