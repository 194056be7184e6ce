import { assert, assertEquals } from "@std/assert";

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

async function collect(): Promise<OtlpSpan[]> {
  const spans: OtlpSpan[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = await request.text();
      if (request.url.endsWith("/v1/traces")) {
        for (const resource of JSON.parse(body).resourceSpans) {
          for (const scope of resource.scopeSpans) spans.push(...scope.spans);
        }
      }
      return new Response("{}", { headers: { "content-type": "application/json" } });
    },
  );
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "tests/fixtures/patterns/traced_run.ts"],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
    },
  }).output();
  assert(output.success, new TextDecoder().decode(output.stderr));
  return spans;
}

function attributes(span: OtlpSpan | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  );
}

Deno.test("W35b createTelemetry() exports spans with the names of the conventions, below the caller's", async () => {
  const spans = await collect();
  const byName = new Map(spans.map((span) => [span.name, span]));
  const server = byName.get("tools/call react_loop");
  const pattern = byName.get("invoke_agent react_loop");
  const tool = byName.get("execute_tool calculator");
  const chats = spans.filter(({ name }) => name === "chat mock");
  assertEquals(spans.length, 5);
  assert(spans.every(({ traceId }) => traceId === "0af7651916cd43dd8448eb211c80319c"));
  assertEquals(server?.parentSpanId, "b7ad6b7169203331");
  assertEquals(pattern?.parentSpanId, server?.spanId);
  assertEquals([tool, ...chats].map((span) => span?.parentSpanId), Array(3).fill(pattern?.spanId));
  assertEquals([server?.kind, pattern?.kind, chats[0]?.kind], [2, 1, 3]);
  assertEquals([server?.status?.code, attributes(server)["error.type"]], [2, "tool_error"]);
  assertEquals(attributes(server)["mcp.method.name"], "tools/call");
  assertEquals(attributes(tool)["gen_ai.tool.name"], "calculator");
  assertEquals(attributes(tool)["gen_ai.tool.call.arguments"], undefined);
  const last = attributes(chats[1]);
  assertEquals(last["gen_ai.operation.name"], "chat");
  assertEquals(last["gen_ai.response.id"], "answer-2");
  assertEquals(last["gen_ai.conversation.id"], "talk-1");
  assert(Number(last["gen_ai.usage.output_tokens"]) > 0);
});
