import { assertEquals, assertStrictEquals } from "@std/assert";
import { createRegistry, libraryRegistry } from "../../src/machine/mod.ts";
import { machineText, readMachine, state } from "./machines.ts";

const named = (name: string) => readMachine(machineText(state("a"), `machine: ${name}`));

Deno.test("createRegistry() finds machines by name, sorted by code point", () => {
  const registry = createRegistry(["b", "é", "B"].map(named));
  assertEquals(registry.names(), ["B", "b", "é"]);
  assertEquals(registry.get("b")?.name, "b");
  assertEquals(registry.get("constructor"), undefined);
  assertEquals(registry.get("c"), undefined);
});

Deno.test("createRegistry() lets the later of two machines win, and all over the base", () => {
  const [first, second, base] = [named("a"), named("a"), named("a")];
  const registry = createRegistry([first, second], {
    base: createRegistry([base, named("z")]),
  });
  assertStrictEquals(registry.get("a"), second);
  assertEquals(registry.names(), ["a", "z"]);
  assertEquals(registry.get("z")?.name, "z");
});

Deno.test("libraryRegistry() gives the same registry and machines every time", async () => {
  const registry = await libraryRegistry();
  assertStrictEquals(await libraryRegistry(), registry);
  assertStrictEquals(registry.get("std_cot"), registry.get("std_cot"));
  assertEquals(registry.get("std_none"), undefined);
});
