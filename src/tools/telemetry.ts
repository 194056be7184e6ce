/**
 * Spans of tool calls, where the operator switched telemetry on with `OTEL_DENO=true`, as Deno itself is told. Else
 * nothing of it is loaded.
 *
 * @module
 */
import type { Host } from "../host/mod.ts";
import type { SpanContext, TraceSink } from "../llm/mod.ts";
import type { Tool, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import type { Telemetry } from "../patterns/mod.ts";
import { loadTelemetry } from "./model_call.ts";

/** Where the work of a call reports to. */
export interface Tracing {
  /** Takes what happens. */
  readonly trace: TraceSink;
  /** The call's own span, above those of its work. */
  readonly span: SpanContext;
}

/** What of {@linkcode Tracing} there is: all, or nothing. */
export type TracingOptions = Tracing | Readonly<Record<never, never>>;

const tracings = new WeakMap<ToolContext, Tracing>();

/**
 * Gives where the work of a call reports to, for spreading into options.
 *
 * @param context The call.
 * @returns `trace` and `span`, or nothing where telemetry is off.
 */
export function tracingOf(context: ToolContext): TracingOptions {
  return tracings.get(context) ?? {};
}

/**
 * Puts a span around every call of a tool.
 *
 * @param tool The tool.
 * @param host Whose environment says whether there is telemetry.
 * @returns A tool that does the same, or the same tool.
 */
export function traced(tool: Tool, host: Host): Tool {
  if (host.ports.env.get("OTEL_DENO") !== "true") return tool;
  const sink = telemetryOf(host);
  return {
    ...tool,
    call: async (args, context) =>
      await inSpan(
        { tool: tool.name, telemetry: await sink() },
        context,
        () => tool.call(args, context),
      ),
  };
}

const sinks = new WeakMap<Host, Promise<Telemetry>>();

/** One sink for all tools of a host, made with the first call. */
function telemetryOf(host: Host): () => Promise<Telemetry> {
  return () => {
    const known = sinks.get(host);
    if (known !== undefined) return known;
    const made = loadTelemetry().then(({ createTelemetry }) => createTelemetry());
    sinks.set(host, made);
    return made;
  };
}

async function inSpan(
  { tool, telemetry }: { readonly tool: string; readonly telemetry: Telemetry },
  context: ToolContext,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { traceContext, requestId, revision } = context;
  const server = telemetry.serverSpan({
    tool,
    requestId,
    revision,
    ...(traceContext === undefined ? {} : { traceContext }),
  });
  tracings.set(context, { trace: telemetry, span: server.span });
  try {
    const outcome = await work();
    const failed = outcome.kind === "result" && outcome.isError === true;
    server.end(failed ? "tool_error" : undefined);
    return outcome;
  } catch (error) {
    server.end("internal_error");
    throw error;
  }
}
