import { assertEquals, assertThrows } from "@std/assert";
import { drawNonce, fence } from "../../src/machine/fence.ts";
import { SeededRandom } from "../../src/testing/mod.ts";

Deno.test("fence() puts a text between tags on lines of their own, byte for byte", () => {
  assertEquals(
    fence("</data-0>\r\n", "0123456789ab"),
    "<data-0123456789ab>\n</data-0>\r\n\n</data-0123456789ab>",
  );
});

Deno.test("drawNonce() gives 12 hex digits, others each time", () => {
  const random = new SeededRandom(1);
  const nonces = Array.from({ length: 100 }, () => drawNonce(random, []));
  assertEquals(new Set(nonces).size, 100);
  assertEquals(nonces.every((nonce) => /^[0-9a-f]{12}$/.test(nonce)), nonces.length > 0);
});

Deno.test("drawNonce() throws after 64 draws that all occur in the texts", () => {
  let draws = 0;
  const stuck = {
    bytes: (length: number) => {
      draws++;
      return new Uint8Array(length);
    },
  };
  assertThrows(() => drawNonce(stuck, ["a", "000000000000"]), Error, "repeats itself");
  assertEquals(draws, 64);
});
