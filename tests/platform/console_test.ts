// deno-lint-ignore-file no-console -- the methods of console are what is tested
import { assertEquals } from "@std/assert";
import { rebindConsole } from "../../src/platform/mod.ts";

const METHODS = [
  "log",
  "info",
  "debug",
  "dir",
  "dirxml",
  "table",
  "group",
  "groupCollapsed",
  "count",
  "countReset",
  "time",
  "timeLog",
  "timeEnd",
  "warn",
  "error",
] as const;

Deno.test("rebindConsole() sends every printing method of console to the log", () => {
  const before = METHODS.map((name) => console[name]);
  const lines: string[] = [];
  try {
    rebindConsole({ write: (level, message) => lines.push(`${level} ${message}`) });
    for (const name of METHODS) Reflect.apply(console[name], console, ["a", { b: 1 }]);
  } finally {
    METHODS.forEach((name, at) => Object.assign(console, { [name]: before[at] }));
  }
  assertEquals(lines.length, METHODS.length);
  assertEquals(lines[0], "debug console.log: a { b: 1 }");
  assertEquals(lines.at(-1), "error console.error: a { b: 1 }");
});
