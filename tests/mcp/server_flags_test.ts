import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { countFlag, parseServerFlags } from "../../src/mcp/mod.ts";

const good: [args: string[], flags: [string, string][]][] = [
  [[], []],
  [["--provider", "scripted"], [["provider", "scripted"]]],
  [["--provider=scripted", "--allow-write"], [["provider", "scripted"], ["allow-write", "true"]]],
  [["--tools", "a,b", "--tool-prefix", "kit_"], [["tools", "a,b"], ["tool-prefix", "kit_"]]],
  [["--config=a=b"], [["config", "a=b"]]],
];
for (const [args, flags] of good) {
  Deno.test(`parseServerFlags() reads ${JSON.stringify(args)}`, () => {
    assertEquals([...parseServerFlags(args)], flags);
  });
}

const bad: [args: string[], part: string][] = [
  [["--nope"], '"--nope" is no flag'],
  [["run"], '"run" is no flag'],
  [["--provider"], '"--provider" needs a value'],
  [["--provider="], '"--provider" needs a value'],
  [["--allow-write=yes"], '"--allow-write=yes" is no flag'],
  [["--__proto__"], "is no flag"],
];
for (const [args, part] of bad) {
  Deno.test(`parseServerFlags() refuses ${JSON.stringify(args)}`, () => {
    assertStringIncludes(assertThrows(() => parseServerFlags(args), RangeError).message, part);
  });
}

for (const text of ["0", "-1", "1.5", "1e3", "x", "99999999999999999999"]) {
  Deno.test(`countFlag() refuses ${text}`, () => {
    const flags = parseServerFlags(["--max-message-bytes", text]);
    assertThrows(() => countFlag(flags, "max-message-bytes"), RangeError);
  });
}

Deno.test("countFlag() reads a number, and nothing where there is none", () => {
  const flags = parseServerFlags(["--max-message-bytes", "10485760"]);
  assertEquals(countFlag(flags, "max-message-bytes"), 10_485_760);
  assertEquals(countFlag(new Map(), "max-message-bytes"), undefined);
});
