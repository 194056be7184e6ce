/** What signals and closed pipes do to a command, and to the requests it has under way. */
import { assert, assertEquals, assertLess } from "@std/assert";

/** More than a busy machine needs; the endpoint never answers. */
const END_MS = 15_000;

interface Endpoint extends AsyncDisposable {
  readonly url: string;
  /** The first request has come. */
  readonly asked: Promise<void>;
  /** The first request was cut. */
  readonly cut: Promise<void>;
}

/** An endpoint that never answers. */
function silentEndpoint(): Endpoint {
  const asked = Promise.withResolvers<void>();
  const cut = Promise.withResolvers<void>();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    const buffer = new Uint8Array(65536);
    while (await connection.read(buffer).catch(() => null) !== null) asked.resolve();
    cut.resolve();
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/v1`,
    asked: asked.promise,
    cut: cut.promise,
    async [Symbol.asyncDispose]() {
      await serving;
      listener.close();
    },
  };
}

function kit(args: string[], env: Record<string, string>): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", "mcp.ts", ...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test({
    name: `kit run ends with ${code} on ${signal}, and cuts its request`,
    ignore: Deno.build.os === "windows",
    async fn() {
      const endpoint = silentEndpoint();
      const process = kit(["run", "std_cot"], {
        EXECUTIONKIT_BASE_URL: endpoint.url,
        EXECUTIONKIT_MODEL: "m",
      });
      await endpoint.asked;
      const start = performance.now();
      process.kill(signal);
      const { code: ended } = await process.output();
      assertEquals(ended, code);
      assertLess(performance.now() - start, END_MS);
      await endpoint.cut;
      await endpoint[Symbol.asyncDispose]();
    },
  });
}

Deno.test("kit machines goes on and ends with 0 where nobody reads its output", async () => {
  const process = kit(["machines"], {});
  await process.stdout.cancel();
  const [{ code }, stderr] = await Promise.all([
    process.status,
    new Response(process.stderr).text(),
  ]);
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("kit on a pipe without words is the server, which ends with 0 when its input ends", async () => {
  const { code, stdout } = await kit([], {}).output();
  assertEquals(code, 0);
  assert(stdout.length === 0);
});
