import { assert, assertEquals, assertMatch } from "@std/assert";
import { openSpan, type TraceEvent } from "../../src/llm/trace.ts";
import { manualPorts } from "../../src/testing/mod.ts";

Deno.test("W35b openSpan() tells a start, points and one end, tied by ids", async () => {
  const ports = manualPorts();
  const events: TraceEvent[] = [];
  const trace = { write: (event: TraceEvent): void => void events.push(event) };
  const pattern = openSpan("pattern", { pattern: "consensus" }, { trace, ports });
  const call = openSpan("tool-call", { tool: "echo" }, { trace, ports, span: pattern.context });
  await ports.clock.advance(25);
  call.end("ok", {});
  call.end("error", {});
  pattern.end("aborted", { errorCode: "aborted" });
  assertEquals(events.map((event) => event.kind), [
    "pattern-start",
    "tool-call-start",
    "tool-call-end",
    "pattern-end",
  ]);
  const [start, inner, innerEnd, end] = events;
  assertMatch(start?.traceId ?? "", /^[0-9a-f]{32}$/);
  assertMatch(start?.spanId ?? "", /^[0-9a-f]{16}$/);
  assertEquals([inner?.traceId, inner?.parentSpanId], [start?.traceId, start?.spanId]);
  assert(innerEnd?.kind === "tool-call-end" && end?.kind === "pattern-end");
  assertEquals([innerEnd.durationMs, innerEnd.status, end.errorCode], [25, "ok", "aborted"]);
  assertEquals(end.time - (start?.time ?? 0), 25);
});

Deno.test("openSpan() without a sink passes the span above on", () => {
  const ports = manualPorts();
  const above = { traceId: "a".repeat(32), spanId: "b".repeat(16) };
  assertEquals(openSpan("step", { step: "x" }, { span: above, ports }).context, above);
});

Deno.test("W35 openSpan() swallows what a sink throws", () => {
  const write = (): never => {
    throw new Error("sink");
  };
  const span = openSpan("step", { step: "x" }, { trace: { write }, ports: manualPorts() });
  span.point("route-select", { route: "a" });
  span.end("ok", {});
});
