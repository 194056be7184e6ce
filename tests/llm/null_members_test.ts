import { assertEquals } from "@std/assert";
import { dropNulls } from "../../src/llm/null_members.ts";

Deno.test("dropNulls() leaves out the members named, in a copy", () => {
  const value = { a: 1, b: null, c: [{ d: null }] };
  assertEquals(JSON.stringify(dropNulls(value, ["/b", "/c/0/d"])), '{"a":1,"c":[{}]}');
  assertEquals(value.b, null);
});

for (const pointer of ["/a", "/missing", "", "/c/0", "/c/9/d"]) {
  Deno.test(`dropNulls() has nothing to leave out at "${pointer}"`, () => {
    assertEquals(dropNulls({ a: 1, c: [null] }, [pointer]), undefined);
  });
}
