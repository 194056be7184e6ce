import { assert, assertEquals } from "@std/assert";
import { MachineCache } from "../../src/host/machine_cache.ts";
import { PLAIN } from "./harness.ts";

Deno.test("MachineCache reads equal texts once, and each grammar for itself", async () => {
  const cache = new MachineCache();
  const first = await cache.read(PLAIN, "enforced");
  assert(first === await cache.read(PLAIN, "enforced"));
  assert(first !== await cache.read(PLAIN, "lenient"));
  assertEquals(first.machine?.name, "plain");
});

Deno.test("MachineCache forgets the text used longest ago", async () => {
  const cache = new MachineCache();
  const text = (i: number) => `${PLAIN}\n# ${i}\n`;
  const first = await cache.read(text(0), "enforced");
  const second = await cache.read(text(1), "enforced");
  for (let i = 2; i < 64; i++) await cache.read(text(i), "enforced");
  assert(first === await cache.read(text(0), "enforced"));
  await cache.read(text(64), "enforced");
  assert(first === await cache.read(text(0), "enforced"));
  assert(second !== await cache.read(text(1), "enforced"));
});

Deno.test("MachineCache keeps no more characters than it may", async () => {
  const cache = new MachineCache();
  const large = (i: number) => `${PLAIN}\n# ${`${i}`.repeat(2_000_000)}\n`;
  const first = await cache.read(large(1), "lenient");
  await cache.read(large(2), "lenient");
  await cache.read(large(3), "lenient");
  assert(first !== await cache.read(large(1), "lenient"));
});
