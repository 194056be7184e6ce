import { assertEquals } from "@std/assert";
import { isJsonObject, member } from "../../src/json/value.ts";

Deno.test("isJsonObject() says no to null and lists", () => {
  assertEquals([{}, null, [], "x", 1].map(isJsonObject), [true, false, false, false, false]);
});

Deno.test("member() reads own members only", () => {
  assertEquals(member({ a: 1 }, "a"), 1);
  assertEquals(member({}, "toString"), undefined);
  assertEquals(member({}, "__proto__"), undefined);
});
