import { assertEquals } from "@std/assert";
import { rig } from "./harness.ts";

const wrong: readonly (readonly [name: string, written: string, low: number])[] = [
  ["KIT_MAX_RUNS", "0", 1],
  ["KIT_MAX_WAIT_SECONDS", "-1", 0],
  ["EXECUTIONKIT_MAX_CALLS", "ten", 1],
  ["EXECUTIONKIT_MAX_TOKENS", "0", 1],
];
for (const [name, written, low] of wrong) {
  Deno.test(`hostLimits() logs that ${name}=${written} bounds nothing`, () => {
    const { host, log } = rig({ env: { [name]: written } });
    assertEquals(host.limits, rig().host.limits);
    assertEquals(log, [`warning: ${name} is no number from ${low} on; it is ignored`]);
  });
}

Deno.test("hostLimits() takes the variables of the original server for those of the process", () => {
  const env = { EXECUTIONKIT_MAX_CALLS: "7", EXECUTIONKIT_MAX_TOKENS: "9" };
  const { maxProcessCalls, maxProcessTokens } = rig({ env }).host.limits;
  assertEquals([maxProcessCalls, maxProcessTokens], [7, 9]);
});
