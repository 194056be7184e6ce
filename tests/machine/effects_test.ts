import { assertEquals } from "@std/assert";
import { isEffectful, isReadOnlyTool } from "../../src/machine/mod.ts";

const tools: [name: string, effectful: boolean][] = [
  ["calc", false],
  ["search", false],
  ["search_kb", false],
  ["list_files", false],
  ["read_file", false],
  ["ask_user", false],
  ["write_file", true],
  ["send_reply", true],
  ["write_machine", true],
  ["unheard_of", true],
  ["constructor", true],
  ["", true],
];
for (const [name, effectful] of tools) {
  Deno.test(`isEffectful() says ${effectful} of "${name}"`, () => {
    assertEquals(isEffectful(name), effectful);
    assertEquals(isReadOnlyTool(name), !effectful);
  });
}

Deno.test("isEffectful() lets an override decide either way", () => {
  const overrides = new Map([["search", "effect"], ["write_file", "read"]] as const);
  assertEquals(isEffectful("search", overrides), !isEffectful("write_file", overrides));
  assertEquals(isEffectful("send_reply", overrides), isEffectful("send_reply"));
});
