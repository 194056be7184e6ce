import { assertEquals } from "@std/assert";
import type { ToolContext } from "../../src/mcp/mod.ts";
import { callOptions } from "../../src/tools/call_options.ts";
import { withHeartbeat } from "../../src/tools/heartbeat.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { toolRig } from "./harness.ts";

function contextOf(wanted: Pick<ToolContext, "wantsProgress">) {
  const seen: (string | undefined)[] = [];
  const context: ToolContext = {
    signal: new AbortController().signal,
    progress: ({ message }) => seen.push(message),
    ...wanted,
    canAsk: false,
    answers: new Map(),
    state: undefined,
    traceContext: undefined,
    requestId: 1,
    revision: "2025-11-25",
  };
  return { context, seen };
}

const wishes: readonly (readonly [wants: boolean, messages: readonly string[]])[] = [
  [true, ["waiting for sample 1 of 2 · 10 s", "sample 1 of 2"]],
  [false, []],
];
for (const [wantsProgress, messages] of wishes) {
  Deno.test(`withHeartbeat() makes ${messages.length} reports where progress is wanted: ${wantsProgress}`, async () => {
    const clock = new ManualClock();
    const { context, seen } = contextOf({ wantsProgress });
    const options = { context, clock, what: "sample", total: 2 };
    const work = withHeartbeat(options, async ({ done }) => {
      await clock.sleep(15_000);
      done(1, 2);
      return "made";
    });
    assertEquals(await clock.run(work), "made");
    assertEquals(seen, [...messages]);
  });

  Deno.test(`callOptions() asks the host for progress where it is wanted: ${wantsProgress}`, () => {
    const { host } = toolRig();
    const setting = { host, served: (name: string) => name, allowWrite: false };
    const { onProgress } = callOptions(setting, contextOf({ wantsProgress }).context);
    assertEquals(onProgress !== undefined, wantsProgress);
  });
}
