import { assert, assertEquals } from "@std/assert";

async function measured(): Promise<Record<string, number>> {
  const flags = ["-A", "--no-check", "--v8-flags=--expose-gc"];
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, "tests/fixtures/patterns/memory.ts"],
  }).output();
  assert(output.success, new TextDecoder().decode(output.stderr));
  return JSON.parse(new TextDecoder().decode(output.stdout));
}

const BYTES = 256;

Deno.test("patterns hold on to nothing that is over", async () => {
  const { held = NaN, perItem = NaN, atOnce = NaN, perSession = NaN } = await measured();
  assert(held <= 2, `Kit holds ${held} of 20 results of earlier turns`);
  assertEquals(atOnce, 10, "mapReduce() has as many items under way as its default says");
  assert(perItem < BYTES, `mapReduce() keeps ${perItem.toFixed(0)} bytes an item of 10,000`);
  assert(perSession < BYTES, `a session of 1,000 leaves ${perSession.toFixed(0)} bytes`);
});
