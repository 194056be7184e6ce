import { assertEquals } from "@std/assert";
import { nearest } from "../../src/cli/nearest.ts";

const NAMES = ["run", "resume", "check", "lint", "test", "machines", "init", "doctor"];
const cases: [word: string, name: string | undefined][] = [
  ["rum", "run"],
  ["rnu", "run"],
  ["chekc", "check"],
  ["machine", "machines"],
  ["resmue", "resume"],
  ["xyz", undefined],
  ["", undefined],
  ["r".repeat(100), undefined],
];
for (const [word, name] of cases) {
  Deno.test(`nearest() takes "${word.slice(0, 10)}" for ${name}`, () => {
    assertEquals(nearest(word, NAMES), name);
  });
}
