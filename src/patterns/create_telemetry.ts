/**
 * Telemetry that is loaded when it is first wanted.
 *
 * @module
 */
import type { Telemetry, TelemetryOptions } from "./telemetry_options.ts";

/** Not a literal within `import()`: what those lead to is read at the start of a program, reached or not. */
const TELEMETRY: string = "./telemetry.ts";

/**
 * Makes a trace sink that turns events into OpenTelemetry spans with the names of the conventions for generative AI.
 *
 * Spans go to the tracer provider that the program has registered; Deno registers its own when it runs with
 * `OTEL_DENO=true`. Without one, nothing is recorded.
 *
 * @example
 * ```ts
 * import { consensus, createTelemetry } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const trace = await createTelemetry();
 * await consensus(new MockProvider(["A"]), "Q?", { numSamples: 1, trace });
 * assertEquals(trace.openSpans, 0);
 * ```
 *
 * @param options How spans are made.
 * @returns The sink.
 */
export async function createTelemetry(options: TelemetryOptions = {}): Promise<Telemetry> {
  const { OpenTelemetrySink }: typeof import("./telemetry.ts") = await import(TELEMETRY);
  return new OpenTelemetrySink(options);
}
