import { assertEquals } from "@std/assert";
import { INFO, VERSION } from "../mcp.ts";

Deno.test("the program and its server name the version of deno.json", async () => {
  const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
  assertEquals(VERSION, version);
  assertEquals(INFO.version, version);
});
