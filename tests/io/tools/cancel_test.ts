import { assert, assertEquals } from "@std/assert";
import { createHost } from "../../../src/host/mod.ts";
import type { JsonObject } from "../../../src/json/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { createTools } from "../../../src/tools/mod.ts";

const ports = createPorts();

/** A model that never answers, and counts who came and who hung up. */
class SilentEndpoint implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #work: Promise<void>;
  readonly #open = new Set<Deno.Conn>();
  came = 0;
  left = 0;

  constructor() {
    this.#work = this.#accept();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/v1`;
  }

  async #accept(): Promise<void> {
    const connections: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) connections.push(this.#hear(connection));
    } catch {
      // The listener was closed.
    }
    await Promise.all(connections);
  }

  async #hear(connection: Deno.Conn): Promise<void> {
    this.#open.add(connection);
    const buffer = new Uint8Array(65_536);
    let heard = false;
    try {
      while ((await connection.read(buffer)) !== null) {
        if (!heard) this.came++;
        heard = true;
      }
    } catch {
      // Reset counts as hanging up.
    }
    if (heard) this.left++;
    this.#open.delete(connection);
    try {
      connection.close();
    } catch {
      // Closed already.
    }
  }

  async until(what: "came" | "left", count: number): Promise<void> {
    for (let i = 0; i < 4000 && this[what] < count; i++) await ports.clock.sleep(5);
    assertEquals(this[what], count, what);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) connection.close();
    await this.#work;
  }
}

function serve(url: string) {
  const variables: Record<string, string> = {
    EXECUTIONKIT_BASE_URL: url,
    EXECUTIONKIT_MODEL: "m",
  };
  const host = createHost({
    door: "mcp",
    ports: { ...ports, env: { get: (name) => variables[name] } },
  });
  const tools = createTools(host);
  const call = (name: string, args: JsonObject, signal: AbortSignal) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(name);
    return tool.call(args, {
      signal,
      progress: () => {},
      wantsProgress: false,
      canAsk: false,
      answers: new Map(),
      state: undefined,
      traceContext: undefined,
      requestId: 1,
      revision: "2025-11-25",
    });
  };
  return { host, call };
}

const FAN_OUT = `
machine: fan
entry: a
budget: 9
context: { xs: [1, 2, 3, 4, 5] }
states:
  a: { over: "{{xs}}", structure: s, prompt: "do {{item}}", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

const calls: readonly (readonly [string, JsonObject, number])[] = [
  ["consensus", { prompt: "?", n: 7 }, 7],
  ["react_loop", { prompt: "?" }, 1],
  ["run", { source: FAN_OUT }, 5],
];
for (const [name, args, requests] of calls) {
  Deno.test(`${name} hangs up on every request when its call is cancelled`, async () => {
    await using endpoint = new SilentEndpoint();
    const { host, call } = serve(endpoint.url);
    const controller = new AbortController();
    const answer = call(name, args, controller.signal);
    await endpoint.until("came", requests);
    assertEquals(endpoint.left, 0);
    controller.abort();
    await answer;
    await endpoint.until("left", requests);
    assertEquals(endpoint.came, requests);
    await host.close();
  });
}

Deno.test("Host.close() hangs up on every request that is under way", async () => {
  await using endpoint = new SilentEndpoint();
  const { host, call } = serve(endpoint.url);
  const answer = call("run", { source: FAN_OUT, wait_seconds: 0 }, new AbortController().signal);
  await endpoint.until("came", 5);
  const started = ports.clock.monotonic();
  await host.close();
  await answer;
  await endpoint.until("left", 5);
  assert(ports.clock.monotonic() - started < 1000);
});
