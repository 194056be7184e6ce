import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createRandom } from "../../src/platform/mod.ts";

const random = createRandom();

Deno.test("bytes() gives as many as asked for, beyond what one call of the system gives", () => {
  for (const length of [0, 16, 65_536, 65_537, 200_000]) {
    const bytes = random.bytes(length);
    assertEquals(bytes.length, length);
    if (length > 65_536) assert(bytes.subarray(65_536).length > 0);
  }
  assert(random.bytes(200_000).subarray(131_072).some((byte) => byte !== 0));
});

Deno.test("bytes() gives other bytes every time", () => {
  assertNotEquals(random.bytes(32), random.bytes(32));
});

Deno.test("float() stays in [0, 1)", () => {
  for (let times = 0; times < 1_000; times += 1) {
    const value = random.float();
    assert(value >= 0 && value < 1);
  }
});
