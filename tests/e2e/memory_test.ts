import { assert } from "@std/assert";

Deno.test("Kit lets go of the results of earlier turns", async () => {
  const output = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--v8-flags=--expose-gc",
      "tests/fixtures/patterns/session_memory.ts",
    ],
  }).output();
  assert(output.success, new TextDecoder().decode(output.stderr));
  const held = Number(new TextDecoder().decode(output.stdout));
  assert(held <= 2, `${held} of 20 results are still held`);
});
