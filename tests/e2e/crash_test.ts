import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { crash } from "../crash/crash.ts";

const RUNS = 12;

Deno.test("a server that is killed again and again loses no suspension, bills no settled state twice, repeats no effect", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kit-crash-" });
  const report = await crash({
    store: `sqlite:${folder}/runs.db`,
    log: `${folder}/log`,
    runs: RUNS,
    atOnce: 6,
  });
  assertEquals(report.violations, []);
  assertGreaterOrEqual(report.done, RUNS);
  assertGreaterOrEqual(report.kills, 2);
  await Deno.remove(folder, { recursive: true });
});
