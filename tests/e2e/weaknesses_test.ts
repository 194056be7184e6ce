/** How the original's server ends, and what it holds: the program as a process, before an endpoint that never answers. */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { call, PROGRAM, ServerProcess } from "./server_process.ts";

const isPosix = Deno.build.os !== "windows";

/** An endpoint that takes requests and never answers, and knows which are still wanted. */
class SilentEndpoint implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #gone: Promise<void>[] = [];
  readonly #arrived = Promise.withResolvers<void>();
  readonly #wanted: number;

  constructor(wanted: number) {
    this.#wanted = wanted;
    this.#server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
      const gone = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => {
        gone.resolve();
        answer.resolve(new Response());
      });
      this.#gone.push(gone.promise);
      if (this.#gone.length === this.#wanted) this.#arrived.resolve();
      return answer.promise;
    });
  }

  /** The variables that lead a server here. */
  get env(): Record<string, string> {
    return {
      EXECUTIONKIT_BASE_URL: `http://127.0.0.1:${this.#server.addr.port}/v1`,
      EXECUTIONKIT_MODEL: "m",
    };
  }

  /** Settles when as many requests are here as were wanted. */
  arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  /** Settles when the other side has given every request up. */
  async abandoned(): Promise<number> {
    await Promise.all(this.#gone);
    return this.#gone.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

async function voting(endpoint: SilentEndpoint): Promise<ServerProcess> {
  const server = new ServerProcess(PROGRAM, { args: ["mcp"], env: endpoint.env });
  await server.initialize();
  await server.send(call(1, "consensus", { prompt: "Q?", n: 3 }));
  await endpoint.arrived();
  return server;
}

Deno.test("W58 at the end of input a vote under way is given up, its requests cut", async () => {
  await using endpoint = new SilentEndpoint(3);
  await using server = await voting(endpoint);
  await server.closeInput();
  const { code } = await server.ended();
  assertEquals(code, 0);
  assertEquals(await endpoint.abandoned(), 3);
  assertEquals(await server.rest(), []);
});

Deno.test(
  { name: "W58 SIGINT ends a vote at once, its requests cut", ignore: !isPosix },
  async () => {
    await using endpoint = new SilentEndpoint(3);
    await using server = await voting(endpoint);
    server.child.kill("SIGINT");
    const { code } = await server.ended();
    assertEquals(code, 130);
    assertEquals(await endpoint.abandoned(), 3);
  },
);

Deno.test("W58 a client that closes both ends leaves no process and no trace of a fault", async () => {
  await using endpoint = new SilentEndpoint(3);
  await using server = await voting(endpoint);
  await server.closeOutput();
  await server.send({ jsonrpc: "2.0", id: 2, method: "ping" });
  const { code } = await server.ended();
  assertEquals(code, 0);
  assertEquals(await endpoint.abandoned(), 3);
  const log = await server.log();
  assert(!/\bat .*\.ts:\d+/.test(log), log);
});

Deno.test({
  name: "W57 200 MiB without a line feed do not stay in memory",
  ignore: Deno.build.os !== "linux",
}, async () => {
  const MEBIBYTE = 1024 * 1024;
  const args = ["mcp", "--max-message-bytes", String(MEBIBYTE)];
  await using server = new ServerProcess(PROGRAM, { args });
  await server.initialize();
  const chunk = "x".repeat(MEBIBYTE);
  for (let sent = 0; sent < 200; sent += 1) await server.sendText(chunk);
  await server.send("", { jsonrpc: "2.0", id: 2, method: "ping" });
  assertStringIncludes(JSON.stringify(await server.receive()), "-32700");
  assertEquals((await server.receive())["id"], 2);
  // Deno reads below /proc only with every permission
  const status = await new Deno.Command("cat", { args: [`/proc/${server.child.pid}/status`] })
    .output();
  const peakKiB = /VmHWM:\s+(\d+) kB/.exec(new TextDecoder().decode(status.stdout))?.[1];
  const peakMiB = Number(peakKiB) / 1024;
  assertLess(peakMiB, 150);
});

for (const [word, says] of [["--help", "kit run"], ["--version", "kit 0."]] as const) {
  Deno.test(`W64 kit ${word} prints "${says}", asks for nothing and ends with 0`, async () => {
    await using child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", PROGRAM, word],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const printed = await new Response(child.stdout).text(); // while its input stays open
    assertEquals((await child.status).code, 0);
    assertStringIncludes(printed, says);
    await child.stdin.close();
  });
}
