/** Runs that outlive their server, and a store that does not work, seen from a client. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { call, PROGRAM, ServerProcess } from "./server_process.ts";

const ASKING = `machine: asking
entry: a
budget: 4
result: b
states:
  a: { structure: s, prompt: p, output: a, gates: [{ when: otherwise, escalate: true, to: b, ask: "Go on?", reply_to: r }] }
  b: { structure: s, prompt: p, output: b, gates: [{ when: otherwise, then: ok, to: END }] }
`;
const RUN = { source: ASKING, hitl: true };
const INPUTS = { r: "yes" };
/** Set by `scripts/postgres.ts`; without it the test counts as ignored. */
const postgresUrl = Deno.env.get("KIT_TEST_POSTGRES");

interface Started {
  readonly server: ServerProcess;
  /** Calls a tool and gives its object. */
  ask(name: string, args: JsonObject): Promise<JsonObject>;
}

async function start(store: string, env: Readonly<Record<string, string>> = {}): Promise<Started> {
  const args = ["mcp", "--provider", "scripted", "--store", store];
  const server = new ServerProcess(PROGRAM, { args, env: { ...env } });
  await server.initialize();
  let nextId = 1;
  const ask = async (name: string, given: JsonObject): Promise<JsonObject> => {
    await server.send(call(nextId++, name, given));
    const { result, error } = await server.receive();
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return JSON.parse(Reflect.get(Object(result), "content")[1].text);
  };
  return { server, ask };
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a refusal says: its word and its sentences. */
function refused({ error, errors }: JsonObject): readonly [unknown, string] {
  return [error, JSON.stringify(errors)];
}

Deno.test("a run that waits in SQLite is resumed after kill -9, once", async () => {
  await inFolder(async (folder) => {
    const store = `sqlite:${folder}/runs.db`;
    const first = await start(store);
    const { checkpoint = null, status } = await first.ask("run", RUN);
    assertEquals(status, "suspended");
    await first.server[Symbol.asyncDispose]();
    const second = await start(store);
    const done = await second.ask("resume", { checkpoint, inputs: INPUTS });
    assertEquals(done["status"], "done");
    const [word] = refused(await second.ask("resume", { checkpoint, inputs: INPUTS }));
    assertEquals(word, "already-resumed");
    await second.server[Symbol.asyncDispose]();
  });
});

Deno.test("a record under another key is bad-checkpoint, and good again under its own", async () => {
  await inFolder(async (folder) => {
    const store = `sqlite:${folder}/runs.db`;
    const own = { KIT_STORE_KEY: "1f".repeat(32) };
    const first = await start(store, own);
    const { checkpoint = null, run = null } = await first.ask("run", RUN);
    await first.server[Symbol.asyncDispose]();
    const stranger = await start(store, { KIT_STORE_KEY: "2e".repeat(32) });
    for (const args of [{ checkpoint, inputs: INPUTS }, { checkpoint }, { run }]) {
      const [word, said] = refused(await stranger.ask("resume", args));
      assertEquals(word, "bad-checkpoint");
      assertStringIncludes(said, "KIT_STORE_KEY");
    }
    await stranger.server[Symbol.asyncDispose]();
    const third = await start(store, own);
    assertEquals((await third.ask("resume", { checkpoint, inputs: INPUTS }))["status"], "done");
    await third.server[Symbol.asyncDispose]();
  });
});

Deno.test({
  name: "while the database is away calls say so, and when it is back nothing is lost",
  ignore: postgresUrl === undefined,
  fn: async () => {
    const database = new URL(postgresUrl ?? "");
    const way = openWay(database, 0);
    const port = way.port;
    const { server, ask } = await start(`postgres://kit@127.0.0.1:${port}${database.pathname}`);
    const { checkpoint = null, run = null } = await ask("run", RUN);
    way.close();
    for (
      const [name, args] of [["run", RUN], ["resume", { checkpoint }], ["resume", { run }]] as const
    ) {
      const [word, said] = refused(await ask(name, args));
      assertEquals(word, "prepare-failed");
      assertStringIncludes(said, "the store of runs cannot be used");
    }
    const again = openWay(database, port);
    assertEquals((await ask("resume", { checkpoint, inputs: INPUTS }))["status"], "done");
    await server[Symbol.asyncDispose]();
    again.close();
  },
});

/** Passes connections on to the database until it is closed. */
function openWay(database: URL, port: number): { readonly port: number; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const ends: Deno.Conn[] = [];
  const accept = async (): Promise<void> => {
    for await (const near of listener) {
      const far = await Deno.connect({
        hostname: database.hostname,
        port: Number(database.port),
      });
      ends.push(near, far);
      near.readable.pipeTo(far.writable).catch(() => undefined);
      far.readable.pipeTo(near.writable).catch(() => undefined);
    }
  };
  accept().catch(() => undefined);
  return {
    port: listener.addr.port,
    close() {
      listener.close();
      for (const end of ends) {
        try {
          end.close();
        } catch {
          // The other side was first.
        }
      }
    },
  };
}
